/** Handles long messages with missing parts, and those whose node died before it sent them. */
import { isUnavailable } from '../ground/db/failure.ts'
import type { Log } from '../ground/db/log.ts'
import { untilDone } from '../ground/base/sweeps.ts'
import { findAdmission } from './admission.ts'
import { isWhole, listLate, refuseGathering, type LateGathering } from './gather.ts'
import { incompleteErr } from './state.ts'
import { submitGathered, type SubmitContext } from './submit.ts'

const lateMax = 100

/**
 * Ends overdue messages: sends complete ones, and refuses those with gaps (half a text is worse than none) with the requested receipts. One
 * that cannot be ended, for example because the master key of its parts is missing, stays for later (the key may return) and does not block
 * the others.
 */
export async function sendLate(context: SubmitContext & { log: Log }, isOver = (): boolean => false): Promise<void> {
  const failures: string[] = []
  await untilDone(isOver, lateMax, async (limit) => {
    const late = await listLate(context, limit, failures.length)
    for (const one of late)
      try {
        await end(context, one)
      } catch (error) {
        if (isUnavailable(error)) throw error
        failures.push(error instanceof Error ? error.message : 'no error')
      }
    return late.length
  })
  const [reason] = failures
  if (reason !== undefined)
    context.log.warn({ count: failures.length, reason }, 'incomplete messages of SMPP clients could not be ended')
}

async function end(
  context: SubmitContext & { log: Log },
  { accountId, credentialId, open }: LateGathering,
): Promise<void> {
  const gathering = open()
  const admission =
    isWhole(gathering) && !gathering.isCrossed ? await findAdmission(context.db, accountId, credentialId) : null
  if (admission) {
    await submitGathered(context, admission, gathering, null)
    return
  }
  const answered = [...gathering.submits.keys()]
  if (!(await refuseGathering(context.db, gathering, 'undeliverable', answered, incompleteErr))) return
  const { total, isCrossed } = gathering
  context.log.warn(
    { account: accountId, credential: credentialId, parts: answered.length, total },
    isCrossed
      ? 'two long messages of an SMPP client use one reference'
      : 'a long message of an SMPP client is incomplete',
  )
}
