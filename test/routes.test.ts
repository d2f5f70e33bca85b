/**
 * The common behaviour of all registered routes: pages, cursors, unknown fields, unknown ids. Scopes and other accounts are in tenancy.test.ts,
 * repetitions in idempotency.test.ts. The requests are those of tenancy-rows.ts.
 */
import { expect, it } from 'vitest'
import { createTestDatabase } from '../server/ground/db/testing.ts'
import { newId, parseId, showId, type IdPrefix } from '../server/ground/base/ids.ts'
import { callsOf, urlOf, type Call } from './tenancy-calls.ts'
import { rows, type Row } from './tenancy-rows.ts'
import { openWorld, type KnownRoute } from './tenancy-world.ts'
import { createTenant } from './tenant.ts'

const world = await openWorld(await createTestDatabase())
const tenant = await createTenant(world, 'rabe', '1555764000')
let calls = 0

interface Answer {
  status: number
  code?: string
  faults: string[]
  body: { data?: { id?: string }[]; next_cursor?: string | null; has_more?: boolean }
}

async function ask(route: KnownRoute, call: Call): Promise<Answer> {
  const payload = typeof call.body === 'string' ? call.body : JSON.stringify(call.body)
  const answer = await world.app.inject({
    method: route.method as 'GET',
    url: urlOf(route, call),
    headers: {
      ...tenant.headers,
      ...(route.method !== 'GET' && { 'idempotency-key': `call-${calls++}` }),
      ...(payload !== undefined && { 'content-type': rows[route.name]?.type ?? 'application/json' }),
    },
    ...(payload !== undefined && { payload }),
  })
  const isJson = /json/.test(String(answer.headers['content-type'])) && answer.body !== ''
  const body = isJson
    ? answer.json<Answer['body'] & { code: string; errors?: { pointer: string; code: string }[] }>()
    : null
  const faults = (body?.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`)
  return { status: answer.statusCode, ...(body && { code: body.code }), faults, body: body ?? {} }
}

const known = world.routes.flatMap((route): { route: KnownRoute; row: Row; call: Call }[] => {
  const row = rows[route.name]
  const [call] = row && row.open === undefined && row.elsewhere === undefined ? callsOf(row, tenant.things) : []
  return row && call ? [{ route, row, call }] : []
})
const parametersOf = ({ url, method }: KnownRoute): string[] => {
  const item = world.app.swagger().paths?.[url.replace(/:(\w+)/g, '{$1}')] as
    | Record<string, { parameters?: { name?: string; $ref?: string }[] }>
    | undefined
  return (item?.[method.toLowerCase()]?.parameters ?? []).map((one) => one.name ?? one.$ref?.split('/').at(-1) ?? '')
}
const lists = known.filter(({ route }) => route.method === 'GET' && parametersOf(route).includes('Limit'))
const paged = lists.filter(({ route }) => parametersOf(route).includes('Cursor'))
// At least two, for pages.
for (const { route, call } of known)
  if (route.method === 'POST' && paged.some((list) => list.route.url === route.url)) await ask(route, call)

const withQuery = (call: Call, more: string): Call => ({ ...call, query: [call.query, more].filter(Boolean).join('&') })

it('has lists, and most of them have pages', () => {
  expect(lists.length).toBeGreaterThan(20)
  expect(paged.length).toBeGreaterThan(20)
})

it('a list refuses an invalid limit', async () => {
  const wrong: string[] = []
  for (const { route, call } of lists)
    for (const limit of ['0', '100000', 'many']) {
      const { status, faults } = await ask(route, withQuery(call, `limit=${limit}`))
      if (status !== 422 || !faults.some((fault) => fault.startsWith('?limit ')))
        wrong.push(`${route.name} ${limit} ${status} ${faults.join()}`)
    }
  expect(wrong).toEqual([])
})

it('a list refuses a cursor from elsewhere', async () => {
  const wrong: string[] = []
  for (const { route, call } of paged)
    for (const cursor of ['x', 'garbage']) {
      const { status, code } = await ask(route, withQuery(call, `cursor=${cursor}`))
      if (status !== 422 || code !== 'invalid_cursor') wrong.push(`${route.name} ${status} ${code}`)
    }
  expect(wrong).toEqual([])
})

it('a list in pages of one is the same list', async () => {
  const wrong: string[] = []
  for (const { route, call } of paged) {
    const whole = await ask(route, withQuery(call, 'limit=100'))
    const found: unknown[] = []
    let cursor: string | null | undefined
    do {
      const page = await ask(route, withQuery(call, `limit=1${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`))
      if ((page.body.data ?? []).length > 1) wrong.push(`${route.name} has more than one on a page`)
      found.push(...(page.body.data ?? []))
      cursor = page.body.next_cursor
    } while (cursor && found.length <= 100)
    if (JSON.stringify(found) !== JSON.stringify(whole.body.data))
      wrong.push(`${route.name} ${whole.status} ${found.length} ${whole.body.data?.length}`)
  }
  expect(wrong).toEqual([])
})

/** It reads the carrier before it checks the body, so that faults of the query come first. */
const readFirst = 'PATCH /v1/carriers/:id'

it('every route refuses unknown fields, in the query and in the body', async () => {
  const wrong: string[] = []
  for (const { route, row, call } of known) {
    const isObject = typeof call.body === 'object' && row.type === undefined
    const withBody = isObject ? { ...call, body: { ...(call.body as object), shoe: 1 } } : call
    const { status, faults } = await ask(route, route.name === readFirst ? withBody : withQuery(withBody, 'shoe=1'))
    const pointers = [...(isObject ? ['#/shoe'] : []), ...(route.name === readFirst ? [] : ['?shoe'])]
    const isTold = pointers.every((pointer) => faults.includes(`${pointer} unknown_field`))
    if (status !== 422 || !isTold) wrong.push(`${route.name} ${status} ${faults.join()}`)
  }
  expect(wrong).toEqual([])
})

it('every route answers 404 to an invalid or unknown id', async () => {
  const wrong: string[] = []
  for (const { route, call } of known)
    for (const [i, at] of call.at.entries()) {
      const [prefix = ''] = at.split('_')
      const others = parseId(prefix as IdPrefix, at) ? ['x', showId(prefix as IdPrefix, newId())] : ['x']
      for (const one of others) {
        const { status, code } = await ask(route, { ...call, at: call.at.with(i, one) })
        if (status !== 404) wrong.push(`${route.name} ${one} ${status} ${code}`)
      }
    }
  expect(wrong).toEqual([])
})
