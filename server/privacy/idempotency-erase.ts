/** What idempotency keys hold of a person who is erased: sealed answers, and hashes of requests that had a number in them. */
import type { Tx } from '../ground/db/db.ts'
import { timeOfId } from '../ground/base/ids.ts'
import { purposeOf } from '../ground/http/idempotency.ts'
import type { Vault } from '../ground/sealing/vault.ts'

// A key is written with its message; clocks of two machines, and a slow statement, are in between.
const beforeMs = 60_000
const afterMs = 300_000

/**
 * Blurs the fingerprints of the sends of some messages: they are hashes of requests, which whoever knows the rest of could try all numbers
 * against. Their keys refuse on, because no request has this fingerprint. A message at a time, by the time of its key (index
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
 * Looks through a piece of the account's stored answers, and takes away those with the number in them, with their fingerprints: their keys
 * are refused from then on. `next` is null behind the last. By primary key, an operation after the other; sends store no answers and are
 * passed over.
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
      // Sealed with a key that is lost: nobody can say what is in it, and it is no answer to anybody any more.
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

/** Operations whose keys stand for a message and hold no answer: most keys are theirs. */
const sends: ReadonlySet<string> = new Set([
  'messages.send',
  'messages.batch',
  'conversations.reply',
  'smpp.submit',
  'twilio.answer',
])

/** Where the next operation begins that the account has keys of; one probe of the primary key. */
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
