/** Erases a person from messages: their number, the text and the sender's data on them go, but the messages still count. */
import type { Tx } from '../ground/db/db.ts'
import type { Needs } from '../events/events.ts'
import { changeEventsOf, changeLooseEvents, type Change } from '../events/events-redact.ts'
import { blurFingerprints, eraseAnswers } from './idempotency-erase.ts'
import { cancelWaiting } from '../messages/cancel.ts'
import type { EraseStep, Subject } from '../events/face.ts'
import { recordMoves } from '../message/moved.ts'
import { erasedMark } from '../message/message.ts'
import { forgetNumber } from '../opt-outs/opt-out.ts'
import { mapObjects, setsOfRedaction, withoutTexts } from '../message/redact.ts'
import { forgetAnswers } from '../webhooks/erase.ts'
import { lockDependents } from './dependents.ts'

const noId = '00000000-0000-0000-0000-000000000000'
const cancelMax = 100
const messagesMax = 50
const looseMax = 500
const answersMax = 500

/** The first and last steps of an erasure; the rooms' steps are between. The last ones check data that the others may have written. */
export function messageSteps(context: Needs<'vault' | 'outbox' | 'subscriptions' | 'meter'>): {
  first: EraseStep[]
  last: EraseStep[]
} {
  const { vault } = context
  const cancel: EraseStep = {
    name: 'waiting',
    async run(tx, { accountId, number }) {
      const moved = await cancelWaiting(tx, accountId, { theirNumber: number, limit: cancelMax })
      const postings = await recordMoves(tx, moved, context)
      return { next: moved.length < cancelMax ? null : 'more', erased: { canceled: moved.length }, postings }
    },
  }
  const eraseEvents = async (tx: Tx, { accountId, number }: Subject, ids: readonly string[]): Promise<number> => {
    const events = await changeEventsOf(tx, accountId, ids, withoutPerson(number))
    await forgetAnswers(tx, accountId, events, number)
    return events.length
  }
  const messages: EraseStep = {
    name: 'messages',
    async run(tx, subject) {
      const ids = await eraseMessages(tx, subject)
      await blurFingerprints(tx, subject.accountId, ids)
      const erased = { messages: ids.length, events: await eraseEvents(tx, subject, ids) }
      return { erased, next: ids.length < messagesMax ? null : 'more' }
    },
  }
  // Locked before messages elsewhere; and data that was recorded, posted and answered during the erasure.
  const echoes: EraseStep = {
    name: 'echoes',
    async run(tx, subject, after) {
      const ids = await findErased(tx, subject, after || noId)
      await eraseDependents(tx, subject.accountId, ids)
      await eraseEvents(tx, subject, ids)
      return { next: ids.length < messagesMax ? null : (ids.at(-1) ?? null) }
    },
  }
  const conversations: EraseStep = {
    name: 'conversations',
    async run(tx, subject) {
      const { accountId, number } = subject
      // By conversations_their_number; and the opt-out, by its keys.
      const { rowCount } = await tx.query(`delete from conversations where account_id = $1 and their_number = $2`, [
        accountId,
        number,
      ])
      await forgetNumber(tx, vault, accountId, number)
      return { erased: { conversations: rowCount ?? 0 }, next: null }
    },
  }
  const events: EraseStep = {
    name: 'events',
    async run(tx, { accountId, number }, after) {
      const from = after || noId
      const { changed, next } = await changeLooseEvents(tx, accountId, from, looseMax, withoutPerson(number))
      await forgetAnswers(tx, accountId, changed, number)
      return { erased: { events: changed.length }, next }
    },
  }
  const answers: EraseStep = {
    name: 'answers',
    async run(tx, { accountId, number }, after) {
      const { count, next } = await eraseAnswers(tx, vault, accountId, number, after, answersMax)
      return { erased: { answers: count }, next }
    },
  }
  const rest: EraseStep = {
    name: 'rest',
    run: async (tx, subject) => ({ next: null, isWaiting: await isLeft(tx, subject) }),
  }
  return { first: [cancel, messages, conversations], last: [echoes, events, answers, rest] }
}

