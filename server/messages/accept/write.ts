/** The write of accept: planned drafts in, verdicts out, with the events that somebody wants. */
import { now } from '../../db/clock.ts'
import type { Db, Tx } from '../../db/db.ts'
import { dayOf } from '../../db/partitions.ts'
import { recordEvents, type NewEvent, type Outbox, type Posting, type Subscriptions } from '../../events.ts'
import { storeTexts, type Texts } from '../../sealing/texts.ts'
import type { Vault } from '../../sealing/vault.ts'
import { acceptStatement } from './sql.ts'
import { handoverOf, rowOf, type Accepted, type Draft, type Planned, type Verdict } from './accepted.ts'
import { hashNumber } from '../opt-outs/consent.ts'
import type { Handover, Slots } from './handover.ts'
import { renderMessage, type MessageRow } from '../message.ts'
import { costColumns } from '../price.ts'
import type { Recent } from '../ledger/recent.ts'
import { discardLater } from '../forgetting/redact-later.ts'
import type { Acquaintance } from '../routing.ts'
import { storeShortLinks } from '../short-links/store.ts'
import { validityDefaultSeconds } from './validity.ts'

/** What one statement wrote, and what is to be done after its commit. */
export interface Written {
  results: Accepted[]
  handovers: Handover[]
  unused: { link: string; segments: number }[]
  postings: Posting[]
  acquaintances: (Acquaintance & { senderId: string })[]
  isQueued: boolean
}

/** As it is before anything was written. */
export const nothingWritten = (): Written => ({
  results: [],
  handovers: [],
  unused: [],
  postings: [],
  acquaintances: [],
  isQueued: false,
})

/** Adds what a second statement wrote of some of the same drafts, which have these places. */
export function addWritten(
  written: Written,
  more: Written,
  again: readonly Planned[],
  places: readonly number[],
): void {
  for (const { link, draft } of again) {
    // The room that the first statement left unused was kept for the second.
    const kept = written.unused.findIndex((one) => one.link === link && one.segments === draft.segments)
    if (kept >= 0) written.unused.splice(kept, 1)
  }
  places.forEach((place, i) => {
    const result = more.results[i]
    if (result) written.results[place] = result
  })
  written.handovers.push(...more.handovers)
  written.unused.push(...more.unused)
  written.postings.push(...more.postings)
  written.acquaintances.push(...more.acquaintances)
  written.isQueued ||= more.isQueued
}

interface WriteContext {
  vault: Vault
  texts?: Texts
  slots: Slots
  outbox: Outbox
  subscriptions: Subscriptions
  recent: Recent
  /** Accounts with opt-outs whose numbers were forgotten: their drafts are hashed (3 µs each), those of others are not. */
  forgetful: Set<string>
}

