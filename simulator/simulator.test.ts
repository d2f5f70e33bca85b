import { createReferences, cutSegments, type ConcatenationMode, ESME, SessionError } from '@heliogram/smpp'
import { afterEach, describe, expect, it } from 'vitest'
import type { SimulatorOptions } from './options.ts'
import { type Simulator } from './simulator.ts'
import { bindClient, type Client, startSimulator, until } from './testing.ts'

const open: { close(): unknown }[] = []

afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close()
})

describe('receipts and replies', () => {
  it('go to any receiving session of the system_id that submitted', async () => {
    const { smppPort } = await start()
    const transmitter = await bind(smppPort, 'transmitter')
    const receiver = await bind(smppPort, 'receiver')
    const stranger = await bind(smppPort, 'transceiver', { system_id: 'stranger' })
    await transmitter.submit('15551230001', 'hello')
    await until(() => receiver.receipts.length === 1, 'the receiver has the receipt')
    expect([transmitter.receipts, stranger.receipts]).toEqual([[], []])
  })

  it('are held until a session receives', async () => {
    const { simulator, smppPort } = await start()
    const transmitter = await bind(smppPort, 'transmitter')
    await transmitter.submit('15551230001', 'hello')
    simulator.reply('15551230001', '15550100', 'hi')
    expect(simulator.stats()).toMatchObject({ receiptsDue: 1, receiptsSent: 0, held: 2 })
    const receiver = await bind(smppPort, 'receiver')
    await until(() => receiver.replies.length === 1, 'the reply came')
    expect(receiver.receipts).toHaveLength(1)
    expect(simulator.stats().held).toBe(0)
  })

  it('typed before any bind go to the first session that receives', async () => {
    const { simulator, smppPort } = await start()
    simulator.reply('15551230001', '15550100', 'anyone?')
    const client = await bind(smppPort)
    await until(() => client.replies.length === 1, 'the reply came')
  })

  it('are repeated over the next session if the last one was lost without a response', async () => {
    const { simulator, smppPort } = await start()
    const first = await bind(smppPort)
    first.answer = () => first.session.destroy()
    await first.submit('15551230001', 'hello')
    await until(() => first.receipts.length === 1, 'the receipt came')
    const second = await bind(smppPort)
    await until(() => simulator.stats().receiptsAnswered === 1, 'the receipt is answered')
    expect(second.receipts).toEqual(first.receipts)
    expect(simulator.stats()).toMatchObject({ receiptsSent: 1, redelivered: 1, held: 0 })
  })

  it('are repeated over another existing session if one is lost without a response', async () => {
    const { simulator, smppPort } = await start()
    const clients = [await bind(smppPort), await bind(smppPort)]
    let isLost = false
    for (const client of clients) {
      client.answer = (_, respond) => {
        if (isLost) return respond(ESME.ROK)
        isLost = true
        client.session.destroy()
      }
    }
    await clients[0]?.submit('15551230001', 'hello')
    await until(() => simulator.stats().receiptsAnswered === 1, 'the receipt is answered')
    expect(clients.map(({ receipts }) => receipts.length)).toEqual([1, 1])
    expect(simulator.stats()).toMatchObject({ receiptsSent: 1, redelivered: 1, held: 0 })
  })

  it('are repeated when refused temporarily or not answered in time, but not forever', async () => {
    const { simulator, smppPort } = await start({ attemptsMax: 3, retryDelayMs: 1, deliverTimeoutMs: 200 })
    const client = await bind(smppPort)
    client.answer = (_, respond) => {
      if (client.receipts.length === 1) respond(ESME.RX_T_APPN)
    }
    await client.submit('15551230001', 'hello')
    await until(() => simulator.stats().dropped === 1, 'the receipt is given up')
    expect(client.receipts).toHaveLength(3)
    client.answer = (_, respond) => respond(ESME.RX_P_APPN)
    await client.submit('15551230001', 'hello again')
    await until(() => simulator.stats().dropped === 2, 'the refused receipt is given up at once')
    expect(client.receipts).toHaveLength(4)
  })

  it('never exceed the window', async () => {
    const { simulator, smppPort } = await start({ windowMax: 2 })
    const client = await bind(smppPort)
    const answers: (() => void)[] = []
    client.answer = (_, respond) => void answers.push(() => respond(ESME.ROK))
    for (let index = 0; index < 6; index++) await client.submit('15551230001', `hello ${index}`)
    await until(() => answers.length === 2, 'the window is full')
    expect(simulator.stats().held).toBe(4)
    await until(() => {
      answers.shift()?.()
      return client.receipts.length === 6
    }, 'all receipts came')
  })

  it('are not sent unless requested', async () => {
    const { simulator, smppPort } = await start()
    const client = await bind(smppPort)
    await client.submit('15551230001', 'none', { registered_delivery: 0 })
    await client.submit('15551230001', 'only of failure', { registered_delivery: 2 })
    await client.submit('15551230002', 'only of failure', { registered_delivery: 2 })
    await until(() => client.receipts.length > 0, 'a receipt came')
    expect(client.receipts.map((receipt) => receipt.stat)).toEqual(['UNDELIV'])
    expect(simulator.stats().receiptsDue).toBe(1)
  })

  it.each([
    ['decimal', /^\d+$/, (id: string) => id],
    ['hex', /^[0-9a-f]+$/, (id: string) => id],
    ['hex_decimal', /^[0-9a-f]+$/, (id: string) => BigInt(`0x${id}`).toString()],
    ['decimal_hex', /^\d+$/, (id: string) => BigInt(id).toString(16)],
  ] as const)('write ids as %s', async (idFormat, answered, receipted) => {
    const { smppPort } = await start({ idFormat, hasReceiptTlvs: false })
    const client = await bind(smppPort)
    const outcome = await client.submit('15551230001', 'hello')
    const id = outcome.kind === 'response' ? outcome.messageId : ''
    expect(id).toMatch(answered)
    await until(() => client.receipts.length === 1, 'the receipt came')
    expect(client.receipts[0]?.id).toBe(receipted(id))
  })
})

