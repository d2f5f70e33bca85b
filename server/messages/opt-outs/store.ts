/** Opt-outs as they are shown: one, a page, all of them. */
import { Type, type Static } from 'typebox'
import type { Db, Queryable } from '../../db/db.ts'
import { IdOf, Nullable, Timestamp, type Caller } from '../../http.ts'
import { showId } from '../../ids.ts'
import { maskNumber } from '../../mask.ts'
import { isSince } from '../../mark.ts'
import { wayOf, type Position } from '../../page.ts'
import type { Vault } from '../../sealing/vault.ts'
import { hashNumber } from './consent.ts'

/** An opt-out in answers. */
export const OptOut = Type.Object(
  {
    id: IdOf('opt', 'Id of the opt-out.'),
    object: Type.Literal('opt_out'),
    number: Nullable(
      Type.String({
        description: 'Digits; their middle is hidden without the scope contacts:read. Null: it was forgotten.',
        examples: ['15551230008'],
      }),
    ),
    source: Type.String({
      description: '`reply`, `api`, `import`, `consent` (came with a contact) or `review` (a suspicion was confirmed).',
    }),
    reason: Nullable(Type.String()),
    message: Nullable(Type.String({ description: 'The reply that said so.' })),
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
        and (number = $2 or number_hmac = $3)
      limit 1`,
    values: [accountId, number, hashNumber(vault, accountId, number)],
  })
  return rows[0] ?? null
}

/** One page by the primary key, in the order that `buildPage` expects, with one row more than `limit`. */
export async function listOptOuts(
  db: Queryable,
  accountId: string,
  limit: number,
  position: Position | null,
): Promise<OptOutRow[]> {
  const { beyond, order } = wayOf(position)
  const values: unknown[] = [accountId, position?.id ?? null, limit + 1]
  const since = position?.since && isSince('opt_outs', position.since.mark, (one) => `$${values.push(one)}`)
  const { rows } = await db.query<OptOutRow>({
    name: `list-opt-outs-${since ? 'since' : order}`,
    text: `
      select ${columns}
      from opt_outs
      where account_id = $1
        and ($2::uuid is null or id ${beyond} $2)
        ${since ? `and ${since}` : ''}
      order by id ${order}
      limit $3`,
    values,
  })
  return rows
}

// Short reads: a long snapshot would hold back the cleaning of every table.
const exportPageRows = 1000

/** All opt-outs of an account, newest first, a page at a time. */
export async function* readOptOuts(db: Db, accountId: string): AsyncGenerator<OptOutRow[]> {
  let position: Position | null = null
  for (;;) {
    const rows = await listOptOuts(db, accountId, exportPageRows - 1, position)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < exportPageRows) return
    position = { direction: 'before', id: last.id }
  }
}

/** The public form. Who may not read contacts sees only the ends of numbers. */
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
