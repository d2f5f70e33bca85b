/** Erases a person from idempotency keys: from sealed responses, and hashes of requests with their number. */
import type { Tx } from '../ground/db/db.ts'
import { timeOfId } from '../ground/base/ids.ts'
import { purposeOf } from '../ground/http/idempotency.ts'
import type { Vault } from '../ground/sealing/vault.ts'

// A key is written with its message; allows for clock differences and slow statements.
const beforeMs = 60_000
const afterMs = 300_000

/**
 * Blurs the fingerprints of some messages' sends: these are hashes of requests, and someone who knows the rest could try all numbers. The
 * keys still refuse repetition, because no request has the new fingerprint. One message at a time, by the time of its key (index
 * idempotency_keys_created_at).
 */
export async function blurFingerprints(tx: Tx, accountId: string, messageIds: readonly string[]): Promise<void> {
  for (const id of messageIds)
    await tx.query({
      name: 'blur-fingerprint',
      text: `
        with found as materialized (
          select operation, key
          from idempotency_keys
          where created_at >= $3
            and created_at < $4
            and resource_id = $2
        )
        update idempotency_keys k
        set fingerprint = ''
        from found f
        where k.account_id = $1
          and k.operation = f.operation
          and k.key = f.key`,
      values: [accountId, id, new Date(timeOfId(id) - beforeMs), new Date(timeOfId(id) + afterMs)],
    })
}

/**
 * Searches a batch of the account's stored responses, and deletes those with the number, and their fingerprints: their keys are refused
 * from then on. `next` is null after the last. By primary key, operation by operation; skips sends, which store no responses.
 */
export async function eraseAnswers(
  tx: Tx,
  vault: Vault,
  accountId: string,
  number: string,
  after: string,
  limit: number,
): Promise<{ count: number; next: string | null }> {
  const [operation = '', key = ''] = after === '' ? [] : (JSON.parse(after) as string[])
  if (sends.has(operation)) return { count: 0, next: await nextOperation(tx, accountId, operation) }
  const { rows } = await tx.query<{ key: string; response: string | null }>({
    name: 'read-answers',
    text: `
      select key, response
      from idempotency_keys
      where account_id = $1
        and operation = $2
        and key > $3
      order by key
      limit $4`,
    values: [accountId, operation, key, limit],
  })
  const mayHold = (key: string, response: string): boolean => {
    try {
      return vault.open(Buffer.from(response, 'base64'), purposeOf(accountId, operation, key)).includes(number)
    } catch {
      // Its data key is lost: it cannot be searched, and is no use as a response.
      return true
    }
  }
  const found = rows.flatMap(({ key, response }) => (response !== null && mayHold(key, response) ? [key] : []))
  if (found.length > 0)
    await tx.query({
      name: 'erase-answers',
      text: `
        update idempotency_keys
        set response = null, fingerprint = ''
        where account_id = $1
          and operation = $2
          and key = any ($3::text[])`,
      values: [accountId, operation, found],
    })
  const last = rows.at(-1)
  const next =
    last && rows.length === limit
      ? JSON.stringify([operation, last.key])
      : await nextOperation(tx, accountId, operation)
  return { count: found.length, next }
}

/** Operations whose keys belong to a message and hold no response: most keys. */
const sends: ReadonlySet<string> = new Set([
  'messages.send',
  'messages.batch',
  'conversations.reply',
  'smpp.submit',
  'twilio.answer',
])

/** The account's next operation with keys; one probe of the primary key. */
async function nextOperation(tx: Tx, accountId: string, after: string): Promise<string | null> {
  const { rows } = await tx.query<{ operation: string }>({
    name: 'next-operation',
    text: `
      select operation
      from idempotency_keys
      where account_id = $1
        and operation > $2
      order by operation
      limit 1`,
    values: [accountId, after],
  })
  return rows[0] ? JSON.stringify([rows[0].operation, '']) : null
}