it.each<[SimulatorOptions['alphabet'], number, Buffer, string | null, string]>([
  ['gsm7', 0, Buffer.from([0, 0x41]), '@A', 'GSM-7'],
  ['latin1', 0, Buffer.from('Señor', 'latin1'), 'Señor', 'other'],
  ['gsm7', 3, Buffer.from('Señor', 'latin1'), 'Señor', 'other'],
  ['gsm7', 8, Buffer.from([0x04, 0x16]), 'Ж', 'UCS-2'],
  ['gsm7', 4, Buffer.from([1, 2]), null, 'binary'],
])('a phone reads in %s a submit of data_coding %i', async (alphabet, data_coding, short_message, text, encoding) => {
  const { simulator, smppPort } = await start({ ...(alphabet && { alphabet }) })
  const client = await bind(smppPort)
  await client.submit('15551230001', 'octets', { data_coding, short_message })
  expect(simulator.phones.messages('15551230001')).toMatchObject([{ text, encoding, segments: 1 }])
})

describe('long messages', () => {
  const text = `${'A long text, with €uros and [brackets]. '.repeat(10)}The end.`

  it.each(['udh8', 'udh16', 'sar', 'payload'] as const)(
    'are shown complete when cut by %s, in any order',
    async (mode) => {
      const { simulator, smppPort } = await start()
      const client = await bind(smppPort)
      const parts = cutSegments(text, { mode, reference: createReferences()('15551230001') })
      for (const [index, part] of parts.reverse().entries()) await client.submit('15551230001', `${index}`, part)
      const [message, ...others] = simulator.phones.messages('15551230001')
      expect(others).toEqual([])
      expect(message).toMatchObject({ text, encoding: 'GSM-7', segments: 3, segmentsHere: 3, peer: '15550100' })
      await until(() => simulator.stats().receiptsAnswered === parts.length, 'every part has its receipt')
    },
  )

  it('are shown as far as they have arrived', async () => {
    const { simulator, smppPort } = await start()
    const client = await bind(smppPort)
    const [first = {}] = cutSegments(text, { mode: 'udh8', reference: 7 })
    await client.submit('15551230001', 'first part', first)
    const [message] = simulator.phones.messages('15551230001')
    expect(message).toMatchObject({ segments: 3, segmentsHere: 1 })
    expect(text.startsWith(message?.text ?? 'nothing')).toBe(true)
  })

  it.each(['udh8', 'udh16', 'sar', 'payload'] as ConcatenationMode[])(
    'typed on a phone are cut by %s',
    async (concatenation) => {
      const { simulator, smppPort } = await start({ concatenation })
      const client = await bind(smppPort)
      simulator.misbehave({ partOrder: 'last_first' })
      const typed = `${'Не по-английски 🙂 '.repeat(20)}.`
      const progress = simulator.reply('15551230001', '15550100', typed)?.progress
      await until(() => progress?.answered === progress?.due, 'all parts are answered')
      expect(client.replies).toEqual([expect.objectContaining({ from: '15551230001', to: '15550100', text: typed })])
    },
  )

  it('are echoed once they are complete', async () => {
    const { simulator, smppPort } = await start()
    const client = await bind(smppPort)
    for (const part of cutSegments(text, { mode: 'udh8', reference: 9 }))
      await client.submit('15551230007', 'part', part)
    await until(() => simulator.stats().repliesAnswered === 3, 'the echo is answered')
    expect(client.replies.map((reply) => reply.text)).toEqual([text])
  })
})

