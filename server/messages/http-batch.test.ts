import { expect, it, vi } from 'vitest'
import { buildTestApp } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { messageRoutes } from './http.ts'
import { ledgerWorld } from './testing.ts'

let keys = 0

const { db, sql, account, test, app } = await ledgerWorld([messageRoutes])

const good = (n: number): object => ({ to: '15551230001', message: `text ${n}` })
const mixed = [
  good(0),
  { to: '12', message: 'x' },
  { message: 'x' },
  good(3),
  { ...good(4), from: '15550000000' },
  { ...good(5), campaign: 'none' },
  { ...good(6), sendat: 'x' },
  { to: 1, message: 2 },
]

it('gives others their turns while it is checked', async () => {
  const order: string[] = []
  // Takes a millisecond of CPU.
  const refuseUrl = (): string => {
    const from = performance.now()
    while (performance.now() - from < 1);
    order.push('check')
    return 'is not called'
  }
  const slow = await buildTestApp(db, (one) => messageRoutes(one, { ...test.routeContext, refuseUrl }))
  let isOver = false
  const turn = (): void => {
    order.push('turn')
    if (!isOver) setImmediate(turn)
  }
  turn()
  const messages = Array.from({ length: 60 }, (_, n) => ({ ...good(n), callback_url: 'https://example.com/' }))
  const answer = await slow.inject({
    method: 'POST',
    url: '/v1/messages/batch',
    headers: { ...account.headers, 'idempotency-key': 'slow' },
    payload: { messages },
  })
  isOver = true
  await slow.close()
  expect(answer.json()).toMatchObject({ accepted: 0, refused: 60 })
  const checked = order.slice(order.indexOf('check'), order.lastIndexOf('check'))
  expect(checked.filter((one) => one === 'turn').length).toBeGreaterThanOrEqual(4)
})

it('answers every item as a single send would', async () => {
  const { status, body } = await batch(mixed)
  expect(status).toBe(202)
  expect([body.accepted, body.refused]).toEqual([2, 6])
  expect(body.results.map(({ index, status }) => [index, status])).toEqual(
    mixed.map((_, i) => [i, i % 3 === 0 && i < 6 ? 202 : 422]),
  )
  expect(body.results[0]?.message).toMatchObject({ message: 'text 0' })
  const errors = body.results.map((result) =>
    result.error?.errors
      ?.map((error) => `${error.pointer} ${error.code}`)
      .sort()
      .join(),
  )
  expect(errors).toEqual([
    undefined,
    '#/to invalid_phone_number',
    '#/to required',
    undefined,
    '#/from sender_not_found',
    '#/campaign campaign_not_found',
    '#/sendat unknown_field',
    '#/message invalid_type,#/to invalid_type',
  ])
})

it('reports every wrong field of the first messages, and one of each other', async () => {
  const metadata = Object.fromEntries(Array.from({ length: 49 }, (_, i) => [`k${i}`, 1]))
  const { body } = await batch(Array.from({ length: 300 }, () => ({ ...good(0), metadata })))
  const counts = body.results.map(({ error }) => error?.errors?.length)
  expect(counts).toEqual([...Array.from({ length: 204 }, () => 49), ...Array.from({ length: 96 }, () => 1)])
  expect(body.results.at(-1)?.error).toMatchObject({ code: 'validation_failed', detail: '49 fields are invalid.' })
})

it('needs an idempotency key', async () => {
  expect(await batch([good(0)], { key: null })).toMatchObject({ status: 400, body: { code: 'invalid_header' } })
})

it('takes at least one item, only objects, and no other fields', async () => {
  expect((await batch([])).body.code).toBe('validation_failed')
  expect((await batch(['x'])).status).toBe(422)
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/messages/batch',
    headers: { ...account.headers, 'idempotency-key': 'x' },
    payload: { messages: [good(0)], atomically: true },
  })
  expect(answer.json<Answer['body']>().errors).toMatchObject([{ pointer: '#/atomically', code: 'unknown_field' }])
})

it('writes all or none if it is atomic, and reports every reason with its place', async () => {
  const before = await test.count('messages', 'true')
  for (const items of [
    [good(0), { to: '12', message: 'x' }, { ...good(2), sendat: 'x' }],
    [good(0), good(1), { ...good(2), from: '15550000000' }],
  ]) {
    const { status, body } = await batch(items, { atomic: true })
    expect([status, body.code]).toEqual([422, 'validation_failed'])
    expect(body.errors?.map((error) => error.pointer)).toEqual(
      items.length === 3 && 'sendat' in (items[2] ?? {})
        ? ['#/messages/1/to', '#/messages/2/sendat']
        : ['#/messages/2/from'],
    )
  }
  expect(await test.count('messages', 'true')).toBe(before)
  const { status, body } = await batch([good(0), good(1)], { atomic: true })
  expect([status, body.accepted]).toEqual([202, 2])
})

