import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, describe, expect, it } from 'vitest'
import { buildTestApp, createTestAccount } from '../accounts/testing.ts'
import { openAuthenticator } from '../accounts/authenticate.ts'
import { createQueueReader } from '../live/queue.ts'
import { openCarrierTest, untilBound } from '../carriers/testing.ts'
import { openPool } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import type { App } from '../ground/http/http.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { Meter } from '../ground/metrics/meter.ts'
import { until } from '../../test/until.ts'
import { metricsRoute, writeMetrics, type MetricsRouteContext } from './metrics-http.ts'

const apps: App[] = []

const { db, sql } = await createTestDatabase()
const account = await createTestAccount(db)
const test = await openCarrierTest(db, { accountId: account.accountId })
await untilBound(test)
afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()))
  await test.close()
})

describe('metrics', () => {
  it('report links, messages and the process, in the text format', async () => {
    const rows = await Promise.all([
      test.submit({ theirNumber: '14155550101' }),
      test.submit({ theirNumber: '447400123401', type: 'otp' }),
    ])
    await Promise.all(rows.map(({ id }) => test.reaches(id, 'delivered')))
    test.simulator.reply('14155550101', '15557654321', 'Hello')
    await until('the reply is counted', async () => test.context.meter.replies.get('stored') === 1)
    const app = await serve()
    // A process writes the state of its links once a second.
    await until('the link is reported', async () =>
      /heliogram_link_up\{[^}]*\} 1/.test((await app.inject('/metrics')).body),
    )
    const answer = await app.inject('/metrics')
    expect(
      parse(answer.body).get('heliogram_http_requests_total{method="GET",route="/metrics",status="2xx"}'),
    ).toBeGreaterThan(0)
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8')
    const samples = parse(answer.body)
    const names = await sql<{ name: string }>`select name from carriers`
    const carrier = `carrier="${names[0]?.name}"`
    const link = `${carrier},link="${showId('lnk', test.linkId)}"`
    const expected = {
      [`heliogram_info{version="1.2.3",node="${process.version}"}`]: 1,
      heliogram_database_up: 1,
      [`heliogram_link_up{${link}}`]: 1,
      [`heliogram_link_throttled{${link}}`]: 0,
      [`heliogram_link_sessions{${link}}`]: 1,
      'heliogram_messages_accepted_total{type="otp"}': 1,
      'heliogram_messages_accepted_total{type="transactional"}': 1,
      'heliogram_messages_ended_total{status="delivered"}': 2,
      'heliogram_receipts_total{state="delivered"}': 2,
      'heliogram_replies_total{result="stored"}': 1,
      'heliogram_webhook_posts_total{outcome="timeout"}': 0,
      [`heliogram_segments_submitted_total{${link}}`]: 2,
      [`heliogram_submits_answered_total{${link},outcome="accepted"}`]: 2,
      [`heliogram_submits_answered_total{${link},outcome="unknown"}`]: 0,
      [`heliogram_response_seconds_count{${carrier},country="US"}`]: 1,
      [`heliogram_response_seconds_bucket{${carrier},country="GB",le="+Inf"}`]: 1,
      [`heliogram_receipt_seconds_count{${carrier},country="US"}`]: 1,
      heliogram_delayed_messages: 0,
      heliogram_webhook_posts_due: 0,
      heliogram_webhook_oldest_due_age_seconds: 0,
    }
    expect(Object.fromEntries(Object.keys(expected).map((name) => [name, samples.get(name)]))).toEqual(expected)
    expect(samples.get('heliogram_flushed_items_total{writer="ledger"}')).toBeGreaterThanOrEqual(4)
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(1e7)
    expect(samples.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0)
    expect(samples.get('heliogram_database_connections{pool="requests",state="idle"}')).toBeGreaterThan(0)
    // No data on accounts and people.
    for (const secret of [account.accountId, showId('acc', account.accountId), '15557654321', '14155550101'])
      expect(answer.body).not.toContain(secret)
  })

  it('of a deleted carrier and of another with its name are kept together', async () => {
    const { meter } = test.context
    const app = await serve()
    for (const number of ['14155550102', '14155550103']) {
      const id = newId()
      await sql`insert into carriers (id, name, kind, enabled) values (${id}, 'again', 'smpp', false)`
      meter.linkObserver(newId(), id)(number, { state: 'accepted' }, 1)
      const message = { accountId: account.accountId, carrierId: id, ourNumber: null, theirNumber: number }
      meter.noteEnd({ ...message, sentAt: new Date() }, 'delivered', Date.now())
      parse((await app.inject('/metrics')).body)
      await sql`delete from carriers where id = ${id}`
    }
    const samples = parse((await app.inject('/metrics')).body)
    for (const name of ['response', 'receipt'])
      expect(samples.get(`heliogram_${name}_seconds_count{carrier="again",country="US"}`)).toBe(2)
  })

  it('report what this process knows while the database is down', async () => {
    const nowhere = openPool({ host: '127.0.0.1', port: 9 }, { name: 'nowhere', max: 1, connectTimeoutMs: 500 })
    const loop = monitorEventLoopDelay()
    const context = {
      version: '1',
      meter: new Meter(() => null),
      isWritable: () => true,
      pools: {},
      running: () => new Map(),
      disk: null,
      openFiles: { counts: null },
    }
    const text = await writeMetrics(
      {
        ...context,
        db: nowhere,
        readQueue: createQueueReader(nowhere),
        readPosts: () => Promise.reject(new Error('nowhere')),
      },
      loop,
    )
    await nowhere.end()
    const samples = parse(text)
    expect(samples.get('heliogram_database_up')).toBe(0)
    expect(samples.get('heliogram_messages_accepted_total{type="otp"}')).toBe(0)
    expect(text).not.toContain('heliogram_link_up')
  })

  it('report the database as down when it answers and rejects writes', async () => {
    const app = await serve({ isWritable: () => false })
    expect(parse((await app.inject('/metrics')).body).get('heliogram_database_up')).toBe(0)
  })

  it('report the machine’s free resources, if they are known', async () => {
    const read = async (changes: Partial<MetricsRouteContext>): Promise<[string, number][]> =>
      [...parse((await (await serve(changes)).inject('/metrics')).body)].filter(([name]) => /_disk_|_fds/.test(name))
    const disk = { room: { freeBytes: 5e9, sizeBytes: 1e11 } }
    expect(await read({ disk, openFiles: { counts: { open: 60, max: 10_000 } } })).toEqual([
      ['heliogram_disk_free_bytes', 5e9],
      ['heliogram_disk_size_bytes', 1e11],
      ['process_open_fds', 60],
      ['process_max_fds', 10_000],
    ])
    expect(await read({})).toEqual([])
  })

  it('are for this machine only, unless the service is public or has a token', async () => {
    const local = await serve()
    const read = async (app: App, headers: Record<string, string> = {}, remoteAddress = '127.0.0.1'): Promise<number> =>
      (await app.inject({ url: '/metrics', headers, remoteAddress })).statusCode
    expect(await read(local)).toBe(200)
    expect(await read(local, {}, '::1')).toBe(200)
    expect(await read(local, {}, '192.0.2.7')).toBe(401)
    expect(await read(local, { 'x-forwarded-for': '127.0.0.1' })).toBe(401)
    for (const host of ['127.0.0.1:8080', '[::1]:8080', 'LocalHost']) expect(await read(local, { host })).toBe(200)
    // A page in a local browser whose host name was rebound to this machine.
    for (const host of ['page.example:8080', 'localhost.page.example']) expect(await read(local, { host })).toBe(401)
    expect(await read(await serve({ publicUrl: 'https://sms.example.com' }))).toBe(401)
    expect(await read(local, account.headers, '192.0.2.7')).toBe(200)
    const weak = await createTestAccount(db, { scopes: ['messages:read'] })
    expect(await read(local, weak.headers)).toBe(403)

    const withToken = await serve({ metricsToken: 'a-token-of-prometheus' })
    expect(await read(withToken)).toBe(401)
    expect(await read(withToken, { authorization: 'Bearer a-token-of-prometheus' }, '192.0.2.7')).toBe(200)
    expect(await read(withToken, { authorization: 'Bearer a-token-of-prometheuz' })).toBe(401)
    expect(await read(withToken, account.headers)).toBe(200)
  })
})

