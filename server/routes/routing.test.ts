import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { canBeUsed } from '../queue/chain-sql.ts'
import type { RouteRequest } from '../message/routing.ts'
import { insertTestCarrier, insertTestSender } from '../messages/testing.ts'
import { rememberAffinities, savePool } from '../senders/pool-store.ts'
import { beginChange, insertRoute, type RouteInput } from './store.ts'
import { RoutingTable } from './routing.ts'
import { setDefaultSender } from '../senders/store.ts'
import { faultOf, type SenderCapability } from '../senders/sender.ts'

let table: RoutingTable
const accountId = newId()
const campaignId = newId()
const [a, b] = [newId(), newId()]

const database = await createTestDatabase()
const { db, sql } = database
await sql`insert into accounts (id, name) values (${accountId}, 'Acme')`
await sql`insert into campaigns (account_id, id, key, name, type, sender)
  values (${accountId}, ${campaignId}, 'sale', 'Sale', 'marketing', 'Acme')`
await inTransaction(db, async (tx) => {
  await insertTestCarrier(tx, a, {}, { priority: 1 })
  await insertTestCarrier(tx, b, {}, { priority: 2 })
})
beforeEach(async () => {
  await database.sql`delete from routes; delete from senders; delete from sender_pools`
  await database.sql`update carriers set enabled = true`
  table = new RoutingTable(database.db)
  await table.refresh()
})

afterEach(() => vi.restoreAllMocks())

const everything = { accountId: null, campaignId: null, type: null, countries: [], prefixes: [], senders: [] }

it('plans by campaign, sender and rules, many at once', async () => {
  await addSender('15557654321', a, true)
  await addSender('Acme', b)
  const marketing = await addRoute(b, { type: 'marketing' })
  const sale = await addRoute(b, { accountId, campaignId })
  await table.refresh()
  const plans = await table.plan([
    request(),
    request({ campaignKey: 'sale' }),
    request({ campaignId, type: 'transactional' }),
    request({ campaignKey: 'none' }),
    request({ from: 'Other' }),
    request({ accountId: newId(), from: '15557654321' }),
    request({ accountId: newId(), campaignId }),
  ])
  expect(plans.map(({ refusal, choice, message }) => [refusal, message.sender, choice.ruleId, choice.chain])).toEqual([
    [null, '15557654321', null, [a]],
    [null, 'Acme', marketing, [b]],
    [null, 'Acme', sale, [b]],
    ['campaign_not_found', '15557654321', null, []],
    ['sender_not_found', null, null, []],
    ['sender_not_found', null, null, []],
    ['campaign_not_found', null, null, []],
  ])
})

it('knows a sender as soon as it is created', async () => {
  expect((await table.plan([request({ from: 'New' })]))[0]?.refusal).toBe('sender_not_found')
  await addSender('New', a)
  expect((await table.plan([request({ from: 'New' })]))[0]).toMatchObject({ refusal: null, choice: { chain: [a] } })
})

it('rereads what one account has changed, and nothing of the others', async () => {
  const other = newId()
  await database.sql`insert into accounts (id, name) values (${other}, 'Other')`
  await database.sql`insert into campaigns (account_id, id, key, name) values (${other}, ${newId()}, 'sale', 'Sale')`
  await addSender('15557654321', a, true)
  await addSender('Acme', a)
  await insertTestSender(database.db, other, a, '15557654322', true)
  const statements: string[] = []
  const db = new Proxy(database.db, {
    get: (target, name, receiver) => {
      const value: unknown = Reflect.get(target, name, receiver)
      if (name !== 'query') return value
      return (text: string, values: unknown[]) => {
        statements.push(text)
        return target.query(text, values)
      }
    },
  })
  // Facts that were just read are not stale, even after slow statements.
  let now = performance.now()
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  table = new RoutingTable(db)
  await table.refresh()
  const both = [request({ campaignKey: 'sale' }), request({ accountId: other, campaignKey: 'sale' })] as const
  const sendersOf = async (...requests: RouteRequest[]): Promise<(string | null)[]> =>
    (await table.plan(requests)).map(({ message }) => message.sender)
  expect(await sendersOf(...both)).toEqual(['Acme', '15557654322'])
  await database.sql`update campaigns set sender = null where account_id = ${accountId}`
  await setDefault('Acme')
  statements.length = 0
  now++
  await table.refresh(accountId)
  expect(await sendersOf(both[1])).toEqual(['15557654322'])
  expect(statements).toEqual([])
  await database.sql`update campaigns set sender = '15557654321' where account_id = ${accountId}`
  expect(await sendersOf(request(), ...both)).toEqual(['Acme', '15557654321', '15557654322'])
  // For campaigns, the senders that they name, and the default.
  expect(statements).toHaveLength(3)
  await database.sql`update campaigns set sender = 'Acme' where account_id = ${accountId}`
})

