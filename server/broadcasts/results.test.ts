import { expect, it } from 'vitest'
import { errorsOf } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import type { Handover } from '../message/handover.ts'
import { countClicks } from '../short-links/store.ts'
import { foldCounters } from '../usage/fold.ts'
import { readCounterFaults } from '../usage/testing.ts'
import { moveTo } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import type { Stats } from '../campaigns/stats-schema.ts'
import { openBroadcastTest } from './testing.ts'

let [first, second] = ['', '']

const [ann, bob, cem, dee] = ['15551230001', '15551230002', '447700900123', '4915112345678']

const { db, sql } = await createTestDatabase()
const test = await openBroadcastTest(db, { shortUrl: 'https://go.example.com' })
await sql`insert into rates values (${test.ledger.carrierId}, '*', '2020-01-01', 5000, 'USD')`
await sql`update routes_version set version = version + 1, rates = rates + 1`
await test.ledger.routing.refresh()
test.start()
await test.addContacts([ann, bob, cem, dee])
first = await send('first', { message: 'See https://shop.example/a', shorten_urls: true })
const handed = await test.ledger.claim()
await receive(handed, ann, 'delivered')
await receive(handed, bob, 'delivered')
await receive(handed, cem, 'undeliverable')
await test.ledger.answer(of(handed, dee), {
  state: 'refused',
  move: moveTo('rejected', { errorCode: 'invalid_destination' }),
})

async function send(key: string, body: object): Promise<string> {
  const answer = await test.call('POST', `/v1/campaigns/${test.campaign}/send`, body, undefined, {
    'idempotency-key': key,
  })
  expect(answer.body).toMatchObject({ status: 'sending', stats: null })
  await until('all have had their turn', async () => {
    const { expanded, remaining } = (await test.call('GET', `/v1/broadcasts/${String(answer.body['id'])}`)).body
    return expanded === true && remaining === 0
  })
  return String(answer.body['id'])
}

function of(handed: Handover[], number: string): Handover {
  const one = handed.find(({ theirNumber }) => theirNumber === number)
  if (!one) throw new Error(`nothing was handed over for ${number}`)
  return one
}

async function receive(handed: Handover[], number: string, state: string): Promise<void> {
  const one = of(handed, number)
  const words = {
    state,
    stat: state === 'delivered' ? 'DELIVRD' : 'UNDELIV',
    err: '000',
    networkError: null,
    doneDate: '',
  }
  for (let segment = 1; segment <= one.segments; segment++) {
    const id = `${one.id}-${segment}`
    await test.ledger.answer(one, {
      segment,
      carrierMessageId: id,
      move: segment === one.segments ? moveTo('sent') : null,
    })
    await test.ledger.ledger.receipt({ linkId: test.ledger.linkId, rawId: id, matchId: id, ...words })
  }
}

await test.ledger.reply('Thanks', { source: ann })
await test.ledger.reply('STOP', { source: bob })
await test.ledger.acceptor.accept(test.ledger.draft({ theirNumber: dee, campaignId: parseId('cmp', test.campaign) }))
// A single send of the campaign, which belongs to no broadcast, and the reply to STOP, which belongs to no count.
for (const one of await test.ledger.claim()) await receive([one], one.theirNumber, 'delivered')
await until(
  'the first one is over',
  async () => (await test.call('GET', `/v1/broadcasts/${first}`)).body['status'] === 'completed',
)
second = await send('second', { message: 'Long. '.repeat(40) })

const exportOf = async (url: string): Promise<string> =>
  (await test.app.inject({ method: 'GET', url, headers: test.account.headers })).payload
const statsOf = async (path: string): Promise<Stats> => (await test.call('GET', path)).body['stats'] as Stats

