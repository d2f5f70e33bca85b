/**
 * Applies each account's retention: walks texts, messages and events by id, in batches, up to their age limit. A mark records progress;
 * messages that are not over are noted (`redact-later.ts`).
 */
import { claimOne } from '../ground/db/claim-one.ts'
import type { Db, Queryable, Tx } from '../ground/db/db.ts'
import { firstDay } from '../ground/db/partitions.ts'
import { idSql, spanOf, within } from '../ground/db/span.ts'
import { changeEventsOf, deleteEvents } from '../events/events-redact.ts'
import { firstIdAt, timeOfId } from '../ground/base/ids.ts'
import { outcomeStatuses } from '../message/message.ts'
import { hasText, isOver, setsOfRedaction, withoutTexts } from '../message/redact.ts'
import { deleteAttempts } from '../webhooks/erase.ts'
import { lockDependents } from './dependents.ts'

interface Due {
  accountId: string
  messageBodyDays: number
  replyBodyDays: number
  messageDays: number
  eventDays: number
  bodiesTo: string
  replyBodiesTo: string
  messagesTo: string
  eventsTo: string
  /** By the database's clock. */
  now: Date
  /** Other accounts keep messages, or events, for longer: this account's do not go with their partition. */
  isFirstOfMessages: boolean
  isFirstOfEvents: boolean
}

interface Walked {
  count: number
  lastId: string | null
}

const dayMs = 86_400_000
// Longer than any accept statement runs: older messages are visible in the order of their ids.
const settledMs = 120_000
const pieceMax = 500
// Days per batch.
const walkDays = 30
const failureMinutes = 1
const ends = outcomeStatuses.map((status) => `'${status}'`).join()

/** Runs a batch of one account; 0 if none is due, and none is checked for a while. Safe in several processes. */
export async function retainNext(db: Db): Promise<number> {
  const isDone = await claimOne(
    db,
    claimDue,
    async (tx, due) => {
      const isMore = await retainSome(tx, due)
      const isShort = due.messageBodyDays === 0 || due.replyBodyDays === 0
      await retainLater(tx, due, isMore ? 0 : isShort ? 1 : 60)
      return true
    },
    (due) => retainLater(db, due, failureMinutes),
  )
  return isDone ? 1 : 0
}

async function retainLater(db: Queryable, { accountId }: Due, minutes: number): Promise<void> {
  await db.query({
    name: 'retain-later',
    text: `update retention_marks set due_at = now() + make_interval(mins => $2) where account_id = $1`,
    values: [accountId, minutes],
  })
}

/** Inserts missing marks of accounts, due at once. */
export async function markAccounts(db: Db): Promise<void> {
  await db.query({
    name: 'mark-accounts',
    text: `
      insert into retention_marks (account_id)
      select id from accounts a
      where not exists (select from retention_marks where account_id = a.id)
      on conflict do nothing`,
  })
}

/** Locks the mark until the transaction ends, skipping those of other processes. Index retention_marks_due_at. */
async function claimDue(tx: Tx): Promise<Due | undefined> {
  const { rows } = await tx.query<Due>({
    name: 'claim-retention',
    text: `
      select r.account_id as "accountId", a.message_body_days as "messageBodyDays", a.reply_body_days as "replyBodyDays",
        a.message_days as "messageDays", a.event_days as "eventDays", r.bodies_to as "bodiesTo",
        r.reply_bodies_to as "replyBodiesTo", r.messages_to as "messagesTo", r.events_to as "eventsTo", now() as now,
        a.message_days < (select max(message_days) from accounts) as "isFirstOfMessages",
        a.event_days < (select max(event_days) from accounts) as "isFirstOfEvents"
      from retention_marks r
      join accounts a on a.id = r.account_id
      where r.due_at <= now()
      order by r.due_at
      limit 1
      for update of r skip locked`,
  })
  return rows[0]
}

/** A batch of the first kind that has something due; false if none has. */
async function retainSome(tx: Tx, due: Due): Promise<boolean> {
  const { accountId } = due
  // One machine with a wrong clock must not delete everyone's data.
  const now = Math.min(Date.now(), due.now.getTime())
  const before = (days: number): string => firstIdAt(now - Math.max(days * dayMs, settledMs))
  const ofBodies = rangeOf(due.bodiesTo, before(due.messageBodyDays))
  if (await goOn(tx, accountId, 'bodies_to', ofBodies, await dropBodies(tx, accountId, 'outbound', ofBodies)))
    return true
  const ofReplies = rangeOf(due.replyBodiesTo, before(due.replyBodyDays))
  if (await goOn(tx, accountId, 'reply_bodies_to', ofReplies, await dropBodies(tx, accountId, 'inbound', ofReplies)))
    return true
  const ofMessages = rangeOf(due.messagesTo, before(due.messageDays))
  if (
    due.isFirstOfMessages &&
    (await goOn(tx, accountId, 'messages_to', ofMessages, await deleteMessages(tx, accountId, ofMessages)))
  )
    return true
  if ((await deleteConversations(tx, accountId, before(due.messageDays))) > 0) return true
  if (!due.isFirstOfEvents) return false
  const ofEvents = rangeOf(due.eventsTo, before(due.eventDays))
  if (await goOn(tx, accountId, 'events_to', ofEvents, await deleteEvents(tx, accountId, ofEvents, pieceMax)))
    return true
  return (await deleteAttempts(tx, accountId, before(due.eventDays), pieceMax)) > 0
}

