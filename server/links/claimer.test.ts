/** When and for whom messages are claimed, with several carriers, links and paces. */
import { linkOpener } from '../carriers/open-link.ts'
import { describe, expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { findPlace } from '../queue/place.ts'
import { insertTestCarrier, insertTestSender, rowOf, silent } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { Claimer } from './claimer.ts'
import { LinkSet } from './link-set.ts'
import type { LinkOptions } from './link.ts'
import { InFlight } from './stranded.ts'
import { insertBacklog, openBoundTest, setPace, timesOf, type CarrierTest } from '../carriers/testing.ts'

let test: CarrierTest

const database = await createTestDatabase()

describe('a carrier that is down', () => {
  const other = '15550002222'
  async function openTwo(): Promise<string> {
    await open()
    const elsewhere = newId()
    await inTransaction(test.db, (tx) => insertTestCarrier(tx, elsewhere, { system_id: 'other' }))
    await insertTestSender(test.db, test.accountId, elsewhere, other)
    await until('its link tries', () => test.submitter.links.size === 2)
    return elsewhere
  }

  const apart = (): Promise<number> => test.count('queue q join backlogs b on b.id = q.lane_id', 'true')

  it('blocks nothing: its messages wait separately, once, with a reason, and others’ are sent', async () => {
    await openTwo()
    const held = await test.acceptor.acceptAll(Array.from({ length: 120 }, () => test.draft({ sender: other })))
    expect(held).toHaveLength(120)
    const mine = await Promise.all(Array.from({ length: 20 }, () => test.submit()))
    await Promise.all(mine.map(({ id }) => test.reaches(id, 'delivered')))
    await until('all are apart', async () => (await test.count('messages', `hold_reason = 'no_route'`)) === 120)
    expect(await test.count('delayed', 'true')).toBe(0)
    const read = async (): Promise<unknown> => await test.sql`select min(xmin::text), max(xmin::text) from queue`
    const before = await read()
    // They stay untouched while others pass.
    for (let i = 0; i < 5; i++) await test.reaches((await test.submit()).id, 'delivered')
    expect(await read()).toEqual(before)
    expect(await apart()).toBe(120)
  })

  it('gets its waiting messages when it comes back, in order', async () => {
    const elsewhere = await openTwo()
    const rows = []
    for (let i = 0; i < 30; i++) rows.push(await test.submit({ sender: other, body: `held ${i}` }))
    await until('they wait', async () => (await apart()) === 30)
    await test.sql`update carriers
      set settings = settings || jsonb_build_object('port', ${smppPort()}::int), updated_at = now()
      where id = ${elsewhere}`
    await Promise.all(rows.map(({ id }) => test.reaches(id, 'delivered')))
    expect(test.simulator.ledger.filter((entry) => entry.text.startsWith('held')).map((entry) => entry.text)).toEqual(
      rows.map((row) => row.body),
    )
    expect(await test.message(rows[0]?.id ?? '')).toMatchObject({ holdReason: null, carrierId: elsewhere, attempts: 1 })
  })

  it('gets all waiting messages in a few claims, though it had room for little of each at their last check', async () => {
    const elsewhere = await openTwo()
    await insertBacklog(test, 1200, 'transactional', other)
    await until('they wait', async () => (await apart()) === 1200)
    await test.sql`update carriers
      set settings = settings || jsonb_build_object('port', ${smppPort()}::int, 'window', 10), updated_at = now()
      where id = ${elsewhere}`
    await until('all have gone', () => timesOf(test, 'backlog').length === 1200)
  })

  it('loses all messages that another may now take, in a few claims, when carriers come or go', async () => {
    await openTwo()
    await insertBacklog(test, 1200, 'transactional', other)
    await until('they wait', async () => (await apart()) === 1200)
    await insertTestSender(test.db, test.accountId, test.carrierId, other)
    await inTransaction(test.db, (tx) => insertTestCarrier(tx, newId(), { system_id: 'third' }))
    await until('all have gone', () => timesOf(test, 'backlog').length === 1200)
  })

  it('loses messages for any carrier to the first of the others that comes up', async () => {
    await open()
    // Both are down, and no sender binds the messages to one of them.
    const first = newId()
    await inTransaction(test.db, (tx) => insertTestCarrier(tx, first, {}, { priority: 1 }))
    await test.sql`delete from senders`
    test.simulator.misbehave({ connect: 'drop' })
    test.simulator.do('drop')
    await until('both are known to be down', () => test.submitter.upCarriers.size === 0)
    await test.routing.refresh()
    const rows = await Promise.all(Array.from({ length: 10 }, () => test.submit()))
    test.simulator.behave()
    await Promise.all(rows.map(({ id }) => test.reaches(id, 'delivered')))
  })
})

describe('two carriers', () => {
  it('do not wait for each other if one is busy', async () => {
    await open()
    await setPace(test, 5)
    const fast = newId()
    await inTransaction(test.db, (tx) =>
      insertTestCarrier(tx, fast, { port: smppPort(), system_id: 'other' }, { pace: 1000 }),
    )
    await insertTestSender(test.db, test.accountId, fast, '15550003333')
    await until(
      'both are bound',
      () => [...test.submitter.links.values()].filter((link) => link.sessions > 0).length === 2,
    )
    await insertBacklog(test, 2000, 'transactional')
    const { id } = await test.submit({ sender: '15550003333' })
    await test.reaches(id, 'delivered')
    // The busy one takes minutes.
    expect(timesOf(test, 'backlog').length).toBeLessThan(60)
    // The busy one continues in order.
    const numbers = test.simulator.ledger.flatMap((entry) => /^backlog (\d+)$/.exec(entry.text)?.[1] ?? []).map(Number)
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => i + 1))
  })
})