/** Erases the person from a batch of messages not in flight; returns their ids. Locks them, skipping locked ones; index messages_their_number. */
async function eraseMessages(tx: Tx, { accountId, erasureId, number, untilId }: Subject): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'erase-messages',
    text: `
      with piece as materialized (
        select id
        from messages
        where account_id = $1
          and their_number = $2
          and id < $3
          and status not in ('scheduled', 'queued', 'sending')
        order by id
        limit $4
        for update skip locked
      )
      update messages m
      set their_number = $5,
        number_hmac = null,
        contact_id = null,
        metadata = null,
        tags = array(select tag from unnest(m.tags) as t (tag) where position($2 in tag) = 0),
        callback_url = case when position($2 in m.callback_url) = 0 then m.callback_url end,
        error_raw = case when position($2 in m.error_raw) = 0 then m.error_raw end,
        ${setsOfRedaction}
      from piece p
      where m.account_id = $1
        and m.id = p.id
      returning m.id`,
    values: [accountId, number, untilId, messagesMax, erasedMark(erasureId)],
  })
  return rows.map(({ id }) => id)
}

/** A batch of messages of this erasure, by the mark that replaced their number. Index messages_their_number. */
async function findErased(tx: Tx, { accountId, erasureId }: Subject, after: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'find-erased-messages',
    text: `
      select id
      from messages
      where account_id = $1
        and their_number = $2
        and id > $3
      order by id
      limit $4`,
    values: [accountId, erasedMark(erasureId), after, messagesMax],
  })
  return rows.map(({ id }) => id)
}

/**
 * Erases the ledger's other rows on messages, each by a key that begins with account and message. Locks no message, because matching locks
 * receipts before their messages.
 */
async function eraseDependents(tx: Tx, accountId: string, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await lockDependents(
    tx,
    ids.map((messageId) => ({ accountId, messageId })),
  )
  const ofThese = 'account_id = $1 and message_id = any ($2::uuid[])'
  for (const table of ['nameless_tries', 'short_links', 'discards'])
    await tx.query(`delete from ${table} where ${ofThese}`, [accountId, ids])
  await tx.query(
    `update receipts set source = null, destination = null where ${ofThese} and message_id is not null and source is not null`,
    [accountId, ids],
  )
}

/** Whether rows remain that will go without this erasure: messages in flight, and the opt-out while claims may need it. */
async function isLeft(tx: Tx, { accountId, number, untilId }: Subject): Promise<boolean> {
  const { rows } = await tx.query<{ isLeft: boolean }>({
    name: 'is-number-left',
    text: `
      select exists (select from messages where account_id = $1 and their_number = $2 and id < $3)
        or exists (select from opt_outs where account_id = $1 and number = $2) as "isLeft"`,
    values: [accountId, number, untilId],
  })
  return rows[0]?.isLeft ?? true
}

/** An event's `data` without texts and the person's data. */
export function withoutPerson(number: string): Change {
  const scrub = (value: unknown): unknown => {
    if (typeof value === 'string' || typeof value === 'number') return String(value).includes(number) ? null : value
    if (Array.isArray(value)) return value.map(scrub)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, scrub(one)]))
  }
  return (data) => {
    const bare = mapObjects(withoutTexts(data), (object) =>
      object['object'] === 'message' ? { ...object, ...withoutTies(object) } : object,
    )
    return scrub(bare)
  }
}

/** The id of a conversation is a hash of its two numbers: all numbers could be tried against it. */
const withoutTies = (message: Record<string, unknown>): Record<string, unknown> => ({
  contact: null,
  ...('metadata' in message && { metadata: {} }),
  ...('conversation' in message && { conversation: null }),
})
