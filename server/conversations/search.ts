/** Searches conversations by digits of the number or words of the last message. */
import type { Queryable } from '../ground/db/db.ts'
import type { Found, Position } from '../ground/http/page.ts'
import { readMessages } from '../message/store.ts'
import { listConversations, type ConversationFilters, type ConversationRow } from './store.ts'

// Rows per round, and rounds per page: texts may be encrypted, so this process compares them, not the database.
const roundRows = 200
const roundsMax = 10

/** Filters the result of `listConversations`; reads at most 2000. Without `hasBody`, only numbers are compared. */
export async function searchConversations(
  db: Queryable,
  accountId: string,
  filters: ConversationFilters,
  { search, hasBody }: { search: string; hasBody: boolean },
  position: Position | null,
  limit: number,
): Promise<Found<ConversationRow>> {
  const isMatch = matcherOf(search)
  const matching: ConversationRow[] = []
  let from = position
  for (let round = 0; round < roundsMax; round++) {
    const { rows, edge = null } = await listConversations(db, accountId, filters, from, roundRows)
    const looked = rows.slice(0, roundRows)
    const keys = looked.flatMap(({ lastMessageId: id }) => (id !== null && hasBody ? [{ accountId, id }] : []))
    const messages = await readMessages(db, keys)
    matching.push(
      ...looked.filter((row) => isMatch(row.theirNumber, messages.get(row.lastMessageId ?? '')?.body ?? '')),
    )
    if (matching.length > limit)
      return { rows: matching.slice(0, limit + 1), edge: matching[limit - 1]?.lastReplyId ?? null }
    const last = rows.length > roundRows ? (looked.at(-1)?.lastReplyId ?? null) : edge
    if (last === null) return { rows: matching }
    from = { direction: 'before', ...position, id: last }
  }
  return { rows: matching, edge: from?.id ?? null }
}

/** Matches all words or parts of words, without case and accents; or consecutive digits. */
function matcherOf(search: string): (number: string, text: string) => boolean {
  const words = fold(search).split(/\s+/).filter(Boolean)
  const digits = /^[-+().\s\d]+$/.test(search) ? search.replace(/\D/g, '') : ''
  return (number, text) => {
    if (digits !== '' && number.includes(digits)) return true
    const folded = fold(`${number} ${text}`)
    return words.length > 0 && words.every((word) => folded.includes(word))
  }
}

const fold = (text: string): string => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
