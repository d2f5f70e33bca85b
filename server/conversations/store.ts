/** The SQL of conversations. Every query begins with the account. */
import { fieldsOf } from '../ground/db/array.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { idSql, spanOf } from '../ground/db/span.ts'
import { timeOfId } from '../ground/base/ids.ts'
import type { Found, Position } from '../ground/http/page.ts'
import { findRows, type Search, type Value } from '../ground/http/search.ts'
import { conversationIdOf } from '../message/conversation-id.ts'
import type { MessageRow } from '../message/message.ts'

/** A row of `conversations`, with its last messages. */
export interface ConversationRow {
  id: string
  ourNumber: string
  theirNumber: string
  campaignId: string | null
  contactId: string | null
  unread: number
  assignee: string | null
  /** Null while it is open. */
  closedAt: Date | null
  /** A user or an API key, by public id. */
  closedBy: string | null
  lastReplyId: string
  /** In either direction; null if the messages are no longer kept. */
  lastMessageId: string | null
  lastReplyAt: Date
  createdAt: Date
}

/** Null means all. */
export interface ConversationFilters {
  isUnread: boolean | null
  isOpen: boolean | null
  /** A user; `none` selects unassigned ones. */
  assignee: string | null
  ourNumber: string | null
  theirNumber: string | null
  /** Of the last reply to a message of a campaign. */
  campaignId: string | null
}

const selected = `id, our_number as "ourNumber", their_number as "theirNumber", campaign_id as "campaignId", contact_id as "contactId", unread,
  assignee, closed_at as "closedAt", closed_by as "closedBy", last_reply_id as "lastReplyId", created_at as "createdAt"`

type Stored = Omit<ConversationRow, 'lastReplyAt' | 'lastMessageId'>

/** Adds the last messages. They are never older than the last replies, so only later days are read. Index messages_their_number. */
async function withLast(db: Queryable, accountId: string, stored: readonly Stored[]): Promise<ConversationRow[]> {
  if (stored.length === 0) return []
  const replies = stored.map(({ lastReplyId }) => lastReplyId)
  const { rows } = await db.query<{ id: string; lastMessageId: string }>(
    `select c.id, m.id as "lastMessageId"
     from unnest($2::uuid[], $3::text[], $4::text[], $5::uuid[]) as c (id, their_number, our_number, last_reply_id)
     cross join lateral (
       select id
       from messages
       where account_id = $1
         and their_number = c.their_number
         and our_number = c.our_number
         and id >= c.last_reply_id
         and id >= ${idSql(spanOf(replies).first)}
       order by id desc
       limit 1
     ) m`,
    [accountId, ...fieldsOf(stored, 'id', 'theirNumber', 'ourNumber'), replies],
  )
  const last = new Map(rows.map(({ id, lastMessageId }) => [id, lastMessageId]))
  return stored.map((row) => ({
    ...row,
    lastMessageId: last.get(row.id) ?? null,
    lastReplyAt: new Date(timeOfId(row.lastReplyId)),
  }))
}

/** The first reply creates its conversation. Keywords need no reader, because Heliogram answers them, and do not reopen it. Locks the row. */
export async function noteReply(tx: Tx, reply: MessageRow): Promise<void> {
  const { accountId, theirNumber, campaignId, contactId } = reply
  const ourNumber = reply.ourNumber ?? ''
  await tx.query({
    name: 'note-reply',
    text: `
      insert into conversations as c (account_id, id, our_number, their_number, last_reply_id, unread, campaign_id, contact_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8)
      on conflict (account_id, id) do update
      set last_reply_id = greatest(c.last_reply_id, excluded.last_reply_id),
        unread = c.unread + excluded.unread,
        closed_at = case when excluded.unread = 0 then c.closed_at end,
        closed_by = case when excluded.unread = 0 then c.closed_by end,
        campaign_id = coalesce(excluded.campaign_id, c.campaign_id),
        contact_id = coalesce(excluded.contact_id, c.contact_id)`,
    values: [
      accountId,
      conversationIdOf(accountId, ourNumber, theirNumber),
      ourNumber,
      theirNumber,
      reply.id,
      reply.keyword === null ? 1 : 0,
      campaignId,
      contactId,
    ],
  })
}

/** By primary key. */
export async function findConversation(db: Queryable, accountId: string, id: string): Promise<ConversationRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'find-conversation',
    text: `select ${selected} from conversations where account_id = $1 and id = $2`,
    values: [accountId, id],
  })
  return (await withLast(db, accountId, rows))[0] ?? null
}

