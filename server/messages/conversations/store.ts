/** The SQL of conversations. Every query begins with the account. */
import type { Queryable, Tx } from '../../db/db.ts'
import { idSql, spanOf } from '../../db/span.ts'
import { timeOfId } from '../../ids.ts'
import { isSince } from '../../mark.ts'
import { wayOf, type Position } from '../../page.ts'
import { conversationIdOf } from './id.ts'
import type { MessageRow } from '../message.ts'

/** A row of `conversations`, with what `messages` says of it. */
export interface ConversationRow {
  id: string
  ourNumber: string
  theirNumber: string
  campaignId: string | null
  contactId: string | null
  unread: number
  assignee: string | null
  lastReplyId: string
  /** In either direction; null where the messages are no longer kept. */
  lastMessageId: string | null
  lastReplyAt: Date
  createdAt: Date
}

/** Which conversations; null: all. */
export interface ConversationFilters {
  isUnread: boolean | null
  /** A user; `none`: those that nobody looks after. */
  assignee: string | null
  ourNumber: string | null
  theirNumber: string | null
  /** Of the last reply that answered a message of a campaign. */
  campaignId: string | null
}

const selected = `id, our_number as "ourNumber", their_number as "theirNumber", campaign_id as "campaignId", contact_id as "contactId", unread,
  assignee, last_reply_id as "lastReplyId", created_at as "createdAt"`

type Stored = Omit<ConversationRow, 'lastReplyAt' | 'lastMessageId'>

/**
 * Conversations with their last messages. Those are never older than the last replies: only the days since then are looked at. Index
 * messages_their_number.
 */
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
    [
      accountId,
      stored.map(({ id }) => id),
      stored.map(({ theirNumber }) => theirNumber),
      stored.map(({ ourNumber }) => ourNumber),
      replies,
    ],
  )
  const last = new Map(rows.map(({ id, lastMessageId }) => [id, lastMessageId]))
  return stored.map((row) => ({
    ...row,
    lastMessageId: last.get(row.id) ?? null,
    lastReplyAt: new Date(timeOfId(row.lastReplyId)),
  }))
}

/** Adds a reply to its conversation, which begins with the first; a keyword is answered by Heliogram itself and needs no reader. Locks the row. */
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

/** Reads a conversation by its primary key. */
export async function findConversation(db: Queryable, accountId: string, id: string): Promise<ConversationRow | null> {
  const { rows } = await db.query<Stored>({
    name: 'find-conversation',
    text: `select ${selected} from conversations where account_id = $1 and id = $2`,
    values: [accountId, id],
  })
  return (await withLast(db, accountId, rows))[0] ?? null
}

/**
 * One page of conversations by their last replies, in the order that `buildPage` expects for these ids, with one row more than `limit`. One
 * of the indexes conversations_their_number, _campaign, _assignee, _unread, _our_number, _recent serves the narrowest filter; the others are checked
 * on the rows that it yields.
 */
export async function listConversations(
  db: Queryable,
  accountId: string,
  filters: ConversationFilters,
  position: Position | null,
  limit: number,
): Promise<ConversationRow[]> {
  const values: unknown[] = [accountId, limit + 1]
  const value = (one: unknown): string => `$${values.push(one)}`
  const where = ['account_id = $1']
  if (filters.theirNumber !== null) where.push(`their_number = ${value(filters.theirNumber)}`)
  if (filters.ourNumber !== null) where.push(`our_number = ${value(filters.ourNumber)}`)
  if (filters.campaignId !== null) where.push(`campaign_id = ${value(filters.campaignId)}`)
  if (filters.isUnread !== null) where.push(filters.isUnread ? 'unread > 0' : 'unread = 0')
  if (filters.assignee === 'none') where.push('assignee is null')
  else if (filters.assignee !== null) where.push(`assignee = ${value(filters.assignee)}`)
  const { beyond, order } = wayOf(position)
  if (position) where.push(`last_reply_id ${beyond} ${value(position.id)}`)
  if (position?.since) where.push(isSince('conversations', position.since.mark, value, 'last_reply_id'))
  const { rows } = await db.query<Stored>(
    `select ${selected}
     from conversations
     where ${where.join('\n       and ')}
     order by last_reply_id ${order}
     limit $2`,
    values,
  )
  return withLast(db, accountId, rows)
}

/** Says who looks after a conversation; null: nobody. Answers false for a user that the account does not have. Locks the row. */
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

/**
 * Takes replies up to a message for read: those after it still count. Locks the conversation first, so that no reply is counted before it is
 * seen. Indexes: primary key, messages_their_number.
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
