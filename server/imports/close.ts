import type { Posting } from '../events/events.ts'
import type { CloseStep } from '../events/face.ts'
import { endWithEvent } from './run.ts'
import { listUnfinished } from './store.ts'

/** An import whose file is still being uploaded is canceled when it begins. */
export const cancelImportsOf: CloseStep = async (tx, { accountId }, recording) => {
  const postings: Posting[] = []
  for (const importId of await listUnfinished(tx, accountId))
    postings.push(...(await endWithEvent(tx, recording, { accountId, importId }, 'canceled', null)).postings)
  return { isDone: true, postings }
}
