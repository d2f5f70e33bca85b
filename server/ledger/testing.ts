import { claimMessages } from '../queue/claim.ts'
import type { Handover } from '../message/handover.ts'
import { listSubmissions } from '../message/store.ts'
import { moveTo, ourNumber, type LedgerTest } from '../messages/testing.ts'
import type { Answer } from './answer.ts'
import type { ReceiptIn } from './receipt.ts'
import { resolveUnknown } from './resend.ts'

const noId = '00000000-0000-0000-0000-000000000000'

/** Reports the link as up. */
export async function bindLink({ db, linkId, nodeId }: LedgerTest): Promise<void> {
  await db.query(
    `insert into link_states (link_id, node_id, leased_until, state) values ($1, $2, now() + interval '1 hour', 'bound')`,
    [linkId, nodeId],
  )
}

/** Ends the last segment of a message without an answer. */
export const endUnknown = (test: LedgerTest, handover: Handover, changes: Partial<Answer> = {}): Promise<void> =>
  test.answer(handover, {
    state: 'unknown',
    carrierMessageId: null,
    commandStatus: null,
    move: moveTo('unconfirmed', { errorCode: 'outcome_unknown' }),
    ...changes,
  })

/** The tries of a message as its owner reads them. */
export const triesOf = async (
  test: LedgerTest,
  id: string,
): Promise<[number, number, string, string | null, boolean][]> =>
  (await listSubmissions(test.db, test.accountId, id)).map((one) => [
    one.try,
    one.segment,
    one.state,
    one.carrierMessageId,
    one.isAdopted,
  ])

/** A receipt of `delivered` for an id and a number. */
export const tellDelivered = (
  { ledger, linkId }: LedgerTest,
  theirNumber: string,
  rawId: string,
  changes: Partial<ReceiptIn> = {},
): Promise<void> =>
  ledger.receipt({
    linkId,
    rawId,
    matchId: rawId,
    state: 'delivered',
    stat: 'DELIVRD',
    err: '000',
    networkError: null,
    doneDate: '',
    source: theirNumber,
    destination: ourNumber,
    submitDate: null,
    ...changes,
  })

/** As if all waits were over. */
export async function resolveDue({ db, context }: LedgerTest): Promise<void> {
  await db.query(
    `update nameless_tries set check_at = now(), resend_at = case when resend_at is not null then now() end`,
  )
  await resolveUnknown(context)
}

/** Claims queued messages; returns those to a number. */
export async function claimFor(
  test: LedgerTest,
  theirNumber: string,
  rooms = [{ id: test.linkId, carrierId: test.carrierId }],
): Promise<Handover[]> {
  const { rows } = await test.db.query<{ id: string }>(`select id from lanes where type = 'transactional'`)
  const { handovers } = await claimMessages(test.context, test.nodeId, rooms, rows[0]?.id ?? '', noId, 100)
  return handovers.filter((handover) => handover.theirNumber === theirNumber)
}
