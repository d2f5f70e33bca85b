/** A run under load, from its seed to its evidence: the four witnesses are brought to rest and read. */
import type { Db } from '../server/ground/db/db.ts'
import type { Status } from '../server/message/message.ts'
import type { Phones } from './carrier.ts'
import type { Evidence } from './conservation.ts'
import { readLedger, untilAtRest } from './ledger.ts'
import type { Load } from './load.ts'
import type { Receiver } from './receiver.ts'

export const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9))

/** Ends the load, waits for rest, and reads all witnesses. `replies`: as in `Evidence`. */
export async function gatherEvidence(
  {
    load,
    db,
    carrier,
    receiver,
  }: { load: Load; db: Db; carrier: { phones: Pick<Phones, 'stats' | 'ledger'> }; receiver: Receiver },
  replies: string[] = [],
): Promise<Evidence> {
  await load.finish()
  await untilAtRest(db, carrier.phones)
  return {
    requests: load.requests,
    ledger: await readLedger(db),
    carrier: await carrier.phones.ledger(),
    replies,
    received: new Set(receiver.events.keys()),
  }
}

/** Counts messages by status at rest; prints them with the client's counts. */
export function countStatuses(load: Load, { ledger }: Evidence): Map<Status, number> {
  const counts = new Map<Status, number>()
  for (const { status } of ledger.messages) counts.set(status, (counts.get(status) ?? 0) + 1)
  console.log(
    `SEED=${seed}: ${load.accepted} accepted, refusals ${JSON.stringify([...load.refusals])}, ` +
      [...counts].map(([status, count]) => `${count} ${status}`).join(', '),
  )
  return counts
}
