/** An endpoint's own headers: their values are credentials, so they are sealed in the database and masked on display. */
import type { Db } from '../ground/db/db.ts'
import { invalid } from '../ground/base/errors.ts'
import type { Vault } from '../ground/sealing/vault.ts'

export type Headers = Record<string, string>

/** Shown instead of a value. In a change: unchanged. */
export const mask = '********'

const purposeOf = (endpointId: string): string => `webhooks.headers|${endpointId}`

/** The names with a mask for each value. */
export function maskHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, mask]))
}

/**
 * Replaces masks by known values; names are compared without case (RFC 9110 §5.1). @throws ApiError `validation_failed` for a mask without a known
 * value.
 */
export function fillHeaders(given: Headers, known: Headers): Headers {
  const byName = new Map(Object.entries(known).map(([name, value]) => [name.toLowerCase(), value]))
  const filled = Object.entries(given).map(([name, value]): [string, string] => {
    if (value !== mask) return [name, value]
    const before = byName.get(name.toLowerCase())
    if (before !== undefined) return [name, before]
    const detail = `${mask} keeps the existing value, and there is none.`
    throw invalid([{ pointer: pointerOf(name), code: 'invalid_value', detail }])
  })
  return Object.fromEntries(filled)
}

/** JSON pointer to a header in a body (RFC 6901 §3). */
export function pointerOf(name: string): string {
  return `#/headers/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Headers for storage: masked for display, sealed for posts (null: none). */
export function sealHeaders(
  vault: Vault,
  endpointId: string,
  headers: Headers,
): { headers: Headers; sealedHeaders: Buffer | null } {
  const isNone = Object.keys(headers).length === 0
  const sealedHeaders = isNone ? null : vault.seal(JSON.stringify(headers), purposeOf(endpointId))
  return { headers: maskHeaders(headers), sealedHeaders }
}

/** The headers of a row; old rows have them in plain text. */
export function openHeaders(
  vault: Vault,
  row: { id: string; headers: Headers; sealedHeaders: Buffer | null },
): Headers {
  return row.sealedHeaders ? (JSON.parse(vault.open(row.sealedHeaders, purposeOf(row.id))) as Headers) : row.headers
}

/** Seals headers that an earlier version stored in plain text: at each start, before any post. Reads the table once; it is small. */
export async function sealPlainHeaders(db: Db, vault: Vault): Promise<void> {
  const { rows } = await db.query<{ accountId: string; id: string; headers: Headers }>(
    `select account_id as "accountId", id, headers from webhooks where sealed_headers is null and headers <> '{}'::jsonb`,
  )
  for (const { accountId, id, headers } of rows) {
    const sealed = sealHeaders(vault, id, headers)
    // By primary key; another process may have been faster.
    await db.query(
      `update webhooks set headers = $3, sealed_headers = $4 where account_id = $1 and id = $2 and sealed_headers is null`,
      [accountId, id, sealed.headers, sealed.sealedHeaders],
    )
  }
}