it('keeps an account’s data when the result of an earlier query arrives late', async () => {
  await addSender('15557654321', a, true)
  await addSender('15557654322', a)
  await database.sql`insert into campaigns (account_id, id, key, name)
    values (${accountId}, ${newId()}, 'plain', 'Plain')`
  const held = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  let early: Promise<unknown> | null = null
  const db = new Proxy(database.db, {
    get: (target, name, receiver) => {
      const value: unknown = Reflect.get(target, name, receiver)
      if (name !== 'query') return value
      return async (query: string | { text: string }, values: unknown[]) => {
        const answer = await target.query(query, values)
        const text = typeof query === 'string' ? query : query.text
        if (text.includes('from senders') && early === null) {
          asked.resolve()
          await held.promise
        }
        if (text.includes('from campaigns') && early !== null) {
          held.resolve()
          await early
        }
        return answer
      }
    },
  })
  table = new RoutingTable(db)
  await table.refresh()
  const planned = table.plan([request()])
  await asked.promise
  early = planned
  await setDefault('15557654322')
  await table.refresh(accountId)
  const [plan] = await table.plan([request({ campaignKey: 'plain' })])
  expect(plan?.message.sender).toBe('15557654322')
})

it('reads only the possible senders of an account with many', async () => {
  await addSender('Acme', a, true)
  await database.sql`insert into senders (account_id, id, carrier_id, number, kind, country)
    select ${accountId}, gen_random_uuid(), ${a}, (447700910000 + n)::text, 'long_code', 'GB'
    from generate_series(1, 3000) n`
  await addSender('12025550188', a)
  await database.sql`update senders set country = 'US' where number = '12025550188'`
  await database.sql`update senders set kind = 'alphanumeric', country = null where number = 'Acme'`
  await addSender('447700910007', b)
  const members = [
    { senderId: await senderId('447700910003'), weight: 1 },
    { senderId: await senderId('447700910004'), weight: 1 },
  ]
  const pool = { accountId, id: newId(), name: 'Two', strategy: 'round_robin' as const, members }
  await inTransaction(database.db, (tx) => savePool(tx, pool))
  let rowsRead = 0
  const db = new Proxy(database.db, {
    get: (target, name, receiver) => {
      const value: unknown = Reflect.get(target, name, receiver)
      if (name !== 'query') return value
      return async (text: string, values: unknown[]) => {
        const answer = await target.query(text, values)
        rowsRead += answer.rows.length
        return answer
      }
    },
  })
  table = new RoutingTable(db)
  await table.refresh()
  const plans = await table.plan([
    request({ from: '447700910007' }),
    request({ poolId: pool.id }),
    request(),
    // Names are forbidden there: the only number of the country replaces it.
    request({ to: '12025550123' }),
    // No number of the country: the oldest.
    request({ to: '15145550123' }),
  ])
  expect(plans.map(({ refusal, sender, choice }) => [refusal, sender.rule, choice.chain])).toEqual([
    [null, 'from', [a, b]],
    [null, 'pool_weight', [a]],
    [null, 'default', [a]],
    [null, 'instead_of_default', [a]],
    [null, 'instead_of_default', [a]],
  ])
  expect(plans[3]?.message.sender).toBe('12025550188')
  expect(rowsRead).toBeLessThan(20)
})

it('takes no carrier at which the sender cannot be used for the recipient', async () => {
  await addSender('15557654321', a)
  await addSender('15557654321', b, true)
  await database.sql`update senders set capabilities = '{replies}' where carrier_id = ${a}`
  const [plan] = await table.plan([request()])
  expect(plan).toMatchObject({ refusal: null, choice: { chain: [b] } })
})

