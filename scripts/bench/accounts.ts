/**
 * A service with thousands of accounts, each with a key, a webhook and campaigns, a third with guards and a third with quiet hours, against one
 * with a single account. The messages of a run are spread over all accounts.
 */
import { Client } from 'pg'
import { hashToken, newKey } from '../../server/accounts/token.ts'
import { scopes } from '../../server/ground/http/http.ts'
import { newId } from '../../server/ground/base/ids.ts'
import { compare, runInTurns, type Comparison, type Side } from './comparison.ts'
import { moveProduct } from './cores.ts'
import { queryOnce, startDatabase } from './database.ts'
import { createApi, createHeliogram, keyOf, type Started } from './heliogram.ts'
import type { Options } from './options.ts'
import { readRestPercent, waitUntil } from './product.ts'
import { runOnce, startStage, stopStage } from './run.ts'
import { quantile } from './tally.ts'

export const accountCount = 2000

const asks = 20

interface Result {
  messagesPerSecond: number
  cpuUsPerMessage: number
  /** CPU at rest, in percent of a core. */
  restPercent: number
  /** Creating a webhook. */
  webhookMs: number
}

/** Each side has its own PostgreSQL, so that neither pays for the other's idle load. */
export async function compareAccounts({ pairs, seconds, connections }: Options): Promise<Comparison[]> {
  const databases = [await startDatabase(), await startDatabase()]
  const stage = await startStage()
  const started: Started[] = []
  try {
    for (const database of databases) started.push(await createHeliogram(database).start(stage.ends))
    const [many, one] = started
    if (!many || !one) throw new Error('both are started')
    for (const { rootPids } of started) moveProduct(rootPids)
    const keys = await makeAccounts(many.databaseUrl)
    const { port } = many.request
    const urlOf = (n: number): string => `http://127.0.0.1:${stage.ends.receiverPort}/callbacks/${n}`
    const events = ['message.delivered', 'message.failed']
    for (const [n, key] of keys.entries()) await createApi(port, key)('POST', '/v1/webhooks', { url: urlOf(n), events })
    const request = { ...many.request, headers: { ...many.request.headers, authorization: 'Bearer {key}' }, keys }
    // Each of these webhooks has its own secret, so signatures are verified on the other side only.
    const { marker, delivered, isBatch = false } = many.callback
    const products = { ours: { ...many, request, callback: { marker, delivered, isBatch } }, theirs: one }
    const ask = { ours: createApi(port, keys[0] ?? ''), theirs: createApi(one.request.port, keyOf(one)) }
    for (const side of ['ours', 'theirs'] as const) await runOnce(stage, products[side], { size: 20_000, connections })
    const { messagesPerSecond } = await runOnce(stage, products.theirs, { size: 20_000, connections })
    const size = Math.ceil((messagesPerSecond * seconds) / 1000) * 1000
    // Idle time starts after the first hourly look at each account's retention.
    const looked = async (): Promise<boolean> =>
      (await queryOnce(many.databaseUrl, 'select count(*) from retention_marks where due_at <= now()')) === 0
    await waitUntil('the retention of all accounts', looked)
    const run = async (side: Side): Promise<Result> => {
      const full = await runOnce(stage, products[side], { size, connections })
      const tookMs: number[] = []
      for (let n = 0; n < asks; n++) {
        const startedAt = performance.now()
        const made = await ask[side]('POST', '/v1/webhooks', { url: urlOf(n), events: ['campaign.completed'] })
        tookMs.push(performance.now() - startedAt)
        await ask[side]('DELETE', `/v1/webhooks/${String(made?.['id'])}`)
      }
      const restPercent = await readRestPercent(products[side])
      const result = { ...full, webhookMs: quantile(tookMs, 0.5), restPercent }
      console.log(`${side}: ${JSON.stringify(result)}`)
      return result
    }
    const results = await runInTurns(pairs, run)
    return [
      compare(results, { what: 'end to end', unit: 'messages/s', better: 'more' }, (r) => r.messagesPerSecond),
      compare(results, { what: 'CPU', unit: 'µs/message', better: 'less' }, (r) => r.cpuUsPerMessage),
      compare(results, { what: 'at rest', unit: '% of a core', better: 'less' }, (r) => r.restPercent),
      compare(results, { what: 'making a webhook', unit: 'ms', better: 'less' }, (r) => r.webhookMs),
    ]
  } finally {
    for (const running of started.reverse()) await running.stop()
    await stopStage(stage)
    for (const database of databases) await database.stop()
  }
}

/** Creates the accounts below the operator's; returns a key of each. */
async function makeAccounts(url: string): Promise<string[]> {
  const ids = Array.from({ length: accountCount }, () => newId())
  const keys = ids.map(() => newKey('live'))
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(
      `insert into accounts (id, name, parent_id, settings, quiet_hours)
       select a.id, 'Account ' || n, (select id from accounts),
         case n % 3 when 0 then '{"guards":{"daily_segments":10000000,"per_prefix_per_hour":1000000}}'::jsonb else '{}' end,
         case n % 3 when 1 then '{"enabled":true,"start":"21:00","end":"08:00"}'::jsonb end
       from unnest($1::uuid[]) with ordinality as a (id, n)`,
      [ids],
    )
    await client.query(
      `insert into api_keys (account_id, id, public_id, secret_hash, name, scopes)
       select k.*, 'Key', $5 from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[]) as k`,
      [
        ids,
        ids.map(() => newId()),
        keys.map(({ publicId }) => publicId),
        keys.map(({ key }) => hashToken(key)),
        scopes,
      ],
    )
    await client.query(
      `insert into campaigns (account_id, id, key, name, quiet_hours)
       select a.id, gen_random_uuid(), 'campaign-' || n, 'Campaign ' || n,
         case n when 1 then '{"enabled":true,"start":"22:00","end":"07:00"}'::jsonb end
       from unnest($1::uuid[]) as a (id), generate_series(1, 5) as n`,
      [ids],
    )
  } finally {
    await client.end()
  }
  return keys.map(({ key }) => key)
}