/**
 * By last reply, in the order that `buildPage` expects; one more than `limit`. The narrowest filter is served by one of the indexes
 * conversations_their_number, _campaign, _assignee, _unread, _open, _closed, _our_number, _recent; the others are checked on a bounded
 * number of its rows.
 */
export async function listConversations(
  db: Queryable,
  accountId: string,
  filters: ConversationFilters,
  position: Position | null,
  limit: number,
): Promise<Found<ConversationRow>> {
  const [lead, ...others] = conditionsOf(filters)
  const isIndexed = lead?.isIndexed === true
  const search: Search = {
    table: 'conversations',
    columns: selected,
    accountId,
    by: 'last_reply_id',
    found: (value) => (isIndexed ? [lead.sql(value)] : []),
    matches: (value) => [...(lead && !isIndexed ? [lead] : []), ...others].map(({ sql }) => sql(value)),
  }
  const { rows, edge = null } = await findRows<Stored>(db, search, limit, position)
  return { rows: await withLast(db, accountId, rows), edge }
}

interface Condition {
  sql: (value: Value) => string
  /** An index has the matching rows in the order of their last replies. */
  isIndexed: boolean
}

/** Conditions of the filters, the narrowest first. */
function conditionsOf(filters: ConversationFilters): Condition[] {
  const { theirNumber, campaignId, assignee, isUnread, isOpen, ourNumber } = filters
  const equal = (column: string, wanted: string | null): Condition[] =>
    wanted === null ? [] : [{ sql: (value) => `t.${column} = ${value(wanted)}`, isIndexed: true }]
  const is = (wanted: boolean | null, yes: string, no: string, isNoIndexed: boolean): Condition[] =>
    wanted === null ? [] : [{ sql: () => (wanted ? yes : no), isIndexed: wanted || isNoIndexed }]
  return [
    ...equal('their_number', theirNumber),
    ...equal('campaign_id', campaignId),
    ...(assignee === 'none' ? [] : equal('assignee', assignee)),
    ...is(isUnread, 't.unread > 0', 't.unread = 0', false),
    ...is(isOpen, 't.closed_at is null', 't.closed_at is not null', true),
    ...equal('our_number', ourNumber),
    ...(assignee === 'none' ? [{ sql: () => 't.assignee is null', isIndexed: false }] : []),
  ].toSorted((a, b) => Number(b.isIndexed) - Number(a.isIndexed))
}

/** Null unassigns. False if the account does not have the user. Locks the row. */
export async function assignConversation(
  tx: Tx,
  accountId: string,
  id: string,
  assignee: string | null,
): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'assign-conversation',
    text: `
      update conversations
      set assignee = $3
      where account_id = $1
        and id = $2
        and ($3::uuid is null or exists (select from users where account_id = $1 and id = $3))`,
    values: [accountId, id, assignee],
  })
  return rowCount === 1
}

/** With `lastSeenId`, a conversation with a newer reply stays. Closing a closed one changes nothing. Locks the row. */
export async function setState(
  tx: Tx,
  accountId: string,
  id: string,
  change: { closedBy: string; lastSeenId: string | null } | 'open',
): Promise<void> {
  const { closedBy, lastSeenId } = change === 'open' ? { closedBy: null, lastSeenId: null } : change
  await tx.query({
    name: 'set-conversation-state',
    text: `
      update conversations
      set closed_at = case when $3::text is not null then now() end, closed_by = $3
      where account_id = $1
        and id = $2
        and (closed_at is null) = ($3::text is not null)
        and ($4::uuid is null or last_reply_id <= $4)`,
    values: [accountId, id, closedBy, lastSeenId],
  })
}

/**
 * Marks replies up to a message as read; later ones still count. Locks the conversation first, so that no reply is counted before it is
 * visible. Indexes: primary key, messages_their_number.
 */
export async function markRead(tx: Tx, accountId: string, id: string, lastReadId: string): Promise<void> {
  await tx.query('select from conversations where account_id = $1 and id = $2 for no key update', [accountId, id])
  await tx.query({
    name: 'mark-conversation-read',
    text: `
      update conversations c
      set unread = least(c.unread, (
        select count(*)
        from messages m
        where m.account_id = $1
          and m.their_number = c.their_number
          and m.our_number = c.our_number
          and m.direction = 'inbound'
          and m.keyword is null
          and m.id > $3
      ))
      where c.account_id = $1
        and c.id = $2
        and c.unread > 0`,
    values: [accountId, id, lastReadId],
  })
}
