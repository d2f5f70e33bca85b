import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildTestApp, createTestAccount } from '../accounts/testing.ts'
import { parse } from 'csv-parse/sync'
import { openPool } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { scopes } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import { messageRoutes } from './http.ts'
import { openLedgerTest } from './testing.ts'
import { until } from '../../test/until.ts'

// A million on request; growth shows with fewer, too.
const many = Number(process.env['HELIOGRAM_TEST_EXPORT_ROWS'] ?? 200_000)

const database = await createTestDatabase()
const { db, sql } = database
const account = await createTestAccount(db)
const full = await createTestAccount(db)
const test = await openLedgerTest(db, { accountId: account.accountId })
const reading = openPool(database.connection, { name: 'export', max: 4 })
const app = await buildTestApp(reading, (one) => messageRoutes(one, { ...test.routeContext, db: reading }))
await app.listen({ host: '127.0.0.1', port: 0 })
const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/v1/messages/export`
await test.send({ body: '=1+1', theirNumber: '15551230001', tags: ['a', 'b'], metadata: { order: '7' } })
await test.send({ body: 'two, "quoted"\nlines', theirNumber: '15551230002', type: 'otp' })
await test.send({ body: 'three', theirNumber: '15551230003' })
afterAll(() => reading.end())

describe('an export', () => {
  it('has one message per line, oldest first, as in responses', async () => {
    const answer = await ask('')
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="messages.ndjson"')
    const lines = (await answer.text()).trimEnd().split('\n')
    const messages = lines.map((line) => JSON.parse(line) as { id: string; message: string })
    expect(messages.map(({ message }) => message)).toEqual(['=1+1', 'two, "quoted"\nlines', 'three'])
    const list = await app.inject({ url: '/v1/messages?sort=created_at', headers: account.headers })
    expect(messages).toEqual(list.json<{ data: unknown[] }>().data)
  })

  it('is CSV on request, with no formulas for a spreadsheet', async () => {
    for (const answer of [await ask('?format=csv'), await ask('', { ...account.headers, accept: 'text/csv' })]) {
      expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8')
      const rows = parse(await answer.text(), { columns: true }) as Record<string, string>[]
      expect(rows.map(({ message, to, type }) => [message, to, type])).toEqual([
        ["'=1+1", '15551230001', 'transactional'],
        ['two, "quoted"\nlines', '15551230002', 'otp'],
        ['three', '15551230003', 'transactional'],
      ])
      expect(rows[0]).toMatchObject({ tags: 'a,b', metadata: '{"order":"7"}', error_code: '', status: 'queued' })
    }
  })

  it('shows in CSV which carrier took a message, and its price', async () => {
    const { id } = await test.send({ theirNumber: '15551230004' })
    const set = (fields: string): Promise<unknown> =>
      db.query(
        `update messages set carrier_id = $2, cost = '0.00790', cost_currency = 'USD', cost_carrier_id = $2, ${fields} where id = $1`,
        [id, test.carrierId],
      )
    const read = async (): Promise<unknown> =>
      parse(await (await ask('?format=csv&to=15551230004')).text(), { columns: true })
    await set('sent_at = null')
    const estimated = { price: '', price_currency: '', estimated_price: '0.00790', estimated_price_currency: 'USD' }
    expect(await read()).toMatchObject([{ carrier: showId('car', test.carrierId), ...estimated }])
    await set('sent_at = now()')
    expect(await read()).toMatchObject([{ ...estimated, price: '0.00790', price_currency: 'USD' }])
    await sql`delete from messages where id = ${id}`
  })

  it('accepts and refuses the same filters as the list', async () => {
    expect((await (await ask('?type=otp')).text()).split('\n')).toHaveLength(2)
    expect((await ask('?campaign=none')).status).toBe(422)
    expect((await ask('?to=abc')).status).toBe(422)
    expect((await ask('?tag=x')).status).toBe(422)
    expect((await ask('?limit=5')).status).toBe(422)
  })

  it('has texts only for callers who may read them', async () => {
    const reader = await createTestAccount(db, { scopes: ['messages:read'] })
    await sql`update api_keys set account_id = ${account.accountId} where id = ${reader.keyId}`
    for (const query of ['', '?format=csv']) {
      const text = await (await ask(query, reader.headers)).text()
      expect(text).toContain('15551230003')
      expect(text).not.toContain('three')
    }
    const none = await createTestAccount(db, { scopes: scopes.filter((scope) => scope !== 'messages:read') })
    expect((await ask('', none.headers)).status).toBe(403)
  })
})

describe('a long export', () => {
  beforeAll(() => fill(full.accountId, many))

  it('is complete, in constant memory', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const used = (): number => {
      collect()
      const { heapUsed, external } = process.memoryUsage()
      return heapUsed + external
    }
    const response = await open(full.headers)
    let lines = 0
    let bytes = 0
    let most = 0
    const before = used()
    const began = performance.now()
    let nextLook = 8 << 20
    for await (const chunk of response as AsyncIterable<Buffer>) {
      lines += chunk.toString('latin1').split('\n').length - 1
      bytes += chunk.length
      if (bytes < nextLook) continue
      nextLook = bytes + (32 << 20)
      most = Math.max(most, used() - before)
    }
    expect(lines).toBe(many)
    expect(bytes).toBeGreaterThan(many * 500)
    expect(most).toBeLessThan(24 << 20)
    const seconds = (performance.now() - began) / 1000
    console.log(
      `${Math.round(many / seconds)} rows/s, ${Math.round(bytes / seconds / 1e6)} MB/s, ${Math.round(most / 1e6)} MB more`,
    )
  }, 300_000)

  const pagesRead = async (): Promise<number> => {
    const [row] = await sql<{ scans: number }>`select coalesce(sum(idx_tup_fetch + idx_tup_read), 0)::float8 as scans
      from pg_stat_user_indexes where relname like 'messages%'`
    return row?.scans ?? 0
  }
  const isIdle = async (): Promise<boolean> => {
    const { rowCount } = await db.query(
      `select from pg_stat_activity where application_name = 'heliogram export' and datname = current_database() and state <> 'idle'`,
    )
    return rowCount === 0
  }

  it('waits for its reader without a transaction, and ends with it', async () => {
    const response = await open(full.headers)
    await once(response, 'readable')
    await until('the export waits', async () => {
      const read = reading.totalCount > 0 && (await isIdle())
      await new Promise((resolve) => setTimeout(resolve, 50))
      return read && (await isIdle())
    })
    const before = await pagesRead()
    response.destroy()
    await until('nothing is read', isIdle)
    expect((await pagesRead()) - before).toBeLessThan(many / 2)
    expect(reading.waitingCount).toBe(0)
  })

  it('that fails in the middle breaks the connection, so that it does not look complete', async () => {
    const response = await open(full.headers)
    const failed = once(response, 'aborted')
    let lines = 0
    response.on('error', () => {})
    response.on('data', (chunk: Buffer) => {
      lines += chunk.toString('latin1').split('\n').length - 1
      // Its next page finds no table.
      if (lines > 1000 && lines < 3000) void sql`alter table messages rename to messages_gone`.catch(() => {})
    })
    await failed
    expect(response.complete).toBe(false)
    expect(lines).toBeLessThan(many)
    await sql`alter table messages_gone rename to messages`
  })
})

/** Rows of an account, oldest first, as fast as SQL can. */
async function fill(accountId: string, rows: number): Promise<void> {
  const startMs = Date.now() - 86_400_000
  // One long statement would keep events from settling in all databases of this server, including those of other tests.
  for (let from = 1; from <= rows; from += 20_000)
    await sql`insert into messages (account_id, id, status, their_number, body, encoding, characters, segments)
      select ${accountId}, (lpad(to_hex(${startMs}::bigint + n), 12, '0') || '70008' || lpad(to_hex(n), 15, '0'))::uuid, 'delivered', (15551000000 + n)::text,
        repeat('a text of some length ', 10), 'GSM-7', 220, 2
      from generate_series(${from}::int, ${Math.min(from + 19_999, rows)}::int) as n`
  await sql`analyze messages`
}

const ask = (query: string, headers: Record<string, string> = account.headers): Promise<Response> =>
  fetch(`${base}${query}`, { headers })

async function open(headers: Record<string, string>): Promise<IncomingMessage> {
  const [response] = (await once(get(base, { headers, agent: false }), 'response')) as [IncomingMessage]
  return response
}
