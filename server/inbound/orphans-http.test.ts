import type { LightMyRequestResponse } from 'fastify'
import { beforeEach, describe, expect, it } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { now } from '../ground/db/clock.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import type { Scope } from '../ground/http/http.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { isOptedOut } from '../message/opted-out.ts'
import { giveOrphans, orphanStep } from './orphans.ts'
import { orphanRoutes } from './orphans-http.ts'
import { storeReply } from './reply.ts'
import { insertTestCarrier, insertTestSender, openLedgerTest } from '../messages/testing.ts'

const ours = '447700900111'
const unknown = '447700900999'
let operator: TestAccount

const { db, sql } = await createTestDatabase()
const app = await buildTestApp(db, (one) => orphanRoutes(one, { db, vault: testVault }))
const test = forEachTest(db, openLedgerTest)
beforeEach(async () => {
  operator = await createTestAccount(db)
})

describe('the list', () => {
  it('is newest first, and filters by carrier and number', async () => {
    await says('447700900201', 'STOP')
    await says('447700900202', 'Wann kommt ihr?', '447700900998')
    const carrier = showId('car', test.carrierId)
    expect(await list()).toMatchObject([
      { object: 'orphan_reply', carrier, from: '447700900202', message: 'Wann kommt ihr?', keyword: null },
      { from: '447700900201', to: unknown, message: 'STOP', keyword: 'stop' },
    ])
    expect(await list(`?to=${unknown}&carrier=${carrier}`)).toMatchObject([{ from: '447700900201' }])
    const { statusCode } = await app.inject({ url: `/v1/orphan-replies?carrier=car_none`, headers: operator.headers })
    expect(statusCode).toBe(404)
  })

  it('hides texts without messages:read_body, and still marks STOPs', async () => {
    await says('447700900201', 'STOP')
    expect(await list('', await as(['carriers:read']))).toMatchObject([{ message: null, keyword: 'stop' }])
  })

  it('requires carriers:read', async () => {
    const { headers } = await as(['messages:read', 'messages:read_body', 'webhooks:write'])
    expect((await app.inject({ url: '/v1/orphan-replies', headers })).statusCode).toBe(403)
  })
})

describe('assigning', () => {
  it('needs carriers:write', async () => {
    await says('447700900201', 'STOP')
    const [reply] = await list()
    const sender = await insertSender(ours)
    expect((await give(reply?.id ?? '', sender, await as(['carriers:read']))).statusCode).toBe(403)
    expect(await list()).toMatchObject([{ to: unknown }])
  })

  it('gives all replies to the number to the sender’s account, once, and applies its STOP', async () => {
    await says('447700900201', 'STOP')
    await says('447700900202', 'Hello')
    await says('447700900203', 'STOP', '447700900998')
    const [reply] = await list(`?to=${unknown}`)
    const sender = await insertSender(ours)
    const answers = [
      await give(reply?.id ?? '', sender, operator, 'k'),
      await give(reply?.id ?? '', sender, operator, 'k'),
    ]
    for (const answer of answers) {
      expect(answer.statusCode).toBe(202)
      expect(answer.json()).toEqual({ object: 'gift', replies: 2 })
    }
    expect(await giveOrphans(context(), 10, now())).toBe(2)
    expect(await list()).toMatchObject([{ from: '447700900203' }])
    expect(await isOptedOut(test.db, test.context.vault, test.accountId, '447700900201')).toBe(true)
    expect(await test.count('messages', `direction = 'inbound' and our_number = '${ours}'`)).toBe(2)
  })

  it('refuses another carrier’s sender and a missing one, and changes nothing', async () => {
    await says('447700900201', 'STOP')
    const [reply] = await list()
    const elsewhere = newId()
    await inTransaction(db, (tx) => insertTestCarrier(tx, elsewhere))
    for (const sender of [await insertSender(ours, elsewhere), showId('snd', newId()), 'snd_none']) {
      const answer = await give(reply?.id ?? '', sender)
      expect(answer.statusCode).toBe(422)
      expect(answer.json()).toMatchObject({ errors: [{ pointer: '#/sender' }] })
    }
    expect((await give(showId('orp', newId()), showId('snd', newId()))).statusCode).toBe(404)
    expect(await list()).toMatchObject([{ to: unknown }])
  })
})

describe('dismissing', () => {
  const dismiss = (id: string, { headers }: TestAccount = operator, key = 'k') =>
    app.inject({
      method: 'POST',
      url: `/v1/orphan-replies/${id}/dismiss`,
      headers: { ...headers, 'idempotency-key': key },
    })

  it('deletes a reply and older ones to its number, and keeps later ones and other numbers’', async () => {
    await says('447700900201', 'Spam')
    await says('447700900202', 'Spam')
    const [seen] = await list()
    await says('447700900203', 'STOP', '447700900998')
    await says('447700900204', 'STOP')
    for (let i = 0; i < 2; i++) {
      const answer = await dismiss(seen?.id ?? '')
      expect([answer.statusCode, answer.json()]).toEqual([200, { object: 'dismissal', replies: 2 }])
    }
    expect(await list()).toMatchObject([{ from: '447700900204' }, { from: '447700900203' }])
  })

  it('needs carriers:write and an existing reply', async () => {
    await says('447700900201', 'Hello')
    const [reply] = await list()
    expect((await dismiss(reply?.id ?? '', await as(['carriers:read', 'messages:write']))).statusCode).toBe(403)
    for (const id of [showId('orp', newId()), 'orp_none', reply?.id.replace('orp', 'msg') ?? ''])
      expect((await dismiss(id, operator, id)).statusCode).toBe(404)
    expect(await list()).toHaveLength(1)
  })
})

it('an erasure deletes the person’s replies, and nobody else’s', async () => {
  await says('447700900201', 'STOP')
  await says('447700900202', 'STOP', '447700900201')
  const person = { number: '447700900201' } as Parameters<typeof orphanStep.run>[1]
  await inTransaction(db, (tx) => orphanStep.run(tx, person, ''))
  expect(await list()).toMatchObject([{ from: '447700900202', to: '447700900201' }])
})

const context = (): Parameters<typeof storeReply>[0] => ({ ...test.context, wake: () => {} })
const says = (source: string, text: string, destination = unknown): ReturnType<typeof storeReply> =>
  storeReply(context(), { linkId: test.linkId, source, destination, text, isPartial: false })
const as = (scopes: readonly Scope[]): Promise<TestAccount> => createTestAccount(db, { scopes })

interface Shown {
  id: string
  from: string
  to: string
  message: string | null
  keyword: string | null
}
async function list(query = '', { headers }: TestAccount = operator): Promise<Shown[]> {
  const answer = await app.inject({ url: `/v1/orphan-replies${query}`, headers })
  expect(answer.statusCode).toBe(200)
  return answer.json<{ data: Shown[] }>().data
}
const give = (
  id: string,
  sender: string,
  { headers }: TestAccount = operator,
  key?: string,
): Promise<LightMyRequestResponse> =>
  app.inject({
    method: 'POST',
    url: `/v1/orphan-replies/${id}/give`,
    headers: { ...headers, ...(key !== undefined && { 'idempotency-key': key }) },
    payload: { sender },
  })
async function insertSender(number: string, carrierId = test.carrierId): Promise<string> {
  await insertTestSender(db, test.accountId, carrierId, number)
  const [row] = await sql<{ id: string }>`select id from senders where number = ${number}`
  return showId('snd', row?.id ?? '')
}