describe('counts of submits', () => {
  it('include each submit, and earlier ones', async () => {
    const { simulator, smppPort } = await start({ keepLedger: true })
    const client = await bind(smppPort)
    await client.submit('15551230001', 'one')
    await client.submit('15551230001', 'two')
    await client.submit('15551230001', 'one')
    await client.submit('15551230002', 'one')
    await client.submit('15005550001', 'refused')
    expect(simulator.stats()).toMatchObject({
      submits: 5,
      accepted: 4,
      distinct: 3,
      duplicates: 1,
      refused: 1,
      bound: 1,
    })
    expect(simulator.ledger.map((entry) => [entry.destination, entry.text, entry.status])).toEqual([
      ['15551230001', 'one', 'ROK'],
      ['15551230001', 'two', 'ROK'],
      ['15551230001', 'one', 'ROK'],
      ['15551230002', 'one', 'ROK'],
      ['15005550001', 'refused', 'RINVDSTADR'],
    ])
  })

  it('separate sent from answered', async () => {
    const { simulator, smppPort } = await start({ keepLedger: true })
    const client = await bind(smppPort)
    const answers: (() => void)[] = []
    client.answer = (_, respond) => void answers.push(() => respond(ESME.ROK))
    await client.submit('15551230001', 'hello')
    await until(() => answers.length === 1, 'the receipt came')
    simulator.reply('15551230001', '15550100', 'hi')
    await until(() => answers.length === 2, 'the reply came')
    const sent = { receiptsDue: 1, receiptsSent: 1, repliesTyped: 1, repliesSent: 1, redelivered: 0, dropped: 0 }
    expect(simulator.stats()).toMatchObject({ ...sent, receiptsAnswered: 0, repliesAnswered: 0 })
    expect(simulator.deliveries).toMatchObject([
      { kind: 'receipt', timesSent: 1, answer: null },
      { kind: 'reply', timesSent: 1, answer: null },
    ])
    for (const answer of answers) answer()
    await until(() => simulator.stats().repliesAnswered === 1, 'the reply is answered')
    expect(simulator.stats()).toMatchObject({ ...sent, receiptsAnswered: 1 })
  })

  it('keep to their bounds', async () => {
    const { simulator, smppPort } = await start({ phonesMax: 3, messagesMax: 2, heldMax: 5 })
    const client = await bind(smppPort, 'transmitter')
    for (let index = 0; index < 20; index++) {
      await client.submit(`1555123${index % 5}111`, `hello ${index}`)
      await client.submit('15551239999', `hello ${index}`)
    }
    expect(simulator.phones.list().map((phone) => phone.number)).toEqual(['15551239999', '15551234111', '15551233111'])
    expect(simulator.phones.messages('15551239999').map((message) => message.text)).toEqual(['hello 18', 'hello 19'])
    expect(simulator.stats()).toMatchObject({ accepted: 40, held: 5, dropped: 35 })
    expect([simulator.ledger, simulator.deliveries]).toEqual([[], []])
  })
})

