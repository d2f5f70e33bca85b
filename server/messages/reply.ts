/** Replies: from a whole text on a link to an inbound message, its event, and what STOP, START and HELP do, in one transaction. */
import { inTransaction, type Db, type Tx } from '../db/db.ts'
import { recordEvents, type NewEvent, type Outbox, type Posting, type Subscriptions } from '../events.ts'
import { firstIdAt, newId, showId } from '../ids.ts'
import { countSegments } from '@heliogram/smpp'
import { cancelWaiting } from './cancel.ts'
import { confirmations, readKeyword, type Keyword } from './keywords.ts'
import { recordMoves } from './ledger.ts'
import { messageColumns, renderMessage, type MessageRow } from './message.ts'

/** A whole reply as it came from a link. */
export interface ReplyIn {
  linkId: string
  /** The person. Digits, or an alphanumeric or short code where a carrier sends those. */
  source: string
  /** Our number. */
  destination: string
  text: string
  isPartial: boolean
}

interface ReplyContext {
  db: Db
  outbox: Outbox
  subscriptions: Subscriptions
  /** A confirmation was queued. */
  wake: () => void
}

// Automatic messages to one number in an hour: two programs that answer each other stop here.
const confirmationsMax = 3

/** Stores a reply in a transaction of its own; resolves after the commit. `beforeCommit` runs in it first (parts, repetitions). */
export async function storeReply(
  context: ReplyContext,
  reply: ReplyIn,
  beforeCommit?: (tx: Tx) => Promise<boolean>,
): Promise<'stored' | 'orphan' | 'skipped'> {
  const result = await inTransaction(context.db, async (tx) => {
    if (beforeCommit && !(await beforeCommit(tx))) return { kind: 'skipped' as const, postings: [] }
    const owner = await findOwner(tx, reply)
    if (owner === null) {
      await storeOrphan(tx, reply)
      return { kind: 'orphan' as const, postings: [] }
    }
    return { kind: 'stored' as const, postings: await storeOwned(tx, context, owner, reply) }
  })
  context.outbox.offer(result.postings)
  context.wake()
  return result.kind
}

interface Owner {
  accountId: string
  name: string
}

/** The account that owns our number at the link's carrier, else null: never guessed from earlier messages. By senders (number, carrier_id). */
async function findOwner(tx: Tx, reply: ReplyIn): Promise<Owner | null> {
  const { rows } = await tx.query<Owner>({
    name: 'find-reply-owner',
    text: `
      select a.id as "accountId", a.name
      from links l
      join senders s on s.carrier_id = l.carrier_id and s.number = $2
      join accounts a on a.id = s.account_id
      where l.id = $1`,
    values: [reply.linkId, reply.destination],
  })
  return rows[0] ?? null
}

async function storeOrphan(tx: Tx, reply: ReplyIn): Promise<void> {
  await tx.query(`insert into orphan_replies (id, link_id, source, destination, body) values ($1, $2, $3, $4, $5)`, [
    newId(),
    reply.linkId,
    reply.source,
    reply.destination,
    reply.text,
  ])
}

async function storeOwned(tx: Tx, context: ReplyContext, owner: Owner, reply: ReplyIn): Promise<Posting[]> {
  const keyword = readKeyword(reply.text)
  const row = await insertInbound(tx, owner.accountId, reply, keyword)
  const isChange = keyword !== null && (await changeConsent(tx, owner.accountId, row, keyword))
  const canceled = keyword === 'stop' ? await cancelWaiting(tx, owner.accountId, { theirNumber: row.theirNumber }) : []
  // Whoever is out is told so once (47 CFR 64.1200(a)(12) allows a one-time confirmation); a second STOP changes nothing.
  if (keyword && (keyword !== 'stop' || isChange))
    await queueConfirmation(tx, owner, row, confirmations[keyword](owner.name))
  const events: NewEvent[] = [
    {
      accountId: owner.accountId,
      type: 'message.received',
      messageId: row.id,
      sequence: 1,
      data: { message: renderMessage(row) },
    },
  ]
  const consent = keyword === 'stop' ? 'contact.opted_out' : keyword === 'start' ? 'contact.opted_in' : null
  if (consent && isChange && context.subscriptions.wants(owner.accountId, consent))
    events.push({
      accountId: owner.accountId,
      type: consent,
      messageId: row.id,
      data: {
        phone_number: reply.source,
        keyword,
        message: showId('msg', row.id),
        campaign: row.campaignId && showId('cmp', row.campaignId),
      },
    })
  return [...(await recordMoves(tx, canceled, context)), ...(await recordEvents(tx, events, context.outbox))]
}