it('asks for a retry if only limits refuse an atomic one, and not if it also needs a correction', async () => {
  const limit = (guards: object): Promise<unknown> =>
    sql`update accounts set settings = settings || ${JSON.stringify({ guards })} where id = ${account.accountId}`
  await limit({ country_limits: [{ country: 'GB', per_hour: 0, action: 'block' }] })
  await test.context.guards.refresh()
  const british = { to: '447400123456', message: 'x' }
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/messages/batch',
    headers: { ...account.headers, 'idempotency-key': 'limited' },
    payload: { messages: [good(0), british], atomic: true },
  })
  expect(answer.json()).toMatchObject({ status: 429, code: 'country_limit_reached', retryable: true })
  expect(answer.json<{ detail: string }>().detail).toMatch(/^No message was accepted, because of the one at index 1: /)
  expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
  const other = await batch([british, { ...good(1), from: '15550000000' }], { atomic: true })
  expect([other.status, other.body.errors?.map(({ pointer }) => pointer)]).toEqual([
    422,
    ['#/messages/0', '#/messages/1/from'],
  ])
  await limit({})
  await test.context.guards.refresh()
  expect((await batch([good(0), british], { key: 'limited', atomic: true })).status).toBe(202)
})

it('can be corrected and sent again with its key after an atomic refusal', async () => {
  expect((await batch([good(0), { to: '12', message: 'x' }], { key: 'again', atomic: true })).status).toBe(422)
  expect((await batch([good(0)], { key: 'again', atomic: true })).status).toBe(202)
})

it.each([false, true])('replays a repetition: the same messages, and nothing new (atomic: %s)', async (atomic) => {
  const items = atomic ? [good(0), good(1), good(2)] : mixed
  const key = `replay-${String(atomic)}`
  const first = await batch(items, { key, atomic })
  const before = await test.count('messages', 'true')
  const again = await batch(items, { key, atomic })
  const shapeOf = (answer: Answer): unknown =>
    answer.body.results.map(({ index, status, message, error }) => [
      index,
      status,
      message?.id,
      message?.message,
      error?.code,
    ])
  expect(shapeOf(again)).toEqual(shapeOf(first))
  expect([first.isReplay, again.isReplay]).toEqual([false, true])
  expect(await test.count('messages', 'true')).toBe(before)
})

it('refuses a key of another batch', async () => {
  await batch([good(0), good(1)], { key: 'reused' })
  expect(await batch([good(0), good(2)], { key: 'reused' })).toMatchObject({
    status: 422,
    body: { code: 'idempotency_key_reused' },
  })
})

it('does not mistake a key for the beginning of another', async () => {
  expect((await batch([good(0)], { key: 'order#1' })).status).toBe(202)
  expect((await batch([good(1)], { key: 'order' })).status).toBe(202)
  expect((await batch([good(2)], { key: 'order#1#0' })).status).toBe(202)
})

it('finishes a batch that was interrupted in the middle', async () => {
  const items = Array.from({ length: 6 }, (_, i) => good(i))
  const first = await batch(items, { key: 'cut' })
  const lost = first.body.results.slice(3).map((result) => result.message?.id ?? '')
  expect(lost).toHaveLength(3)
  await test.sql`delete from idempotency_keys where key like 'cut%' and resource_id in (select id from messages
    where body = any (${['text 3', 'text 4', 'text 5']}))`
  const again = await batch(items, { key: 'cut' })
  const ids = (answer: Answer): string[] => answer.body.results.map((result) => result.message?.id ?? '')
  expect(ids(again).slice(0, 3)).toEqual(ids(first).slice(0, 3))
  expect(again.body.accepted).toBe(6)
  expect(again.isReplay).toBe(false)
})

it.each([false, true])('gets the same response after an item’s time is over (atomic: %s)', async (atomic) => {
  const items = [good(0), { ...good(1), send_at: new Date(Date.now() + 60_000).toISOString() }]
  const key = `late-${String(atomic)}`
  const first = await batch(items, { key, atomic })
  const before = await test.count('messages', 'true')
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 600_000 })
  const again = await batch(items, { key, atomic })
  const other = await batch(items, { atomic })
  vi.useRealTimers()
  expect([again.status, again.isReplay, again.body.accepted]).toEqual([202, true, 2])
  expect(again.body.results.map((result) => result.message?.id)).toEqual(
    first.body.results.map((result) => result.message?.id),
  )
  expect(other.status).toBe(atomic ? 422 : 202)
  expect(await test.count('messages', 'true')).toBe(before + (atomic ? 0 : 1))
})

it('takes 10,000 items, and not one more', async () => {
  const { status, body } = await batch(Array.from({ length: 10_000 }, (_, i) => good(i)))
  expect([status, body.accepted, body.results.length]).toEqual([202, 10_000, 10_000])
  expect(body.results.every((result, i) => result.index === i && result.message?.message === `text ${i}`)).toBe(true)
  expect((await batch(Array.from({ length: 10_001 }, (_, i) => good(i)))).status).toBe(422)
})