describe('a simulator with faults', () => {
  it('accepts only clients with a password, if there are any', async () => {
    const { simulator, smppPort } = await start({ credentials: { me: 'secret' } })
    await bind(smppPort, 'transceiver', { system_id: 'me', password: 'secret' })
    const refused = (fields: object): Promise<unknown> => bind(smppPort, 'receiver', fields).catch((error) => error)
    const wrong = await refused({ system_id: 'me', password: 'guess' })
    const unknown = await refused({ system_id: 'toString', password: '' })
    expect([wrong, unknown].map((error) => error instanceof SessionError && error.bindStatus)).toEqual([
      ESME.RINVPASWD,
      ESME.RINVSYSID,
    ])
    expect(simulator.stats()).toMatchObject({ binds: 1, bindsRefused: 2 })
  })

  it.each([
    ['RINVSYSTYP', 'bind_refused'],
    ['nack', 'bind_refused'],
    ['silent', 'bind_timeout'],
  ] as const)('answers binds with %s', async (fault, reason) => {
    const { simulator, smppPort } = await start()
    simulator.misbehave({ bind: fault })
    const error: unknown = await bind(smppPort, 'receiver', { bindTimeoutMs: 200 }).catch((error: unknown) => error)
    expect(error instanceof SessionError && error.reason).toBe(reason)
  })

  it.each([
    ['RSYSERR', { kind: 'response', status: ESME.RSYSERR }],
    ['nack', { kind: 'response', status: ESME.RSYSERR, pdu: { command: 'generic_nack' } }],
    ['nack_null', { kind: 'timeout' }],
    ['silent', { kind: 'timeout' }],
    ['drop', { kind: 'closed', written: true }],
    ['unbind', { kind: 'closed', written: true }],
  ] as const)('answers submits with %s', async (fault, outcome) => {
    const { simulator, smppPort } = await start()
    const client = await bind(smppPort, 'transceiver', { responseTimeoutMs: 300 })
    simulator.misbehave({ submit: fault })
    expect(await client.submit('15551230001', 'hello')).toMatchObject(outcome)
    expect(simulator.stats().accepted).toBe(0)
  })

  it('throttles a share of the submits, or those above a rate', async () => {
    const { simulator, smppPort } = await start()
    const client = await bind(smppPort)
    simulator.misbehave({ throttleRatio: 1 })
    expect(await client.submit('15551230001', 'hello')).toMatchObject({ status: ESME.RTHROTTLED })
    simulator.misbehave({ throttleRatio: 0, submitsPerSecondMax: 2 })
    const statuses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => client.submit('15551230001', `hello ${index}`)),
    )
    const accepted = statuses.filter((outcome) => outcome.kind === 'response' && outcome.status === ESME.ROK)
    // Two in each second that they fell into.
    expect([2, 4]).toContain(accepted.length)
  })

  it('holds responses and receipts until it is released', async () => {
    const { simulator, smppPort } = await start()
    const client = await bind(smppPort)
    simulator.misbehave({ isPaused: true, isHoldingReceipts: true })
    const submitted = client.submit('15551230001', 'hello')
    await until(() => simulator.stats().held === 1, 'the receipt is held')
    expect(client.outcomes.size).toBe(0)
    simulator.misbehave({ isPaused: false })
    expect(await submitted).toMatchObject({ status: ESME.ROK })
    expect(client.receipts).toEqual([])
    simulator.misbehave({ isHoldingReceipts: false })
    await until(() => client.receipts.length === 1, 'the receipt came')
  })

  it.each([
    ['drop', 'peer_closed'],
    ['unbind', 'peer_unbound'],
    ['length_zero', 'framing_error'],
    ['length_too_short', 'framing_error'],
    ['length_too_long', 'framing_error'],
    ['garbage', 'framing_error'],
  ] as const)('ends sessions by %s', async (deed, reason) => {
    const { simulator, smppPort } = await start()
    const { session } = await bind(smppPort)
    simulator.do(deed)
    await until(() => session.state === 'closed', 'the session is closed')
    expect(session.closeReason).toBe(reason)
  })

  it.each([
    'enquire_link',
    'generic_nack',
    'outbind',
    'alert_notification',
    'unknown_command',
    'malformed',
    'truncated',
    'tlv_overrun',
    'stray_response',
    'unmatched_receipt',
  ] as const)('sends %s, and the session continues', async (deed) => {
    const { simulator, smppPort } = await start()
    const seen: Buffer[] = []
    const client = await bind(smppPort, 'transceiver', { trace: (_, way, bytes) => way === 'in' && seen.push(bytes) })
    const before = seen.length
    simulator.do(deed)
    await until(() => seen.length > before, 'it came')
    expect(await client.submit('15551230001', 'hello')).toMatchObject({ status: ESME.ROK })
  })

  it('sends a receipt for a message that was never submitted', async () => {
    const { simulator, smppPort } = await start()
    const client = await bind(smppPort)
    simulator.do('unmatched_receipt')
    await until(() => client.receipts.length === 1, 'it came')
    expect(client.receipts[0]).toMatchObject({ id: '0', state: 'delivered' })
  })
})

it('answers like a real link by default: with a delay, and out of order', async () => {
  const { smppPort } = await start({ responseDelay: { min: 5, max: 60 }, receiptDelay: { min: 5, max: 60 } })
  const client = await bind(smppPort)
  const texts = Array.from({ length: 40 }, (_, index) => `hello ${index}`)
  await Promise.all(texts.map((text) => client.submit('15551230001', text)))
  const order = client.happened.filter((event) => event.startsWith('outcome')).map((event) => event.split(' ').at(-1))
  expect(order).not.toEqual(order.toSorted((a, b) => Number(a) - Number(b)))
  await until(() => client.receipts.length === texts.length, 'all receipts came')
})

it('unbinds its sessions when it closes, and can restart on its port', async () => {
  const first = await startSimulator()
  const { session } = await bind(first.smppPort)
  await first.simulator.close()
  expect(session.closeReason).toBe('peer_unbound')
  const second = await start({ port: first.smppPort })
  await bind(second.smppPort)
})

async function start(options?: SimulatorOptions): Promise<{ simulator: Simulator; smppPort: number; url: string }> {
  const started = await startSimulator(options)
  open.push(started.simulator)
  return started
}

async function bind(...given: Parameters<typeof bindClient>): Promise<Client> {
  const client = await bindClient(...given)
  open.push({ close: () => client.session.destroy() })
  return client
}