it('results distinguish two broadcasts of a campaign, with the outcomes of their messages', async () => {
  const rows = await sql<{ code: string }>`select s.code
    from short_links s join messages m on m.account_id = s.account_id and m.id = s.message_id
    where m.their_number = ${ann}`
  await inTransaction(db, (tx) =>
    countClicks(
      tx,
      rows.map(({ code }) => ({ code, people: 2, bots: 1 })),
    ),
  )
  expect(await statsOf(`/v1/broadcasts/${first}`)).toEqual({
    recipients: 4,
    queued: 0,
    sent: 0,
    delivered: 2,
    failed: 2,
    failures: { carrier_unknown: 1, invalid_destination: 1 },
    unconfirmed: 0,
    canceled: 0,
    skipped: { opted_out: 0, invalid: 0, duplicate: 0, quiet_hours: 0 },
    replies: 2,
    opt_outs: 1,
    clicks: 2,
    segments: 4,
    cost: [{ amount: '0.01500', currency: 'USD' }],
  })
  expect(await statsOf(`/v1/broadcasts/${second}`)).toMatchObject({
    recipients: 4,
    queued: 3,
    delivered: 0,
    failures: {},
    skipped: { opted_out: 1 },
    replies: 0,
    opt_outs: 0,
    clicks: 0,
    segments: 6,
    cost: [],
  })
})

it('results change with each message and reply, before and after the counts are folded', async () => {
  const handed = await test.ledger.claim()
  await receive(handed, ann, 'delivered')
  expect(await statsOf(`/v1/broadcasts/${second}`)).toMatchObject({ queued: 2, delivered: 1, failed: 0 })
  await receive(handed, cem, 'undeliverable')
  await test.ledger.reply('Ok', { source: ann })
  const moved = await statsOf(`/v1/broadcasts/${second}`)
  expect(moved).toMatchObject({ queued: 1, delivered: 1, failed: 1, failures: { carrier_unknown: 1 }, replies: 1 })
  while ((await foldCounters(db)) > 0);
  expect(await statsOf(`/v1/broadcasts/${second}`)).toEqual(moved)
  expect(await readCounterFaults(db)).toEqual([])
})

it('results add up, with those of single sends, to the campaign’s', async () => {
  const [one, other, all] = [
    await statsOf(`/v1/broadcasts/${first}`),
    await statsOf(`/v1/broadcasts/${second}`),
    await statsOf(`/v1/campaigns/${test.campaign}`),
  ]
  const alone = { recipients: 1, delivered: 1, segments: 1 }
  for (const name of [
    'recipients',
    'queued',
    'delivered',
    'failed',
    'replies',
    'opt_outs',
    'clicks',
    'segments',
  ] as const)
    expect([name, all[name]]).toEqual([name, one[name] + other[name] + (name in alone ? 1 : 0)])
})

it('results are in lists of broadcasts', async () => {
  for (const path of ['/v1/broadcasts', `/v1/campaigns/${test.campaign}/broadcasts`]) {
    const data = (await test.call('GET', path)).body['data'] as { id: string; stats: Stats }[]
    expect(data.map(({ id, stats }) => [id, stats])).toEqual([
      [second, await statsOf(`/v1/broadcasts/${second}`)],
      [first, await statsOf(`/v1/broadcasts/${first}`)],
    ])
  }
})

it('results drop an opt-out when the person opts in again, even after the reply’s message is deleted', async () => {
  await sql`update opt_outs set message_id = ${newId()} where message_id is not null`
  expect((await statsOf(`/v1/broadcasts/${first}`)).opt_outs).toBe(1)
  await test.ledger.reply('START', { source: bob })
  expect((await statsOf(`/v1/broadcasts/${first}`)).opt_outs).toBe(0)
})

it('results have their own series, breakdowns and file in the campaign’s stats', async () => {
  const path = `/v1/campaigns/${test.campaign}/stats`
  const { body } = await test.call('GET', `${path}?group=error&broadcast=${first}`)
  expect(body).toMatchObject({ total: { failed: 2 } })
  expect((await test.call('GET', `${path}?broadcast=${first}`)).body).toMatchObject({
    total: { messages: 4, replies: 3 },
  })
  const text = await exportOf(`${path}/export?broadcast=${second}`)
  expect(
    text
      .trim()
      .split('\n')
      .slice(1)
      .every((line) => /,(marketing|received),/.test(line)),
  ).toBe(true)
})

it('results are not visible from another campaign or account', async () => {
  const other = await test.newCampaign()
  const wrong = await test.call('GET', `/v1/campaigns/${other}/stats?broadcast=${first}&from=yesterday`)
  expect([wrong.status, errorsOf(wrong.body)]).toEqual([422, ['?broadcast invalid_value', '?from invalid_format']])
  expect((await test.call('GET', `/v1/broadcasts/${first}`, undefined, test.other)).status).toBe(404)
})
