/** Lists during writes by transactions that commit in any order: no message is missed, and pages stay stable. */
import fc from 'fast-check'
import type { PoolClient } from 'pg'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { createTestAccount, type TestAccount } from '../accounts/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { messageRoutes } from './http.ts'
import { ledgerWorld } from './testing.ts'

let account: TestAccount
let open: PoolClient[] = []

const { db, sql, app } = await ledgerWorld([messageRoutes])
afterAll(async () => {
  for (const client of open) client.release(true)
})
beforeEach(async () => {
  account = await createTestAccount(db)
})

// It waits for another try.
const insert = `
  with stored as (
    insert into messages (account_id, id, status, their_number, body, encoding, characters, segments)
    values ($1, $2, 'queued', $3, 'x', 'GSM-7', 1, 1)
  )
  insert into delayed (account_id, message_id, lane_id, segments, due_at) values ($1, $2, $2, 1, now() + interval '1 day')`

it('a refresh shows a message whose transaction commits after newer ones were shown', async () => {
  const [early, later, last] = [newId(), newId(), newId()]
  const slow = await begin(early)
  await write(later)
  const first = await list()
  expect(idsOf(first)).toEqual([later])
  await write(last)
  const second = await follow(first.refresh_cursor)
  expect(second.ids).toContain(last)
  await end(slow)
  const third = await follow(second.cursor)
  expect(third.ids).toContain(early)
})

it('a refresh with filters and in either order does so too', async () => {
  for (const query of [
    { to: '15551230009' },
    { sort: 'created_at' },
    { type: 'transactional', sort: 'created_at' },
    { status: 'queued' },
  ]) {
    const id = newId()
    const slow = await begin(id, '15551230009')
    await write(newId(), '15551230009')
    const { refresh_cursor: cursor } = await list(query)
    await end(slow)
    expect((await follow(cursor, { ...query, limit: '1' })).ids).toContain(id)
  }
})

it('a refresh shows changes of the last minute again, and no message twice', async () => {
  const [changed, same] = [newId(), newId()]
  for (const id of [same, changed]) await write(id)
  const before = await list()
  await sql`update messages set status = 'sending', sequence = 2 where id = ${changed}`
  const page = await list({ cursor: before.refresh_cursor })
  expect(page.data.find(({ id }) => parseId('msg', id) === changed)).toMatchObject({ status: 'sending', sequence: 2 })
  expect(new Set(idsOf(page)).size).toBe(page.data.length)
})

it('a cursor belongs to its account and order', async () => {
  for (let i = 0; i < 3; i++) await write(newId())
  const page = await list({ limit: '1' })
  const other = await createTestAccount(db)
  for (const cursor of [page.next_cursor, page.refresh_cursor]) {
    expect((await list({ cursor })).code).toBeUndefined()
    expect((await list({ cursor }, other.headers)).code).toBe('invalid_cursor')
    expect((await list({ cursor, sort: 'created_at' })).code).toBe('invalid_cursor')
    expect((await list({ cursor, status: 'queued' })).code).toBe('invalid_cursor')
    expect((await list({ cursor: `${cursor?.slice(0, -4)}AAAA` })).code).toBe('invalid_cursor')
  }
})

it('in ascending order, pages go to the newest and back', async () => {
  const ids = Array.from({ length: 7 }, () => newId())
  for (const id of ids) await write(id)
  const query = { sort: 'created_at', limit: '3' }
  const first = await list(query)
  const second = await list({ ...query, cursor: first.next_cursor })
  const third = await list({ ...query, cursor: second.next_cursor })
  expect([first, second, third].map(idsOf)).toEqual([ids.slice(0, 3), ids.slice(3, 6), ids.slice(6)])
  expect([first.prev_cursor, third.next_cursor, third.has_more]).toEqual([null, null, false])
  expect(idsOf(await list({ ...query, cursor: third.prev_cursor }))).toEqual(ids.slice(3, 6))
})

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('begin' as const), late: fc.nat(40) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('commit' as const, 'rollback' as const), at: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('refresh' as const, 'next' as const) }) },
)

it('a reader who pages and refreshes sees every message, in any order of commits, and pages show none twice', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 25 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, limit) => {
        account = await createTestAccount(db)
        const size = { limit: String(limit) }
        const committed = new Set<string>()
        const running: { id: string; client: PoolClient }[] = []
        for (let i = 0; i < 4; i++) {
          const id = newId()
          await write(id)
          committed.add(id)
        }
        const first = await list(size)
        let { next_cursor: next, refresh_cursor: refresh } = first
        const paged = idsOf(first)
        const seen = new Set(paged)
        const goOn = async (): Promise<boolean> => {
          if (next === null) return false
          const page = await list({ ...size, cursor: next })
          paged.push(...idsOf(page))
          next = page.next_cursor
          return true
        }
        const refreshNow = async (): Promise<void> => {
          const { ids, cursor } = await follow(refresh, size)
          for (const id of ids) seen.add(id)
          refresh = cursor
        }
        const finish = async (at: number, how: 'commit' | 'rollback'): Promise<void> => {
          const [one] = running.splice(at % running.length, 1)
          if (!one) return
          await end(one.client, how)
          if (how === 'commit') committed.add(one.id)
        }
        for (const one of steps)
          if (one.kind === 'begin') {
            if (running.length >= 5) continue
            const id = newId()
            // An id waits a while for its transaction, as under load.
            const ids = [id, ...Array.from({ length: one.late % 3 }, () => newId())]
            for (const made of ids.toReversed().slice(0, 5 - running.length))
              running.push({ id: made, client: await begin(made) })
          } else if (one.kind === 'refresh') await refreshNow()
          else if (one.kind === 'next') await goOn()
          else if ('at' in one && running.length > 0) await finish(one.at, one.kind)
        while (running.length > 0) await finish(0, 'commit')
        while (await goOn()) continue
        await refreshNow()
        expect(new Set(paged).size).toBe(paged.length)
        for (const id of paged) seen.add(id)
        expect([...seen].sort()).toEqual([...committed].sort())
      },
    ),
    { numRuns: 25 },
  )
})

interface Page {
  data: { id: string; status: string; sequence: number }[]
  has_more: boolean
  next_cursor: string | null
  prev_cursor: string | null
  refresh_cursor: string
  code?: string
}

async function list(query: Record<string, string | null> = {}, headers = account.headers): Promise<Page> {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== null)
  return (await app.inject({ url: '/v1/messages', query: Object.fromEntries(given), headers })).json<Page>()
}
const idsOf = (page: Page): string[] => page.data.map(({ id }) => parseId('msg', id) ?? '')

/** An open transaction that has written a message. */
async function begin(id: string, number = '15551230001'): Promise<PoolClient> {
  const client = await db.connect()
  open.push(client)
  await client.query('begin')
  await client.query(insert, [account.accountId, id, number])
  return client
}

async function end(client: PoolClient, how: 'commit' | 'rollback' = 'commit'): Promise<void> {
  await client.query(how)
  open = open.filter((one) => one !== client)
  client.release()
}

const write = (id: string, number = '15551230001'): Promise<unknown> =>
  db.query(insert, [account.accountId, id, number])

/** All messages that a client gets by following refresh cursors. */
async function follow(cursor: string, query: Record<string, string> = {}): Promise<{ ids: string[]; cursor: string }> {
  const ids: string[] = []
  for (;;) {
    const page = await list({ ...query, cursor })
    ids.push(...idsOf(page))
    cursor = page.refresh_cursor
    if (!page.has_more) return { ids, cursor }
  }
}