it('agrees with the claim on a sender and a recipient', async () => {
  const countries = ['US', 'CA', 'PR', 'GB', null]
  const pairs = (['long_code', 'short_code', 'toll_free'] as const).flatMap((kind) =>
    [['sms'], ['sms', 'international'], ['replies', 'international']].flatMap((capabilities) =>
      countries.flatMap((country) => countries.map((to) => ({ kind, capabilities, country, to }))),
    ),
  )
  const { rows } = await database.db.query<{ canBeUsed: boolean | null }>(
    `select ${canBeUsed('o', 'm')} as "canBeUsed"
     from json_to_recordset($1) as o (n int, kind text, capabilities text[], country text)
     join (select n, "to" as country, false as is_confirmation from json_to_recordset($1) as t (n int, "to" text)) m using (n)
     order by n`,
    [JSON.stringify(pairs.map((pair, n) => ({ n, ...pair })))],
  )
  const asked = pairs.map(({ to, ...sender }) =>
    faultOf({ number: '', ...sender, capabilities: sender.capabilities as SenderCapability[] }, to),
  )
  expect(rows.map((row) => row.canBeUsed === true)).toEqual(asked.map((fault) => fault === null))
})

it('keeps the pool’s sender that a person knows', async () => {
  await addSender('447700900111', a)
  await addSender('447700900222', b)
  const poolId = newId()
  const members = [{ senderId: await senderId('447700900111'), weight: 1 }]
  const pool = { accountId, id: poolId, name: 'GB', strategy: 'sticky' as const, members }
  const save = (changes: Partial<typeof pool> = {}): Promise<void> =>
    inTransaction(database.db, (tx) => savePool(tx, { ...pool, ...changes }))
  await save()
  const [first] = await table.plan([request({ poolId })])
  expect(first).toMatchObject({ refusal: null, sender: { rule: 'pool_weight', sender: { number: '447700900111' } } })
  const known = { accountId, poolId, theirNumber: '447700900001', senderId: first?.sender.sender?.id ?? '' }
  await rememberAffinities(database.db, [known])
  await save({ members: [...members, { senderId: await senderId('447700900222'), weight: 1000 }] })
  await table.refresh(accountId)
  const [again, stranger] = await table.plan([request({ poolId }), request({ poolId, to: '447700900002' })])
  expect(again?.sender).toMatchObject({ rule: 'pool_sticky', sender: { number: '447700900111' } })
  expect(stranger?.sender).toMatchObject({ rule: 'pool_weight', sender: { number: '447700900222' } })
  expect((await table.plan([request({ poolId, accountId: newId() })]))[0]?.refusal).toBe('pool_not_found')
})

it('sees changes of rules and carriers when it reads again', async () => {
  const chain = (): readonly string[] =>
    table.choose({
      id: 'm',
      accountId,
      campaignId: null,
      type: 'otp',
      to: '447700900001',
      country: 'GB',
      sender: null,
      senderCarrierIds: null,
      segments: 1,
    }).chain
  expect(chain()).toEqual([a, b])
  await addRoute(b, { type: 'otp' })
  await table.refreshRules()
  expect(chain()).toEqual([b])
  await database.sql`update carriers set enabled = false where id = ${a}`
  await database.sql`delete from routes`
  await inTransaction(database.db, beginChange)
  await table.refreshRules()
  expect(chain()).toEqual([b])
})

const request = (changes: Partial<RouteRequest> = {}): RouteRequest => ({
  messageId: newId(),
  accountId,
  to: '447700900001',
  from: null,
  poolId: null,
  campaignId: null,
  campaignKey: null,
  type: null,
  segments: 1,
  isTest: false,
  ...changes,
})

async function addRoute(carrierId: string, changes: Partial<RouteInput['match']> = {}): Promise<string> {
  const id = newId()
  await inTransaction(database.db, async (tx) => {
    await beginChange(tx)
    await insertRoute(tx, id, null, {
      name: null,
      match: { ...everything, ...changes },
      carriers: [{ carrierId, weight: 1, cost: null }],
      maxCost: null,
      currency: null,
      enabled: true,
    })
  })
  return id
}
const addSender = (number: string, carrierId: string, isDefault = false): Promise<void> =>
  insertTestSender(database.db, accountId, carrierId, number, isDefault)
const setDefault = (number: string): Promise<boolean> =>
  inTransaction(database.db, (tx) => setDefaultSender(tx, accountId, number))
const senderId = async (number: string): Promise<string> => {
  const [row] = await database.sql<{ id: string }>`select id from senders where number = ${number}`
  return row?.id ?? ''
}