async function serve(changes: Partial<MetricsRouteContext> = {}): Promise<App> {
  const app = await buildTestApp(db, (one) =>
    metricsRoute(one, {
      version: '1.2.3',
      meter: test.context.meter,
      db,
      isWritable: () => true,
      pools: { requests: db },
      readQueue: createQueueReader(db),
      running: () => test.submitter.running,
      authenticator: openAuthenticator(db),
      metricsToken: null,
      publicUrl: 'http://127.0.0.1:8080',
      disk: null,
      openFiles: { counts: null },
      ...changes,
    }),
  )
  apps.push(app)
  return app
}

/** Samples by name and labels. @throws for lines not in text format 0.0.4. */
function parse(text: string): Map<string, number> {
  const samples = new Map<string, number>()
  const families = new Set<string>()
  let family = ''
  let type = ''
  for (const line of text.trimEnd().split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line) ?? []
    if (kind === 'HELP') {
      if (families.has(name)) throw new Error(`${name} is defined twice`)
      families.add((family = name))
    } else if (kind === 'TYPE') {
      if (name !== family) throw new Error(`the type of ${name} follows the help of ${family}`)
      type = rest
    } else {
      const label = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"'
      const found = new RegExp(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\\{${label}(?:,${label})*\\})? (\\S+)$`).exec(line)
      const [, sample = '', labels = '', value = ''] = found ?? []
      const base = type === 'histogram' ? sample.replace(/_(bucket|sum|count)$/, '') : sample
      if (!found || base !== family) throw new Error(`a line that is none: ${line}`)
      if (type === 'counter' && !sample.endsWith('_total')) throw new Error(`a counter without _total: ${sample}`)
      if (samples.has(sample + labels)) throw new Error(`a sample that is there twice: ${line}`)
      const number = value === '+Inf' ? Infinity : Number(value)
      if (Number.isNaN(number)) throw new Error(`a value that is none: ${line}`)
      samples.set(sample + labels, number)
    }
  }
  return samples
}