/** Writes at our sockets: the rate that a carrier reads also depends on the load of the machine. */
function traceWritten(): { written: { link: string; text: string; at: number }[]; trace: LinkOptions['trace'] } {
  const written: { link: string; text: string; at: number }[] = []
  const trace: LinkOptions['trace'] = (link, direction, bytes) =>
    void (direction === 'out' && written.push({ link: link.id, text: bytes.toString('latin1'), at: performance.now() }))
  return { written, trace }
}

it('a carrier with two links uses both, each at its own pace, and one when the other is disabled', async () => {
  const { written, trace } = traceWritten()
  await open({ trace })
  await setPace(test, 20)
  const second = newId()
  await test.sql`insert into links (id, carrier_id, position, pace, settings)
    values (${second}, ${test.carrierId}, 2, 40, '{"sessions": 2}')`
  await until('all three sessions are bound', () => test.simulator.stats().bound === 3)
  await until('both paces hold', () => [...test.submitter.links.values()].map((link) => link.pace).join() === '20,40')
  await insertBacklog(test, 2000, 'marketing')
  const timesAt = (link?: string): number[] =>
    written.flatMap((one) => (one.text.includes('backlog') && one.link === (link ?? one.link) ? [one.at] : []))
  // On a busy machine, too, some second is undisturbed.
  await until('more go in a second than over either alone', () => mostInASecond(timesAt()) > 50)
  expect(mostInASecond(timesAt(test.linkId))).toBeLessThanOrEqual(21)
  expect(mostInASecond(timesAt(second))).toBeLessThanOrEqual(41)
  await test.sql`update links set enabled = false where id = ${second}`
  await until('its sessions are gone', () => test.simulator.stats().bound === 1)
  const { id } = await test.submit({ type: 'otp' })
  await test.reaches(id, 'delivered')
  const rows = await test.sql`select node_id from link_slots where link_id = ${second} and node_id is not null`
  await until('its leases are given back', () => rows.length === 0 || test.submitter.links.size === 1)
})

it('a message queued while the lanes are read is claimed at once, without another look', async () => {
  await open()
  await test.submitter.close()
  const { node, receiving } = test
  const linkSet = new LinkSet(
    { ...test.context, log: silent, node, openLink: linkOpener({ ...test.context, onDeliver: () => {} }) },
    { onAnswer() {}, onRoom() {} },
  )
  await linkSet.start()
  await until('the link is bound', () => linkSet.running.get(test.linkId)?.state === 'bound')
  // The database's first answer is late.
  const { promise: isLate, resolve: arrive } = Promise.withResolvers<void>()
  let reads = 0
  const db = new Proxy(test.db, {
    get: (target, name) => {
      if (name !== 'query') return Reflect.get(target, name)
      return async (query: string) => {
        const result = await target.query(query)
        if (++reads === 1) await isLate
        return result
      }
    },
  })
  const claimed: string[] = []
  const context = { ...receiving, ...test.context, db, nodeId: node.id, linkSet }
  // It is not started, so it only looks when called.
  const claimer = new Claimer({ ...context, inFlight: new InFlight(), submit: ({ id }) => claimed.push(id) })
  claimer.look()
  await until('the lanes are read, and empty', () => reads === 1)
  const { id } = await test.send()
  claimer.wake()
  arrive()
  await until('it is claimed', () => claimed.length > 0)
  expect(claimed).toEqual([id])
  await claimer.close()
  await linkSet.close()
})

/** An account with its own sender. */
async function newAccount(number: string): Promise<string> {
  const id = newId()
  await test.sql`insert into accounts (id, name) values (${id}, 'Other')`
  await insertTestSender(test.db, id, test.carrierId, number, true)
  await test.routing.refresh()
  return id
}