it('says how many were accepted if the database ended a statement in the middle, and continues with the same key', async () => {
  const messages = Array.from({ length: 10 }, (_, i) => ({ ...good(i), to: `1555123${3000 + i}` }))
  const first = await inTransaction(db, async (tx) => {
    // One message blocks on its key until its statement is canceled; the batch is halved until it is alone.
    await tx.query(
      `insert into idempotency_keys (account_id, operation, key, fingerprint) values ($1, 'messages.batch', 'halves 3', '')`,
      [account.accountId],
    )
    const state = { isOver: false }
    const answer = batch(messages, { key: 'halves' }).finally(() => (state.isOver = true))
    while (!state.isOver)
      await sql`select pg_cancel_backend(pid), pg_sleep(0.01) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
    await tx.query('rollback; begin')
    return answer
  })
  expect([first.status, first.body.code]).toEqual([503, 'unavailable'])
  const count = await test.count('messages', `their_number like '15551233%'`)
  expect(count).toBeGreaterThan(0)
  expect(first.body.detail).toBe(
    `The database ended the statement. ${count} of 10 messages were accepted, and no others: repeat the request with its Idempotency-Key to continue; none is sent twice.`,
  )
  const again = await batch(messages, { key: 'halves' })
  expect([again.status, again.body.accepted]).toEqual([202, 10])
  expect(await test.count('messages', `their_number like '15551233%'`)).toBe(10)
})

it('with faults of its own also reports its messages’ faults', async () => {
  const told = async (messages: unknown[], more: object): Promise<unknown> => {
    const { status, body } = await batch(messages, more)
    return [status, body.errors?.map(({ pointer, code }) => `${pointer} ${code}`)]
  }
  const ofMessages = [
    '#/messages/1/to invalid_phone_number',
    '#/messages/2/to required',
    '#/messages/6/sendat unknown_field',
    '#/messages/7/to invalid_type',
    '#/messages/7/message invalid_type',
  ]
  expect(await told(mixed, { atomc: true })).toEqual([422, ['#/atomc unknown_field', ...ofMessages]])
  expect(await told(mixed, { atomic: 'no' })).toEqual([422, ['#/atomic invalid_type', ...ofMessages]])
  expect(await told([good(0)], { atomc: true })).toEqual([422, ['#/atomc unknown_field']])
  expect(await told([good(0), 5], { atomc: true })).toEqual([
    422,
    ['#/atomc unknown_field', '#/messages/1 invalid_type'],
  ])
  const many = Array.from({ length: 200 }, () => ({ to: '12', message: 'x' }))
  const [, faults] = (await told(many, { atomc: true })) as [number, string[]]
  expect([faults.length, faults.at(-1)]).toEqual([100, '#/messages/98/to invalid_phone_number'])
})

it('refuses only what cannot be stored, whatever the other items look up', async () => {
  const half = String.fromCharCode(0xd83d)
  const messages = [
    good(0),
    { ...good(1), message: `cut ${half}` },
    { ...good(2), campaign: 'a\0b' },
    { to: '15551230001', template: 'a\0b', metadata: { [half]: 'x' } },
    JSON.parse('{"to":"15551230001","message":"x","__proto__":1}') as object,
    ...Array.from({ length: 101 }, () => ({ to: '12', message: '\0' })),
    good(5),
  ]
  const { status, body } = await batch(messages)
  expect([status, body.accepted, body.refused]).toEqual([202, 2, 105])
  const told = body.results
    .slice(1, 6)
    .map(({ error }) => error?.errors?.map(({ pointer, code }) => `${pointer} ${code}`))
  expect(told).toEqual([
    ['#/message invalid_characters'],
    ['#/campaign invalid_characters'],
    ['#/template invalid_characters', '#/metadata/%EF%BF%BD invalid_characters'],
    ['#/__proto__ unknown_field'],
    ['#/message invalid_characters', '#/to invalid_phone_number'],
  ])
  const whole = await batch([good(0), { ...good(1), message: half }], { atomc: true })
  expect(whole.body.errors).toMatchObject([
    { pointer: '#/atomc', code: 'unknown_field' },
    { pointer: '#/messages/1/message', code: 'invalid_characters' },
  ])
})

interface Result {
  index: number
  status: number
  message?: { id: string; message: string }
  error?: { code: string; errors?: { pointer: string; code: string }[] }
}
interface Answer {
  status: number
  isReplay: boolean
  body: {
    accepted: number
    refused: number
    results: Result[]
    code?: string
    detail?: string
    errors?: { pointer: string; code: string }[]
  }
}

async function batch(
  messages: unknown[],
  { key = `key ${keys++}`.replace(' ', '-'), ...more }: { key?: string | null; atomic?: unknown; atomc?: boolean } = {},
): Promise<Answer> {
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/messages/batch',
    headers: { ...account.headers, ...(key !== null && { 'idempotency-key': key }) },
    payload: { messages, ...more },
  })
  return {
    status: answer.statusCode,
    isReplay: answer.headers['idempotency-replayed'] === 'true',
    body: answer.json<Answer['body']>(),
  }
}
