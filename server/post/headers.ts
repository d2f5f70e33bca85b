/** An endpoint's own headers: their values are somebody's credentials, so they are sealed in the database and masked wherever they are shown. */
import type { Db } from '../ground/db/db.ts'
import { invalid } from '../ground/base/errors.ts'
import type { Vault } from '../ground/sealing/vault.ts'

/** Header names and their values. */
export type Headers = Record<string, string>

/** Shown instead of a value. In a change: unchanged. */
export const mask = '********'

const purposeOf = (endpointId: string): string => `webhooks.headers|${endpointId}`

/** The names with a mask for each value. */
export function maskHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, mask]))
}

/**
 * Headers with what is known in the place of masks; names are compared without case (RFC 9110 §5.1).
 * @throws ApiError `validation_failed` for a mask with nothing behind it.
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

/** Pointer to a header of a body (RFC 6901 §3). */
export function pointerOf(name: string): string {
  return `#/headers/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** What is stored of headers: masked ones to show, sealed ones to post with (null: none). */
export function sealHeaders(
  vault: Vault,
  endpointId: string,
  headers: Headers,
): { headers: Headers; sealedHeaders: Buffer | null } {
  const isNone = Object.keys(headers).length === 0
  const sealedHeaders = isNone ? null : vault.seal(JSON.stringify(headers), purposeOf(endpointId))
  return { headers: maskHeaders(headers), sealedHeaders }
}

/** The headers of a row; a row from before they were sealed has them in the clear. */
export function openHeaders(
  vault: Vault,
  row: { id: string; headers: Headers; sealedHeaders: Buffer | null },
): Headers {
  return row.sealedHeaders ? (JSON.parse(vault.open(row.sealedHeaders, purposeOf(row.id))) as Headers) : row.headers
}

/** Seals what an earlier version stored in the clear: at each start, before anything is posted. Reads the table once; it is small. */
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