it('the pace of a sender, an account, a campaign or a lane is kept, and slows no others', async () => {
  const { written, trace } = traceWritten()
  await open({ trace })
  const statements = {
    sender: `update senders set pace = $1 where account_id = $2`,
    account: `update accounts set pace = $1 where id = $2`,
    campaign: `update campaigns set pace = $1 where account_id = $2`,
    lane: `update lanes set pace = $1 where account_id = $2 and type = 'marketing'`,
  }
  const paced = await Promise.all(
    Object.entries(statements).map(async ([name, statement], i) => {
      const accountId = await newAccount(`1555000400${i}`)
      const [campaignId, free] = [newId(), newId()]
      for (const id of [campaignId, free])
        await test.sql`insert into campaigns (account_id, id, name) values (${accountId}, ${id}, 'Sale')`
      // Its lanes begin with its first message.
      await test.submit({ accountId, type: 'marketing' })
      const setTo = (pace: number) =>
        test.db.query(`${statement}${name === 'campaign' ? ` and id = '${campaignId}'` : ''}`, [pace, accountId])
      // One in two seconds: forty take longer than a busy machine takes for all others.
      await setTo(0.5)
      return { name, accountId, campaignId, free, setTo }
    }),
  )
  const neighbour = await newAccount('15550005555')
  await until('the paces are known', () => paced.every((one) => test.submitter.limits.isLimited(one.accountId)))
  const count = 40
  const rows = paced.map(async ({ name, accountId, campaignId }) => {
    const drafts = Array.from({ length: count }, () =>
      test.draft({ accountId, campaignId, type: 'marketing', body: `by ${name}` }),
    )
    return test.acceptor.acceptAll(drafts)
  })
  await Promise.all(rows)
  const campaign = paced.find(({ name }) => name === 'campaign')
  if (!campaign) throw new Error('there is no campaign')
  const { accountId, campaignId, free } = campaign
  await test.acceptor.acceptAll([
    ...Array.from({ length: 50 }, () => test.draft({ accountId: neighbour, type: 'marketing', body: 'other' })),
    ...Array.from({ length: 50 }, () => test.draft({ accountId, campaignId: free, type: 'marketing', body: 'other' })),
  ])
  await until('the neighbours are through', () => timesOf(test, 'other').length === 100)
  // All messages with a pace came before them.
  for (const { name } of paced) expect(timesOf(test, `by ${name}`).length, name).toBeLessThan(count)
  // The estimate includes the wait for the pace.
  const last = rowOf(await test.acceptor.accept(test.draft({ accountId, campaignId, type: 'marketing', body: 'last' })))
  await until('it is counted', () => (test.submitter.estimateSendAt(last)?.getTime() ?? 0) > Date.now() + 20_000)
  const before = Date.now() + 2000 * (count - timesOf(test, 'by campaign').length)
  const estimate = test.submitter.estimateSendAt(last)?.getTime() ?? 0
  expect(Math.abs(estimate - before)).toBeLessThan(10_000)
  await until('it waits for the pace', async () => (await findPlace(test.db, last))?.holdReason === 'rate')
  for (const { setTo } of paced) await setTo(10)
  await until('all are through', () => paced.every(({ name }) => timesOf(test, `by ${name}`).length === count))
  await until('the last one, too', () => timesOf(test, 'last').length === 1)
  for (const { name } of paced) {
    const all = written.flatMap(({ text, at }) => (text.includes(`by ${name}`) ? [at] : []))
    expect(mostInASecond(all), name).toBeLessThanOrEqual(11)
    // In its best second, on a machine of any load.
    expect(mostInASecond(all), name).toBeGreaterThanOrEqual(8)
  }
})

it('a campaign keeps its pace from its first message, even if no process knows it yet', async () => {
  const { written, trace } = traceWritten()
  await open({ trace, turnMs: 1000 })
  const [accountId, other] = [await newAccount('15550004100'), await newAccount('15550004101')]
  const [campaignId, completed] = [newId(), newId()]
  // The paces have just been read, and are not read again before the messages come.
  await test.sql`update accounts set pace = 10 where id = ${other}`
  await until('the paces are read', () => test.submitter.limits.isLimited(other))
  await test.sql`insert into campaigns (account_id, id, name, pace, status)
    values (${accountId}, ${campaignId}, 'Sale', 10, 'sending'), (${accountId}, ${completed}, 'Over', 0.001, 'completed')`
  const draft = (of: string, body: string): Parameters<typeof test.acceptor.accept>[0] =>
    test.draft({ accountId, campaignId: of, type: 'marketing', body })
  await test.acceptor.acceptAll(Array.from({ length: 15 }, () => draft(campaignId, 'paced')))
  await test.acceptor.acceptAll(Array.from({ length: 3 }, () => draft(completed, 'single')))
  await until('all are through', () => timesOf(test, 'paced').length === 15 && timesOf(test, 'single').length === 3)
  const all = written.flatMap(({ text, at }) => (text.includes('paced') ? [at] : []))
  expect(mostInASecond(all)).toBeLessThanOrEqual(11)
})

async function open(options: Parameters<typeof openBoundTest>[1] = {}): Promise<void> {
  test = await openBoundTest(database.db, options)
}

const smppPort = (): number => test.submitter.links.get(test.linkId)?.settings.port ?? 0

/** Most submits in any second. */
function mostInASecond(all: number[]): number {
  let most = 0
  for (let i = 0; i < all.length; i++) {
    let n = 0
    while (i + n < all.length && (all[i + n] ?? 0) - (all[i] ?? 0) < 1000) n++
    most = Math.max(most, n)
  }
  return most
}
