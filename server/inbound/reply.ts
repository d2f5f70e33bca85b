/** Replies: from a whole text on a link to an inbound message, its event, and the effect of STOP, START and HELP, in one transaction. */
import { nowMs } from '../ground/db/clock.ts'
import { inTransaction, type Tx } from '../ground/db/db.ts'
import { recordEvents, type Posting, type Needs } from '../events/events.ts'
import { idSql, readNearest } from '../ground/db/span.ts'
import { firstIdAt, newId } from '../ground/base/ids.ts'
import { countSegments } from '@heliogram/smpp'
import { storeTexts, type Texts } from '../ground/sealing/texts.ts'
import { mergeKeywords, type KeywordInput } from '../opt-outs/keyword-settings.ts'
import { noteReply } from '../conversations/store.ts'
import { readKeyword, writeReply, type Keyword } from '../opt-outs/keywords.ts'
import { findOwner, type Owner } from '../message/owner.ts'
import { messageColumns, type MessageRow } from '../message/message.ts'
import { renderMessage } from '../message/show.ts'
import { countryOf } from '../ground/numbers/number.ts'
import { optIn, optOut, type ConsentContext, type Origin } from '../opt-outs/opt-out.ts'
import { isOptedOut } from '../message/opted-out.ts'
import { suspectOptOut } from '../opt-outs/suspicion.ts'
import { countMoves, countedColumns } from '../usage/delta-sql.ts'

export interface ReplyIn {
  linkId: string
  /** The person. Digits, or an alphanumeric or short code from some carriers. */
  source: string
  /** Our number. */
  destination: string
  text: string
  /** As received, if they do not match their declared coding. */
  octets?: Buffer | null
  isPartial: boolean
  /** Long ago: it gets no answer. */
  isOld?: boolean
}

/** A reply by its repetition: a new one; a stored one that may be an old one again; a repeat; or not decided. */
export type Coming = 'new' | 'doubtful' | 'repeat' | 'none'

export type ReplyContext = ConsentContext & Needs<'db' | 'meter'> & { wake: () => void }

// Automatic messages to one number in an hour: stops two programs that answer each other.
const confirmationsMax = 3

/**
 * Stores a reply in its own transaction; resolves after the commit. `comingOf` runs in it first (parts, repetitions). When in doubt the person is
 * out: STOP is obeyed even in a probable repeat, unless they are out, and START only in a certainly new one.
 */
export async function storeReply(
  context: ReplyContext,
  given: ReplyIn,
  comingOf?: (tx: Tx) => Promise<Coming>,
): Promise<'stored' | 'orphan' | 'skipped'> {
  const result = await inTransaction(context.db, async (tx) => {
    const coming = (await comingOf?.(tx)) ?? 'new'
    if (coming === 'none') return { kind: 'skipped' as const, postings: [] }
    const found = await findOwner(tx, given)
    const owner = found && found.owner
    const reply = found ? { ...given, source: found.person, destination: found.number } : given
    if (owner === null) {
      if (coming === 'repeat' && readKeyword(reply.text, undefined, reply.destination).keyword !== 'stop')
        return { kind: 'skipped' as const, postings: [] }
      await storeOrphan(tx, context, reply)
      return { kind: 'orphan' as const, postings: [] }
    }
    const postings = await storeOwned(tx, context, owner, reply, coming)
    return { kind: postings ? ('stored' as const) : ('skipped' as const), postings: postings ?? [] }
  })
  context.outbox.offer(result.postings)
  context.meter?.replies.add(result.kind)
  context.wake()
  return result.kind
}

