/** Conversations that a person looks for by what they remember: some digits of the number, or words of what was said last. */
import type { Queryable } from '../ground/db/db.ts'
import type { Found, Position } from '../ground/http/page.ts'
import { readMessages } from '../message/store.ts'
import { listConversations, type ConversationFilters, type ConversationRow } from './store.ts'

// Conversations looked at in a round, and rounds of a page: texts may be sealed, so that they are compared here and not by the database.
const roundRows = 200
const roundsMax = 10

/**
 * The conversations of a list that match, as `listConversations` answers them; at most 2000 are looked at. Without `hasBody` the texts are not
 * the caller's to read, and only numbers are compared.
 */
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

/** Whether a number or a text has what is looked for: all words, or parts of words, whatever the case and the accents; or digits in a row. */
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
