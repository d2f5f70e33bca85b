import { readFileSync } from 'node:fs'
import { cutSegments, ESME, type Outcome } from '@heliogram/smpp'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FATES } from './fate-table.ts'
import { fateOf, ORDINARY } from './fates.ts'
import { bindClient, type Client, startSimulator, type Started, until } from './testing.ts'

describe('the table', () => {
  it('is the README’s table, row by row', () => {
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

  it('matches whole numbers before endings, with or without a plus', () => {
    expect(fateOf('15005550006').reply).toBeUndefined()
    expect(fateOf('15551230006').reply?.text).toBe('STOP')
    expect(fateOf('+15551230006').reply?.text).toBe('STOP')
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

  it('…0010 is delivered without a response to the submit', async () => {
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

  it.each([
    ['0040', ['DELIVRD', 'UNDELIV']],
    ['0041', ['UNDELIV', 'DELIVRD']],
    ['0042', ['ENROUTE', 'DELIVRD']],
    ['0043', ['DELIVRD', 'ENROUTE']],
    ['0044', ['ACCEPTD']],
    ['0045', ['UNKNOWN']],
    ['0046', ['DELETED']],
    ['0047', ['DND_REJECTED']],
  ])('…%s gets receipts that say %j', async (ending, stats) => {
    await client.submit(`1555123${ending}`, 'hello')
    await receiptsAnswered(stats.length)
    expect(client.receipts.map((receipt) => receipt.stat)).toEqual(stats)
    const isOnItsWay = stats.map((stat) => stat === 'ENROUTE')
    expect(client.receipts.map((receipt) => receipt.isIntermediate)).toEqual(isOnItsWay)
  })

  it.each(['0050', '0051', '0052', '0053', '0054', '0055', '0056', '0057', '0058'])(
    '…%s gets a receipt that can be read, however it is written',
    async (ending) => {
      const id = idOf(await client.submit(`1555123${ending}`, 'hello'))
      await until(() => client.receipts.length === 1, 'the receipt came')
      expect(client.receipts[0]).toMatchObject({ id, state: 'delivered' })
    },
  )

  it.each([
    ['0060', (id: string) => BigInt(id).toString(16).toUpperCase()],
    ['0061', (id: string) => id.padStart(20, '0')],
  ])('…%s gets a receipt whose id is written in another form', async (ending, spell) => {
    const id = idOf(await client.submit(`1555123${ending}`, 'hello'))
    await receiptsAnswered(1)
    expect(client.receipts[0]?.id).toBe(spell(id))
  })

  it.each([
    ['0025', [ESME.RMSGQFUL, ESME.RMSGQFUL, ESME.ROK]],
    ['0026', [ESME.RSYSERR, ESME.ROK]],
    ['0023', [ESME.RSYSERR, ESME.RSYSERR]],
    ['0027', [0x400, 0x400]],
  ])('…%s is refused, and accepted later if it says so', async (ending, statuses) => {
    const seen = []
    for (const _ of statuses) seen.push(statusOf(await client.submit(`1555123${ending}`, 'hello')))
    expect(seen).toEqual(statuses)
  })

  it.each(['0020', '0021', '0022', '0024'])('…%s is never accepted', async (ending) => {
    void client.submit(`1555123${ending}`, 'hello').catch(() => {})
    await until(() => started.simulator.stats().ignored === 1, 'it was ignored')
    expect(started.simulator.stats()).toMatchObject({ submits: 1, accepted: 0, refused: 0 })
  })

  it('…0029 is answered twice, …0030 without an id', async () => {
    const faults: string[] = []
    client.session.destroy()
    client = await bindClient(started.smppPort, 'transceiver', { onFault: (_, fault) => faults.push(fault.kind) })
    expect(idOf(await client.submit('15551230029', 'hello'))).not.toBe('')
    await until(() => faults.length === 1, 'the second answer came')
    expect(faults).toEqual(['unmatched'])
    expect(idOf(await client.submit('15551230030', 'hello'))).toBe('')
  })

  it.each([
    ['0031', 'RINVDSTADR', [0, ESME.RINVDSTADR, 0]],
    ['0049', 'UNDELIV', [0, 0, 0]],
  ])('…%s: of a long text the second part gets %s', async (ending, _, statuses) => {
    const parts = cutSegments('A long text, every word of it. '.repeat(13), { mode: 'udh8', reference: 3 })
    const seen = []
    for (const part of parts) seen.push(statusOf(await client.submit(`1555123${ending}`, 'part', part)))
    expect(seen).toEqual(statuses)
    const expected = ending === '0049' ? ['DELIVRD', 'UNDELIV', 'DELIVRD'] : ['DELIVRD', 'DELIVRD']
    await receiptsAnswered(expected.length)
    expect(client.receipts.map((receipt) => receipt.stat)).toEqual(expected)
  })

  it.each([
    ['0070', 4, 4],
    ['0071', 8, 4],
    ['0072', 3, 3],
  ])('…%s replies with %i PDUs of %i parts', async (ending, sent, parts) => {
    await client.submit(`1555123${ending}`, 'hello')
    await until(() => started.simulator.stats().repliesAnswered === sent, 'all is answered')
    const numbers = client.replies.flatMap((reply) => reply.parts.map((part) => part.concatenation?.part ?? 0))
    expect(new Set(numbers).size).toBe(parts)
    if (ending === '0070') expect(numbers).toEqual([4, 3, 2, 1])
  })
})
