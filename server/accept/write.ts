/** The write of accept: planned drafts in, verdicts out, with the events that webhooks subscribe to. */
import { now } from '../ground/db/clock.ts'
import type { Db, Tx, Queryable } from '../ground/db/db.ts'
import { dayOf } from '../ground/db/partitions.ts'
import { everyPlace } from '../ground/db/rows.ts'
import { recordEvents, type NewEvent, type Outbox, type Posting, type Subscriptions } from '../events/events.ts'
import { storeTexts, type Texts } from '../ground/sealing/texts.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { acceptStatement } from './sql.ts'
import { rowOf } from './accepted.ts'
import type { Accepted, Planned, Verdict } from '../message/draft.ts'
import { hashForms } from '../message/consent.ts'
import { handOver, type Handover, type OwnLinks } from '../message/handover.ts'
import type { MessageRow } from '../message/message.ts'
import { renderMessage } from '../message/show.ts'
import { costColumns } from '../message/price.ts'
import type { Recent } from '../message/recent.ts'
import type { Acquaintance } from '../message/routing.ts'
import { storeShortLinks } from '../short-links/store.ts'
import { validityDefaultSeconds } from '../message/validity.ts'
import { columns } from '../ground/db/array.ts'

export interface Written {
  results: Accepted[]
  handovers: Handover[]
  unused: { link: string; segments: number }[]
  postings: Posting[]
  acquaintances: (Acquaintance & { senderId: string })[]
  isQueued: boolean
}

export const nothingWritten = (): Written => ({
  results: [],
  handovers: [],
  unused: [],
  postings: [],
  acquaintances: [],
  isQueued: false,
})