/** Inserts the inbound row; the last outbound message of the number pair gives `in_reply_to`, campaign and contact (index messages_their_number). */
async function insertInbound(tx: Tx, accountId: string, reply: ReplyIn, keyword: Keyword | null): Promise<MessageRow> {
  const count = countSegments(reply.text)
  const { rows } = await tx.query<MessageRow>({
    name: 'insert-reply',
    text: `
      with last as (
        select id, campaign_id, contact_id
        from messages
        where account_id = $1 and their_number = $3 and our_number = $4 and direction = 'outbound' and not is_confirmation
        order by id desc
        limit 1
      )
      insert into messages as m (account_id, id, direction, status, their_number, our_number, body, encoding, characters, segments,
        campaign_id, contact_id, keyword, in_reply_to, is_partial, completed_at)
      select $1, $2, 'inbound', 'received', $3, $4, $5, $6, $7, $8,
        last.campaign_id, last.contact_id, $9, last.id, $10, now()
      from (select 1) one
      left join last on true
      returning ${messageColumns('m')}`,
    values: [
      accountId,
      newId(),
      reply.source,
      reply.destination,
      reply.text,
      count.encoding,
      count.characters,
      count.segments,
      keyword,
      reply.isPartial,
    ],
  })
  const row = rows[0]
  if (!row) throw new Error('the reply was not inserted')
  return row
}

/** Opts a number out of the account's messages, or in again; false where it was so before. By primary key. */
async function changeConsent(tx: Tx, accountId: string, row: MessageRow, keyword: Keyword): Promise<boolean> {
  if (keyword === 'help') return false
  const { rowCount } =
    keyword === 'stop'
      ? await tx.query(
          `insert into opt_outs (account_id, number, source, message_id) values ($1, $2, 'reply', $3)
           on conflict (account_id, number) do nothing`,
          [accountId, row.theirNumber, row.id],
        )
      : await tx.query(`delete from opt_outs where account_id = $1 and number = $2`, [accountId, row.theirNumber])
  return rowCount === 1
}

/** Queues the one answer to a keyword: first in line, past the opt-out, but not more than a few an hour. Index messages_their_number. */
async function queueConfirmation(tx: Tx, owner: Owner, inbound: MessageRow, text: string): Promise<void> {
  const count = countSegments(text)
  const id = newId()
  await tx.query(`insert into lanes (id, account_id, type) values ($1, $2, 'otp') on conflict do nothing`, [
    newId(),
    owner.accountId,
  ])
  await tx.query(
    `with room as (
       select count(*) < $9 as is_there
       from messages
       where account_id = $1 and their_number = $3 and id > $13 and is_confirmation
     ), stored as (
       insert into messages (account_id, id, type, status, their_number, our_number, body, encoding, characters, segments,
         campaign_id, contact_id, in_reply_to, is_confirmation, expires_at, queued_at)
       select $1, $2, 'otp', 'queued', $3, $4, $5, $6, $7, $8, $10, $11, $12, true, now() + interval '5 minutes', now()
       from room
       where is_there
       returning account_id, id, segments, expires_at
     )
     insert into queue (lane_id, message_id, account_id, segments, expires_at)
     select l.id, s.id, s.account_id, s.segments, s.expires_at
     from stored s
     join lanes l on l.account_id = s.account_id and l.type = 'otp' and l.run_id is null`,
    [
      owner.accountId,
      id,
      inbound.theirNumber,
      inbound.ourNumber,
      text,
      count.encoding,
      count.characters,
      count.segments,
      confirmationsMax,
      inbound.campaignId,
      inbound.contactId,
      inbound.id,
      firstIdAt(Date.now() - 3_600_000),
    ],
  )
}