/** No account owns it, so it is sealed with the master key, if texts are sealed. */
async function storeOrphan(tx: Tx, { texts }: ReplyContext, reply: ReplyIn): Promise<void> {
  const id = newId()
  await tx.query(
    `insert into orphan_replies (id, link_id, source, destination, body, is_sealed, octets) values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      id,
      reply.linkId,
      reply.source,
      reply.destination,
      texts?.isSealing
        ? texts.sealLoose(Buffer.from(reply.text), `orphan_replies.body|${id}`).toString('base64')
        : reply.text,
      texts?.isSealing ?? false,
      reply.octets && texts?.isSealing
        ? texts.sealLoose(reply.octets, `orphan_replies.octets|${id}`)
        : (reply.octets ?? null),
    ],
  )
}

/** Null if it is a repeat without effect. */
async function storeOwned(
  tx: Tx,
  context: ReplyContext,
  owner: Owner,
  reply: ReplyIn,
  coming: 'new' | 'doubtful' | 'repeat',
): Promise<Posting[] | null> {
  const { accountId } = owner
  const asked = await findAsked(tx, owner, reply)
  const settings = mergeKeywords([asked.ofAccount, asked.ofCampaign])
  const found = readKeyword(reply.text, settings, reply.destination)
  const meant = found.isSuspect && settings.onSuspicion === 'opt_out' ? 'stop' : found.keyword
  if (coming === 'repeat' && (meant !== 'stop' || (await isOptedOut(tx, context.vault, accountId, reply.source))))
    return null
  const keyword = coming === 'doubtful' && meant === 'start' ? null : meant
  const row = await insertInbound(tx, context.texts, owner, reply, keyword, asked)
  await noteReply(tx, row)
  const received = {
    accountId,
    type: 'message.received' as const,
    messageId: row.id,
    sequence: 1,
    data: { message: renderMessage(row) },
  }
  const postings = await recordEvents(tx, [received], context.outbox)
  // A name or an empty sender cannot be written to: there is nothing to stop, and no number for an answer.
  if (!/^\d+$/.test(row.theirNumber)) return postings
  if (found.isSuspect && settings.onSuspicion === 'flag')
    return [...postings, ...(await suspectOptOut(tx, context, accountId, row))]
  if (!keyword) return postings
  const { isChange, postings: more } = await changeConsent(tx, context, row, keyword)
  // An opted-out person gets one confirmation (47 CFR 64.1200(a)(12) allows a one-time confirmation); a second STOP changes nothing.
  const answer = !reply.isOld && (keyword !== 'stop' || isChange) ? writeReply(settings, keyword, owner.name) : null
  if (answer !== null) await queueConfirmation(tx, context.texts, owner, row, answer)
  return [...postings, ...more]
}

/** The message that a reply answers (the last to the person from that number that went or may have gone), and the effective keywords. */
interface Asked {
  id: string | null
  campaignId: string | null
  broadcastId: string | null
  contactId: string | null
  ofAccount: KeywordInput | null
  ofCampaign: KeywordInput | null
}

/** Index messages_their_number, and the unique (account_id, campaign_id) of keyword_settings twice; locks nothing. */
async function findAsked(tx: Tx, owner: Owner, reply: ReplyIn): Promise<Asked> {
  const [asked] = await readNearest(
    { from: null },
    (since) => readAsked(tx, owner, reply, since),
    ([one]) => one?.id != null,
  )
  return asked ?? { id: null, campaignId: null, broadcastId: null, contactId: null, ofAccount: null, ofCampaign: null }
}

async function readAsked(tx: Tx, { accountId, isTest }: Owner, reply: ReplyIn, since: string | null): Promise<Asked[]> {
  const { rows } = await tx.query<Asked>(
    `
      select last.id, last.campaign_id as "campaignId", last.broadcast_id as "broadcastId", last.contact_id as "contactId", a.settings as "ofAccount",
        c.settings as "ofCampaign"
      from (select 1) one
      left join lateral (
        select id, campaign_id, broadcast_id, contact_id
        from messages
        where account_id = $1 and their_number = $2 and our_number = $3 and direction = 'outbound' and not is_confirmation
          and is_test = $4 and status not in ('scheduled', 'canceled') ${since === null ? '' : `and id > ${idSql(since)}`}
        order by id desc
        limit 1
      ) last on true
      left join keyword_settings a on a.account_id = $1 and a.campaign_id is null
      left join keyword_settings c on c.account_id = $1 and c.campaign_id = last.campaign_id`,
    [accountId, reply.source, reply.destination, isTest],
  )
  return rows
}

async function insertInbound(
  tx: Tx,
  texts: Texts | undefined,
  { accountId, isTest }: Owner,
  reply: ReplyIn,
  keyword: Keyword | null,
  asked: Asked,
): Promise<MessageRow> {
  const count = countSegments(reply.text)
  const id = newId()
  const { octets = null } = reply
  const [stored, received] = await storeTexts(texts, [
    { accountId, id, text: reply.text },
    ...(octets ? [{ accountId, id, text: octets.toString('base64'), column: 'messages.octets' } as const] : []),
  ])
  const { rows } = await tx.query<MessageRow>({
    name: 'insert-reply',
    text: `
      with moved as (
        insert into messages as m (account_id, id, direction, status, their_number, our_number, body, encoding, characters, segments,
          campaign_id, contact_id, keyword, in_reply_to, is_partial, country, is_test, body_sealed, broadcast_id, octets, completed_at)
        values ($1, $2, 'inbound', 'received', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, now())
        returning ${messageColumns('m')}
      ), ${countMoves('moved')}
      select * from moved`,
    values: [
      accountId,
      id,
      reply.source,
      reply.destination,
      stored?.body,
      count.encoding,
      count.characters,
      count.segments,
      asked.campaignId,
      asked.contactId,
      keyword,
      asked.id,
      reply.isPartial,
      countryOf(reply.source),
      isTest,
      stored?.sealed,
      asked.broadcastId,
      received?.sealed ?? octets,
    ],
  })
  const row = rows[0]
  if (!row) throw new Error('the reply was not inserted')
  return row
}

async function changeConsent(
  tx: Tx,
  context: ReplyContext,
  row: MessageRow,
  keyword: Keyword,
): Promise<{ isChange: boolean; postings: Posting[] }> {
  if (keyword === 'help') return { isChange: false, postings: [] }
  const { id: messageId, campaignId, broadcastId, isTest } = row
  const origin: Origin = { source: 'reply', actor: null, keyword, messageId, campaignId, broadcastId, isTest }
  // The ledger of consent is permanent: a sealed text stays in the message, from which it can be deleted.
  const person = {
    number: row.theirNumber,
    ...(!context.texts?.isSealing && { evidence: { text: row.body ?? '' } }),
  }
  if (keyword === 'start') return optIn(tx, context, row.accountId, origin, person)
  const { added, postings } = await optOut(tx, context, row.accountId, origin, [person])
  return { isChange: added.size === 1, postings }
}

/**
 * Queues the one answer to a keyword: first in line, past the opt-out, but only a few an hour. Index messages_their_number; locks the person, so that
 * the second of two answers counts the first.
 */
async function queueConfirmation(
  tx: Tx,
  texts: Texts | undefined,
  owner: Owner,
  inbound: MessageRow,
  text: string,
): Promise<void> {
  const count = countSegments(text)
  const id = newId()
  const [stored] = await storeTexts(texts, [{ accountId: owner.accountId, id, text }])
  await tx.query(`select pg_advisory_xact_lock(hashtextextended($1, 0))`, [
    `confirmations ${owner.accountId} ${inbound.theirNumber}`,
  ])
  await tx.query(`insert into lanes (id, account_id, type) values ($1, $2, 'otp') on conflict do nothing`, [
    newId(),
    owner.accountId,
  ])
  await tx.query(
    `with room as (
       select count(*) < $9 as is_there
       from messages
       where account_id = $1 and their_number = $3 and id > ${idSql(firstIdAt(nowMs() - 3_600_000))} and is_confirmation and is_test = $14
     ), stored as (
       insert into messages as m (account_id, id, type, status, their_number, our_number, body, encoding, characters, segments,
         campaign_id, contact_id, in_reply_to, is_confirmation, country, is_test, body_sealed, expires_at, queued_at)
       select $1, $2, 'otp', 'queued', $3, $4, $5, $6, $7, $8, $10, $11, $12, true, $13, $14, $15, now() + interval '5 minutes', now()
       from room
       where is_there
       returning ${countedColumns('m')}, m.id, m.account_id, m.expires_at
     ), ${countMoves('stored')}
     insert into queue (lane_id, message_id, account_id, segments, expires_at)
     select l.id, s.id, s.account_id, s.segments, s.expires_at
     from stored s
     join lanes l on l.account_id = s.account_id and l.type = 'otp' and l.run_id is null`,
    [
      owner.accountId,
      id,
      inbound.theirNumber,
      inbound.ourNumber,
      stored?.body,
      count.encoding,
      count.characters,
      count.segments,
      confirmationsMax,
      inbound.campaignId,
      inbound.contactId,
      inbound.id,
      inbound.country,
      // It returns by the way of the reply.
      inbound.isTest,
      stored?.sealed,
    ],
  )
}
