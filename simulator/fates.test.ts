import { readFileSync } from 'node:fs'
import { ESME, type Outcome } from '@heliogram/smpp'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FATES, fateOf, ORDINARY } from './fates.ts'
import { bindClient, type Client, startSimulator, type Started, until } from './testing.ts'

describe('the table', () => {
  it('is the table of the README, row by row', () => {
    const readme = readFileSync(new URL('README.md', import.meta.url), 'utf8').split('\n## HTTP')[0] ?? ''
    const rows = [...readme.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, recipient, happens]) => [
      recipient,
      happens,
    ])
    const table = [...FATES, ORDINARY].map(({ recipient, happens }) => [
      /^\d{4}$/.test(recipient) ? `…${recipient}` : recipient,
      happens,
    ])
    expect(rows).toEqual(table)
  })

  it('takes whole numbers before endings, with or without a plus', () => {
    expect(fateOf('15005550006').reply).toBeUndefined()
    expect(fateOf('15551230006').reply).toBe('STOP')
    expect(fateOf('+15551230006').reply).toBe('STOP')
    expect(fateOf('447700900123')).toBe(ORDINARY)
    expect(fateOf('0002').receipt?.state).toBe('undeliverable')
  })
})

describe('a message to', () => {
  let started: Started
  let client: Client

  beforeEach(async () => {
    started = await startSimulator()
    client = await bindClient(started.smppPort)
  })
  afterEach(async () => {
    client.session.destroy()
    await started.simulator.close()
  })

  const statusOf = (outcome: Outcome): number | string => (outcome.kind === 'response' ? outcome.status : outcome.kind)
  const idOf = (outcome: Outcome): string => (outcome.kind === 'response' ? outcome.messageId : '')
  const receiptsAnswered = (count: number): Promise<void> =>
    until(() => started.simulator.stats().receiptsAnswered === count, `${count} receipts are answered`)

  it.each(['15551230001', '447700900123', '15005550006'])('%s is delivered', async (to) => {
    const outcome = await client.submit(to, 'hello')
    expect(statusOf(outcome)).toBe(ESME.ROK)
    await receiptsAnswered(1)
    expect(client.receipts[0]).toMatchObject({ id: idOf(outcome), state: 'delivered', stat: 'DELIVRD', err: '000' })
    expect(client.replies).toEqual([])
  })

  it.each([
    ['15551230002', 'undeliverable', 'UNDELIV', '001'],
    ['15551230014', 'rejected', 'REJECTD', '013'],
    ['15551230015', 'expired', 'EXPIRED', '027'],
    ['15005550009', 'undeliverable', 'UNDELIV', '011'],
  ])('%s ends %s', async (to, state, stat, err) => {
    const outcome = await client.submit(to, 'hello')
    await receiptsAnswered(1)
    const networkErrorCode = { network: 3, code: Number(err) }
    expect(client.receipts[0]).toMatchObject({ id: idOf(outcome), state, stat, err, networkErrorCode })
  })

  it.each([
    ['15005550001', ESME.RINVDSTADR],
    ['15005550002', ESME.RDELIVERYFAILURE],
    ['15005550003', ESME.RPROHIBITED],
    ['15005550004', ESME.RX_R_APPN],
  ])('%s is refused', async (to, status) => {
    expect(statusOf(await client.submit(to, 'hello'))).toBe(status)
    expect(started.simulator.stats()).toMatchObject({ submits: 1, accepted: 0, refused: 1, receiptsDue: 0 })
    expect(started.simulator.phones.list()).toEqual([])
  })

  it('…0003 is throttled twice, then delivered', async () => {
    const statuses = []
    for (let time = 0; time < 3; time++) statuses.push(statusOf(await client.submit('15551230003', 'hello')))
    expect(statuses).toEqual([ESME.RTHROTTLED, ESME.RTHROTTLED, ESME.ROK])
    await receiptsAnswered(1)
    expect(started.simulator.stats()).toMatchObject({ throttled: 2, accepted: 1, distinct: 1, duplicates: 0 })
  })

  it('…0004 is accepted and never gets a receipt', async () => {
    expect(statusOf(await client.submit('15551230004', 'hello'))).toBe(ESME.ROK)
    await client.submit('15551230001', 'another, whose receipt comes after')
    await receiptsAnswered(1)
    expect(client.receipts).toHaveLength(1)
    expect(started.simulator.stats().receiptsDue).toBe(1)
  })

  it('…0005 gets its receipt before the submit response', async () => {
    const outcome = await client.submit('15551230005', 'hello')
    expect(client.happened).toEqual([`receipt ${idOf(outcome)}`, 'outcome 15551230005 hello'])
  })

  it('…0006 is delivered, then replies STOP', async () => {
    const outcome = await client.submit('15551230006', 'hello')
    await until(() => client.replies.length === 1, 'a reply came')
    expect(client.replies[0]).toMatchObject({ from: '15551230006', to: '15550100', text: 'STOP' })
    expect(client.happened.slice(-2)).toEqual([`receipt ${idOf(outcome)}`, 'reply 15551230006'])
  })

  it('…0007 is delivered, then replies with the text it got', async () => {
    await client.submit('15551230007', 'any text')
    await until(() => client.replies.length === 1, 'a reply came')
    expect(client.replies[0]).toMatchObject({ from: '15551230007', text: 'any text' })
  })

  it('…0010 is delivered without an answer to the submit', async () => {
    void client.submit('15551230010', 'hello').catch(() => {})
    await receiptsAnswered(1)
    expect(client.outcomes.size).toBe(0)
    client.session.destroy()
  })

  it('…0011 closes the connection instead of answering, and is delivered over the next', async () => {
    expect(await client.submit('15551230011', 'hello')).toEqual({ kind: 'closed', written: true })
    client = await bindClient(started.smppPort)
    await receiptsAnswered(1)
    expect(client.receipts[0]?.state).toBe('delivered')
  })

  it('…0012 gets its receipt three times', async () => {
    const id = idOf(await client.submit('15551230012', 'hello'))
    await receiptsAnswered(3)
    expect(client.receipts.map((receipt) => receipt.id)).toEqual([id, id, id])
  })

  it('…0013 gets a receipt with a hexadecimal id', async () => {
    const id = idOf(await client.submit('15551230013', 'hello'))
    await receiptsAnswered(1)
    expect(client.receipts[0]?.id).toBe(BigInt(id).toString(16))
  })
})
