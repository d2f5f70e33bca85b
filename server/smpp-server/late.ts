/** Long messages of which parts did not come in time, and those whose node died before it sent them. */
import type { Log } from '../db/log.ts'
import { untilDone } from '../sweeps.ts'
import { findAdmission } from './admission.ts'
import { isWhole, listLate, refuseGathering, type LateGathering } from './gather.ts'
import { submitGathered, type SubmitContext } from './submit.ts'

const lateMax = 100

/**
 * Ends what has waited long enough: a message that is whole is sent, one with gaps is not (half a text is worse than none), and its
 * client is told so by the receipts that it asked for.
 */
export function sendLate(context: SubmitContext & { log: Log }): Promise<void> {
  return untilDone(lateMax, async (limit) => {
    const late = await listLate(context, limit)
    for (const one of late) await end(context, one)
    return late.length
  })
}

async function end(
  context: SubmitContext & { log: Log },
  { gathering, accountId, credentialId }: LateGathering,
): Promise<void> {
  const admission = isWhole(gathering) ? await findAdmission(context.db, accountId, credentialId) : null
  if (admission) {
    await submitGathered(context, admission, gathering, null)
    return
  }
  const answered = [...gathering.submits.keys()]
  await refuseGathering(context.db, gathering, 'undeliverable', answered)
  const { total } = gathering
  context.log.warn(
    { account: accountId, parts: answered.length, total },
    'parts of a long message of an SMPP client did not come',
  )
}