/** Ids of a batch, both exclusive; `next`: where the walk continues if the range is empty, null: nowhere. */
interface Range {
  after: string
  before: string
  next: string | null
}

/**
 * The next days of a walk: a statement is planned for each of its days, which are hundreds if a mark has not moved for long. The mark of an
 * empty account stays a day or two behind, so that a later walk finds late writes.
 */
function rangeOf(after: string, before: string): Range {
  const [from, to, first] = [timeOfId(after), timeOfId(before), firstDay()]
  const next = Math.min(Math.max(from, first ?? to) + walkDays * dayMs, to - dayMs)
  return next > from + dayMs ? { after, before: firstIdAt(next), next: firstIdAt(next) } : { after, before, next: null }
}

/** Moves a mark; false at the end of the walk. */
async function goOn(
  tx: Tx,
  accountId: string,
  mark: 'bodies_to' | 'reply_bodies_to' | 'messages_to' | 'events_to',
  { next }: Range,
  { lastId }: Walked,
): Promise<boolean> {
  const to = lastId ?? next
  if (to === null) return false
  await tx.query(`update retention_marks set ${mark} = $2 where account_id = $1`, [accountId, to])
  return true
}

/**
 * Removes the texts of a batch of messages in one direction, and of their events; messages that are not over lose theirs later. Locks the
 * messages that change; by primary key.
 */
async function dropBodies(tx: Tx, accountId: string, direction: 'outbound' | 'inbound', range: Range): Promise<Walked> {
  const [after, before] = [idSql(range.after), idSql(range.before)]
  const { rows } = await tx.query<Walked & { redacted: string[] }>({
    text: `
      with piece as materialized (
        select id, direction = $3 and ${hasText('m')} as is_due, ${isOver('m')} as is_over
        from messages m
        where account_id = $1
          and id > ${after}
          and id < ${before}
        order by id
        limit $2
      ), redacted as (
        update messages m
        set ${setsOfRedaction}
        from piece p
        where m.account_id = $1
          and m.id = p.id
          and m.id > ${after}
          and m.id < ${before}
          and p.is_due
          and p.is_over
        returning m.id
      ), noted as (
        insert into discards (account_id, message_id)
        select $1, id from piece where is_due and not is_over
        on conflict do nothing
      )
      select (select count(*)::int from piece) as count, (select id from piece order by id desc limit 1) as "lastId",
        array(select id from redacted) as redacted`,
    values: [accountId, pieceMax, direction],
  })
  const { count = 0, lastId = null, redacted = [] } = rows[0] ?? {}
  await changeEventsOf(tx, accountId, redacted, withoutTexts)
  return { count, lastId }
}

/** Deletes a batch of messages that are over, with their dependent rows; the others go when they are over. */
async function deleteMessages(tx: Tx, accountId: string, range: Range): Promise<Walked> {
  const [after, before] = [idSql(range.after), idSql(range.before)]
  const { rows } = await tx.query<Walked & { over: string[] }>({
    text: `
      with piece as materialized (
        select id, ${isOver('m')} as is_over
        from messages m
        where account_id = $1
          and id > ${after}
          and id < ${before}
        order by id
        limit $2
      ), noted as (
        insert into discards (account_id, message_id)
        select $1, id from piece where not is_over
        on conflict do nothing
      )
      select (select count(*)::int from piece) as count, (select id from piece order by id desc limit 1) as "lastId",
        array(select id from piece where is_over) as over`,
    values: [accountId, pieceMax],
  })
  const { count = 0, lastId = null, over = [] } = rows[0] ?? {}
  await lockDependents(
    tx,
    over.map((messageId) => ({ accountId, messageId })),
  )
  await deleteOver(tx, accountId, over)
  return { count, lastId }
}

/** Deletes messages that are over; the caller has locked their dependent rows. Locks them; by primary key. */
export async function deleteOver(tx: Tx, accountId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const days = within(spanOf(ids))
  await tx.query({
    text: `
      with outcome as (
        delete from outcomes
        where account_id = $1
          and status in (${ends})
          and message_id = any ($2::uuid[])
          and message_id ${days}
      )
      delete from messages
      where account_id = $1
        and id = any ($2::uuid[])
        and id ${days}`,
    values: [accountId, ids],
  })
  await deleteDependents(tx, accountId, ids)
}

/** The ledger's other rows on messages; each by a key that begins with account and message. */
async function deleteDependents(tx: Tx, accountId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const days = within(spanOf(ids))
  for (const table of ['submissions', 'nameless_tries', 'short_links', 'resends', 'discards', 'opt_out_suspicions'])
    await tx.query(
      `delete from ${table} where account_id = $1 and message_id = any ($2::uuid[]) and message_id ${days}`,
      [accountId, ids],
    )
}

/** Deletes a batch of conversations whose last reply is past retention. Index conversations_recent. */
async function deleteConversations(tx: Tx, accountId: string, before: string): Promise<number> {
  const { rowCount } = await tx.query({
    name: 'delete-conversations',
    text: `
      delete from conversations
      where account_id = $1
        and id in (
          select id
          from conversations
          where account_id = $1
            and last_reply_id < $2
          order by last_reply_id
          limit $3
        )`,
    values: [accountId, before, pieceMax],
  })
  return rowCount ?? 0
}