/** Writes planned drafts with one statement, and the events that are wanted; the verdicts come in the order of the drafts. */
export async function writeDrafts(tx: Db | Tx, context: WriteContext, planned: Planned[]): Promise<Written> {
  const { slots, outbox, subscriptions, forgetful } = context
  const at = planned[0]?.at ?? now()
  const ids = planned.map(({ id }) => id)
  const column = <T>(pick: (draft: Draft, one: Planned) => T): T[] => planned.map((one) => pick(one.draft, one))
  const costs = planned.map((one) => costColumns(one))
  const bodies = await storeTexts(
    context.texts,
    planned.map(({ id, draft: { accountId, body: text } }) => ({ accountId, id, text })),
  )
  const { rows: verdicts } = await tx.query<Verdict>(
    acceptStatement(
      dayOf(ids),
      {
        account_id: column((d) => d.accountId),
        id: ids,
        their_number: column((d) => d.theirNumber),
        sender: column((_, { route }) => route.sender.sender?.number ?? null),
        type: column((d) => d.type),
        encoding: column((d) => d.encoding),
        characters: column((d) => d.characters),
        segments: column((d) => d.segments),
        country: column((_, { route }) => route.message.country),
        is_test: column((d) => d.isTest),
        body: bodies.map(({ body }) => body),
        body_sealed: bodies.map(({ sealed }) => sealed),
        link_id: column((_, { link }) => link),
        carrier_id: column((_, { link, carrierId }) => link && carrierId),
        warnings: column((d) => (d.warnings ? JSON.stringify(d.warnings) : null)),
        operation: column((d) => d.idempotency?.operation ?? null),
        key: column((d) => d.idempotency?.key ?? null),
        fingerprint: column((d) => d.idempotency?.fingerprint ?? null),
        campaign_id: column((d) => d.campaignId),
        campaign_key: column((d) => d.campaignKey),
        validity: column((d) => d.validitySeconds),
        callback_url: column((d) => d.callbackUrl),
        metadata: column((d) => (d.metadata ? JSON.stringify(d.metadata) : null)),
        tags: column((d) => (d.tags ? JSON.stringify(d.tags) : null)),
        on_unknown: column((d) => d.onUnknown),
        route_id: column((_, { route }) => route.choice.ruleId),
        // The default route is chosen anew where the message waits.
        chain: column((_, { route: { choice } }) => (choice.ruleId === null ? null : `{${choice.chain.join()}}`)),
        cost: costs.map(({ cost }) => cost),
        cost_currency: costs.map(({ costCurrency }) => costCurrency),
        cost_carrier_id: costs.map(({ costCarrierId }) => costCarrierId),
        send_at: column((d) => d.sendAt),
        opens_at: column((_, { opensAt }) => opensAt),
        refusal: column(
          (_, { route, stop, isOver, waitSeconds }) =>
            route.refusal ??
            (isOver ? 'max_price_exceeded' : (stop?.refusal ?? (waitSeconds === null ? null : 'queue_full'))),
        ),
        number_hmac: column((d) => hashOf(context, d)),
      },
      { now: at, nodeId: slots.nodeId, validityDefaultSeconds },
    ),
  )
  const unhashed = verdicts.filter(({ lacksHash }) => lacksHash)
  if (unhashed.length > 0) {
    for (const { n } of unhashed) forgetful.add(planned[n - 1]?.draft.accountId ?? '')
    return writeDrafts(tx, context, planned)
  }
  if (planned.some(({ draft }) => draft.shortLinks)) await storeShortLinks(tx, planned, verdicts, context.texts)
  if (planned.some(({ draft }) => draft.isDiscarded)) await discardLater(tx, discardedOf(planned, verdicts))
  const written = nothingWritten()
  const events: NewEvent[] = []
  for (const verdict of verdicts.sort((a, b) => a.n - b.n)) {
    const one = planned[verdict.n - 1]
    if (!one) continue
    const { draft, id, link, carrierId, route, opensAt } = one
    if (link && !verdict.isLeased) written.unused.push({ link, segments: draft.segments })
    if (verdict.refusal)
      written.results.push({
        kind: 'refused',
        refusal: verdict.refusal,
        stop: verdict.refusal === one.stop?.refusal ? one.stop : null,
        waitSeconds: verdict.refusal === 'queue_full' ? one.waitSeconds : null,
      })
    else if (!verdict.isNew)
      written.results.push({
        kind: 'known_key',
        messageId: verdict.knownId ?? null,
        fingerprint: verdict.knownFingerprint ?? Buffer.alloc(0),
      })
    else {
      const { poolId } = route
      const { sender } = route.sender
      const row = rowOf(one, verdict)
      if (poolId !== null && sender)
        written.acquaintances.push({
          accountId: draft.accountId,
          poolId,
          theirNumber: draft.theirNumber,
          senderId: sender.id,
        })
      const estimatedSendAt = opensAt ?? draft.sendAt ?? (verdict.isLeased ? at : estimateSendAt(slots, row, carrierId))
      written.results.push({ kind: 'accepted', row, estimatedSendAt })
      if (verdict.isLeased && link) {
        written.handovers.push(handoverOf(row, draft.body, link))
        if (row.segments === 1) context.recent.remember({ ...row, status: 'sending', attempts: 1, carrierId }, true)
      } else if (!draft.sendAt && !opensAt) written.isQueued = true
      const type = draft.sendAt ? 'message.scheduled' : 'message.queued'
      if (subscriptions.wants(draft.accountId, type))
        events.push({
          accountId: draft.accountId,
          type,
          messageId: id,
          sequence: 1,
          data: { message: renderMessage(row, estimatedSendAt), previous_status: null },
          callbackUrl: row.callbackUrl,
        })
    }
  }
  if (events.length > 0) written.postings = await recordEvents(tx, events, outbox)
  return written
}

/** Nobody knows when a pause ends. */
const estimateSendAt = (slots: Slots, row: MessageRow, carrierId: string | null): Date | null =>
  row.holdReason === 'campaign_paused' ? null : slots.estimateSendAt({ ...row, carrierId })

function discardedOf(planned: readonly Planned[], verdicts: readonly Verdict[]): { accountId: string; id: string }[] {
  return verdicts.flatMap(({ n, isNew }) => {
    const one = planned[n - 1]
    return isNew && one?.draft.isDiscarded ? [{ accountId: one.draft.accountId, id: one.id }] : []
  })
}

function hashOf({ vault, forgetful }: WriteContext, { accountId, theirNumber }: Draft): Buffer | null {
  return forgetful.has(accountId) ? hashNumber(vault, accountId, theirNumber) : null
}