/** Merges the results of a second statement for the drafts at these places. */
export function addWritten(
  written: Written,
  more: Written,
  again: readonly Planned[],
  places: readonly number[],
): void {
  for (const { link, draft } of again) {
    // The room that the first statement left unused was reserved for the second.
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
  ownLinks: OwnLinks
  outbox: Outbox
  subscriptions: Subscriptions
  recent: Recent
  /** Accounts with opt-outs whose numbers were forgotten: only their drafts are hashed, at 3 µs each. */
  forgetful: Set<string>
}

/** Writes drafts in one statement, and the events that are subscribed to; verdicts in the order of the drafts. */
export async function writeDrafts(tx: Db | Tx, context: WriteContext, planned: Planned[]): Promise<Written> {
  const { ownLinks, outbox, subscriptions, forgetful } = context
  const at = planned[0]?.at ?? now()
  const ids = planned.map(({ id }) => id)
  const costs = planned.map((one) => costColumns(one))
  const hashes = forgetful.size > 0 ? await hashAll(tx, context, planned) : []
  const bodies = await storeTexts(
    context.texts,
    planned.map(({ id, draft: { accountId, body: text } }) => ({ accountId, id, text })),
  )
  const { rows: groups } = await tx.query<Verdict>(
    acceptStatement(
      dayOf(ids),
      planned,
      {
        account_id: ({ draft }) => draft.accountId,
        id: ({ id }) => id,
        their_number: ({ draft }) => draft.theirNumber,
        sender: ({ route }) => route.sender.sender?.number ?? null,
        type: ({ draft }) => draft.type,
        encoding: ({ draft }) => draft.encoding,
        characters: ({ draft }) => draft.characters,
        segments: ({ draft }) => draft.segments,
        country: ({ route }) => route.message.country,
        is_test: ({ draft }) => draft.isTest,
        body: (_, i) => bodies[i]?.body ?? null,
        body_sealed: (_, i) => bodies[i]?.sealed ?? null,
        link_id: ({ link }) => link,
        carrier_id: ({ link, carrierId }) => link && carrierId,
        warnings: ({ draft }) => draft.warnings && JSON.stringify(draft.warnings),
        operation: ({ draft }) => draft.idempotency?.operation ?? null,
        key: ({ draft }) => draft.idempotency?.key ?? null,
        fingerprint: ({ draft }) => draft.idempotency?.fingerprint ?? null,
        campaign_id: ({ draft }) => draft.campaignId,
        campaign_key: ({ draft }) => draft.campaignKey,
        broadcast_id: ({ draft }) => draft.broadcastId,
        validity: ({ draft }) => draft.validitySeconds,
        callback_url: ({ draft }) => draft.callbackUrl,
        metadata: ({ draft }) => draft.metadata && JSON.stringify(draft.metadata),
        tags: ({ draft }) => draft.tags && JSON.stringify(draft.tags),
        on_unknown: ({ draft }) => draft.onUnknown,
        route_id: ({ route }) => route.choice.ruleId,
        // A message that queues gets its default route chosen again later.
        chain: ({ route: { choice } }) => (choice.ruleId === null ? null : `{${choice.chain.join()}}`),
        cost: (_, i) => costs[i]?.cost ?? null,
        cost_currency: (_, i) => costs[i]?.costCurrency ?? null,
        cost_carrier_id: (_, i) => costs[i]?.costCarrierId ?? null,
        send_at: ({ draft }) => draft.sendAt,
        opens_at: ({ opensAt }) => opensAt,
        refusal: ({ route, stop, isOver, waitSeconds }) =>
          route.refusal ??
          (isOver ? 'max_price_exceeded' : (stop?.refusal ?? (waitSeconds === null ? null : 'queue_full'))),
        number_hmac: (_, i) => hashes[i] ?? null,
      },
      { now: at, nodeId: ownLinks.nodeId, validityDefaultSeconds },
    ),
  )
  const verdicts = inOrder(groups, planned)
  if (groups.some(({ lacksHash }) => lacksHash)) {
    planned.forEach(({ draft }, i) => verdicts[i]?.lacksHash && forgetful.add(draft.accountId))
    return writeDrafts(tx, context, planned)
  }
  if (planned.some(({ draft }) => draft.shortLinks)) await storeShortLinks(tx, planned, verdicts, context.texts)
  if (planned.some(({ draft }) => draft.isDiscarded)) await discardLater(tx, discardedOf(planned, verdicts))
  const written = nothingWritten()
  const events: NewEvent[] = []
  for (const [i, one] of planned.entries()) {
    const verdict = verdicts[i]
    if (!verdict) continue
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
      const estimatedSendAt =
        opensAt ?? draft.sendAt ?? (verdict.isLeased ? at : estimateSendAt(ownLinks, row, carrierId))
      written.results.push({ kind: 'accepted', row, estimatedSendAt })
      if (verdict.isLeased && link) {
        const leased: MessageRow = { ...row, status: 'sending', attempts: 1, carrierId }
        const isDirect = row.segments === 1
        written.handovers.push(handOver(context.recent, leased, { linkId: link, isDirect, pending: null }))
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

/** In the order of the drafts; undefined if the account is gone. */
function inOrder(groups: readonly Verdict[], planned: readonly Planned[]): (Verdict | undefined)[] {
  const verdicts = Array.from<Verdict | undefined>({ length: planned.length })
  for (const verdict of groups) for (const n of verdict.places ?? everyPlace(planned)) verdicts[n - 1] = verdict
  return verdicts
}

/** Null if the campaign is paused. */
const estimateSendAt = (ownLinks: OwnLinks, row: MessageRow, carrierId: string | null): Date | null =>
  row.holdReason === 'campaign_paused' ? null : ownLinks.estimateSendAt({ ...row, carrierId })

function discardedOf(
  planned: readonly Planned[],
  verdicts: readonly (Verdict | undefined)[],
): { accountId: string; id: string }[] {
  return planned.flatMap(({ draft, id }, i) =>
    verdicts[i]?.isNew && draft.isDiscarded ? [{ accountId: draft.accountId, id }] : [],
  )
}

/** The hash that finds a forgotten opt-out: of the current number, or of an older form if the opt-out has that. */
async function hashAll(
  tx: Db | Tx,
  { vault, forgetful }: WriteContext,
  planned: Planned[],
): Promise<(Buffer | null)[]> {
  const forms = planned.map(({ draft: { accountId, theirNumber } }) =>
    forgetful.has(accountId) ? hashForms(vault, accountId, theirNumber) : [],
  )
  const old = planned.flatMap(({ draft }, i) => (forms[i]?.slice(1) ?? []).map((hash) => ({ ...draft, hash })))
  const known = old.length > 0 ? await findForgottenHashes(tx, old) : new Set<string>()
  return forms.map(([current = null, other]) => (other && known.has(other.toString('hex')) ? other : current))
}

/** Only countries that renumbered need it. By opt_outs_forgotten. */
async function findForgottenHashes(tx: Db | Tx, asked: { accountId: string; hash: Buffer }[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ hash: Buffer }>({
    name: 'find-forgotten-hashes',
    text: `
      select o.number_hmac as hash
      from unnest($1::uuid[], $2::bytea[]) as p (account_id, hash)
      join opt_outs o on o.account_id = p.account_id and o.number_hmac = p.hash and o.number is null`,
    values: [asked.map(({ accountId }) => accountId), asked.map(({ hash }) => hash)],
  })
  return new Set(rows.map(({ hash }) => hash.toString('hex')))
}

/** Runs in the transaction that accepts the messages. */
async function discardLater(tx: Queryable, messages: readonly { accountId: string; id: string }[]): Promise<void> {
  if (messages.length === 0) return
  await tx.query({
    name: 'discard-later',
    text: `
      insert into discards (account_id, message_id)
      select * from unnest($1::uuid[], $2::uuid[])
      on conflict do nothing`,
    values: columns([messages.map(({ accountId }) => accountId), messages.map(({ id }) => id)]),
  })
}
