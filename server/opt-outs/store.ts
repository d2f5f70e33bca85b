/** Reads opt-outs: one, a page, all of them. */
import { Type, type Static } from 'typebox'
import type { Db, Queryable } from '../ground/db/db.ts'
import { IdOf, Nullable, Timestamp, type Caller } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { maskNumber } from '../ground/base/mask.ts'
import type { Found, Position } from '../ground/http/page.ts'
import { findRows, hasWords, isCreatedIn, type Search } from '../ground/http/search.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { hashForms } from '../message/consent.ts'

export const optOutSources = ['reply', 'api', 'import', 'consent', 'review', 'carrier'] as const

export const OptOut = Type.Object(
  {
    id: IdOf('opt', 'Id of the opt-out.'),
    object: Type.Literal('opt_out'),
    number: Nullable(
      Type.String({
        description: 'Digits; masked without the scope contacts:read. Null: it was forgotten.',
        examples: ['15551230008'],
      }),
    ),
    source: Type.String({
      description:
        '`reply`, `api`, `import`, `consent` (came with a contact), `review` (a suspected opt-out was confirmed) or `carrier` (it refused a message because of an opt-out).',
    }),
    reason: Nullable(Type.String()),
    message: Nullable(Type.String({ description: 'The reply, or the message that the carrier refused.' })),
    created_at: Timestamp('Since when nothing is sent to the number.'),
  },
  { $id: 'OptOut' },
)

/** A row of `opt_outs`; number null: forgotten, or about to be. */
export interface OptOutRow {
  id: string
  number: string | null
  source: string
  reason: string | null
  messageId: string | null
  createdAt: Date
}

const columns = `id, case when number_hmac is null then number end as number, source, reason, message_id as "messageId",
  created_at as "createdAt"`

/** The opt-out of a number, forgotten or not, by the unique keys. */
export async function findOptOut(
  db: Queryable,
  vault: Vault,
  accountId: string,
  number: string,
): Promise<OptOutRow | null> {
  const { rows } = await db.query<OptOutRow>({
    name: 'find-opt-out',
    text: `
      select ${columns}
      from opt_outs
      where account_id = $1
        and (number = $2 or number_hmac = any ($3))
      limit 1`,
    values: [accountId, number, hashForms(vault, accountId, number)],
  })
  return rows[0] ?? null
}

export interface OptOutFilters {
  /** Its opt-out, forgotten or not. */
  number: { number: string; hashes: Buffer[] } | null
  source: string | null
  /** Words of it. */
  reason: string | null
  createdAfter: Date | null
  createdBefore: Date | null
}

const allOptOuts: OptOutFilters = { number: null, source: null, reason: null, createdAfter: null, createdBefore: null }

/**
 * One page in the order that `buildPage` expects, with one row more than `limit`. By the primary key, opt_outs_source or the unique keys of numbers;
 * reasons are searched in a bounded number of rows.
 */
export function listOptOuts(
  db: Queryable,
  accountId: string,
  { number, source, reason, createdAfter, createdBefore }: OptOutFilters,
  limit: number,
  position: Position | null,
): Promise<Found<OptOutRow>> {
  const search: Search = {
    table: 'opt_outs',
    columns,
    accountId,
    found: (value) => [
      ...isCreatedIn(createdAfter, createdBefore, value),
      ...(number ? [`(t.number = ${value(number.number)} or t.number_hmac = any (${value(number.hashes)}))`] : []),
      ...(source === null ? [] : [`t.source = ${value(source)}`]),
    ],
    matches: (value) => (reason === null ? [] : hasWords('t.reason', reason, value)),
  }
  return findRows(db, search, limit, position)
}

// Short reads: a long snapshot would block the vacuum of every table.
const exportPageRows = 1000

/** All opt-outs of an account, newest first, a page at a time. */
export async function* readOptOuts(db: Db, accountId: string): AsyncGenerator<OptOutRow[]> {
  let position: Position | null = null
  for (;;) {
    const { rows }: Found<OptOutRow> = await listOptOuts(db, accountId, allOptOuts, exportPageRows - 1, position)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < exportPageRows) return
    position = { direction: 'before', id: last.id }
  }
}

/** A caller who may not read contacts sees only the ends of numbers. */
export function showOptOut(row: OptOutRow, caller: Pick<Caller, 'scopes'>): Static<typeof OptOut> {
  return {
    id: showId('opt', row.id),
    object: 'opt_out',
    number: row.number && (caller.scopes.has('contacts:read') ? row.number : maskNumber(row.number)),
    source: row.source,
    reason: row.reason,
    message: row.messageId && showId('msg', row.messageId),
    created_at: row.createdAt.toISOString(),
  }
}
