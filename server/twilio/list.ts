/** Lists of messages as Twilio pages them: by addresses of the next and the previous page. */
import type { Db } from '../ground/db/db.ts'
import { buildPage, readCursor, type Position } from '../ground/http/page.ts'
import { currentNumber } from '../ground/numbers/number.ts'
import type { MessageFilters, Stretch } from '../messages/list.ts'
import { WrongParameter } from './faults.ts'
import { messagesPath, renderTwilioMessage } from './resource.ts'
import { readTwilioTime } from './time.ts'

const sizeDefault = 50
const sizeMax = 1000
const dayMs = 86_400_000

export interface TwilioQuery {
  size: number
  page: number
  token: string | undefined
  /** As received, because the addresses of the pages repeat them. */
  filters: Record<string, string>
}

const filterNames = ['To', 'From', 'DateSent', 'DateSent<', 'DateSent>', 'DateSentBefore', 'DateSentAfter']

/** Reads the query. @throws WrongParameter */
export function readTwilioQuery(query: Record<string, unknown>): TwilioQuery {
  const text = (name: string): string | undefined => (typeof query[name] === 'string' ? query[name] : undefined)
  const whole = (name: string, fallback: number, max: number): number => {
    const given = text(name)
    if (given === undefined) return fallback
    if (!/^\d{1,9}$/.test(given)) throw new WrongParameter(20001, `'${name}' must be a whole number.`)
    return Math.min(Number(given), max)
  }
  const filters = Object.fromEntries(
    filterNames.flatMap((name) => {
      const value = text(name)
      return value === undefined || value === '' ? [] : [[name, value]]
    }),
  )
  return {
    size: Math.max(1, whole('PageSize', sizeDefault, sizeMax)),
    page: whole('Page', 0, Number.MAX_SAFE_INTEGER),
    token: text('PageToken'),
    filters,
  }
}

/**
 * Converts to filters of our own list. `DateSent` is compared with the time of creation, the order in which messages are stored. A number of the
 * account is matched on its own side, whether it is given as To or as From. By senders' unique numbers.
 */
export async function readTwilioFilters(
  db: Db,
  accountId: string,
  { filters }: TwilioQuery,
): Promise<Partial<MessageFilters>> {
  const digits = (name: string): string | null => filters[name]?.replace(/^[+ ]/, '') ?? null
  const [to, from] = [digits('To'), digits('From')]
  const ours = to === null && from === null ? [] : await findOurs(db, accountId, [to, from])
  const isOurs = (number: string | null): boolean => number !== null && ours.includes(number)
  const isInbound = isOurs(to) || (to === null && from !== null && !isOurs(from))
  const on = readDay(filters['DateSent'])
  const after = readDay(filters['DateSent>'] ?? filters['DateSentAfter'])
  const before = readDay(filters['DateSent<'] ?? filters['DateSentBefore'])
  return {
    ...((to !== null || from !== null) && { direction: isInbound ? 'inbound' : 'outbound' }),
    theirNumber: currentOf(isInbound ? from : to),
    ourNumber: isInbound ? to : from,
    createdAfter: on ?? after,
    createdBefore: on ? new Date(on.getTime() + dayMs) : before,
  }
}

const currentOf = (number: string | null): string | null => number && currentNumber(number)

async function findOurs(db: Db, accountId: string, numbers: readonly (string | null)[]): Promise<string[]> {
  const { rows } = await db.query<{ number: string }>(
    `select number from senders where account_id = $1 and number = any ($2::text[])`,
    [accountId, numbers],
  )
  return rows.map(({ number }) => number)
}

function readDay(text: string | undefined): Date | null {
  if (text === undefined) return null
  const day = readTwilioTime(text)
  if (!day) throw new WrongParameter(20001, "'DateSent' must be a day such as 2026-11-20, or an ISO 8601 time.")
  return day
}

export const positionOf = ({ token, filters }: TwilioQuery): Position | null => readCursor(token, filters)

export function renderTwilioPage(
  accountId: string,
  query: TwilioQuery,
  { rows, edge }: Stretch,
  position: Position | null,
): Record<string, unknown> {
  const { size, page, filters } = query
  const built = buildPage(rows, size, position, filters, { edge })
  const uri = (number: number, token?: string | null): string => {
    const pairs = { ...filters, PageSize: String(size), Page: String(number), ...(token && { PageToken: token }) }
    return `${messagesPath(accountId)}.json?${new URLSearchParams(pairs).toString()}`
  }
  return {
    messages: built.data.map(renderTwilioMessage),
    first_page_uri: uri(0),
    next_page_uri: built.next_cursor && uri(page + 1, built.next_cursor),
    previous_page_uri: built.prev_cursor && uri(Math.max(0, page - 1), built.prev_cursor),
    uri: uri(page, query.token),
    page,
    page_size: size,
    start: page * size,
    end: page * size + Math.max(0, built.data.length - 1),
  }
}
