/**
 * A hostile carrier's effects on sessions, binds, submits and receipts: each scenario runs the real service against the real simulator, and ends
 * with the books of both. Several services share the table; each scenario has one to itself.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CarrierProcess } from './carrier.ts'
import type { Message } from './client.ts'
import { audit, Lane, readBooks } from './lane.ts'
import { until } from './until.ts'

const lanesCount = 2
/** Five segments. */
const long = 'Every word of it, and then some more of them. '.repeat(15).trim()
const short = 'Are you there?'
const sound = '1001'
/** Unknown whether the carrier took it; if so, the receipt decides. */
const unknown: Message['status'][] = ['unconfirmed', 'delivered']

interface Scenario {
  name: string
  settings?: Record<string, unknown>
  control?: Record<string, unknown>
  before?: (lane: Lane) => Promise<unknown>
  /** Endings of the recipients. Default: one without faults. */
  to?: string[]
  text?: string
  meanwhile?: (lane: Lane, messages: Message[]) => Promise<unknown>
  becomes?: Message['status'][]
  answers?: string[]
  after?: (lane: Lane, messages: Message[]) => Promise<unknown>
}

const control = (faults: Record<string, unknown>) => (lane: Lane) => lane.carrier.phones.control(faults)
const behave = control({ reset: true })
const tells = (reason: RegExp) => (lane: Lane) => lane.waitForError(reason)

const first =
  (...steps: ((lane: Lane, messages: Message[]) => Promise<unknown>)[]) =>
  async (lane: Lane, messages: Message[] = []): Promise<void> => {
    for (const step of steps) await step(lane, messages)
  }

const are =
  (...statuses: Message['status'][]) =>
  async (lane: Lane, messages: Message[]): Promise<void> => {
    for (const { id } of messages) await lane.client.waitForStatus(id, statuses)
  }

const isBoundOnce = async (lane: Lane): Promise<void> => {
  expect((await lane.carrier.phones.stats()).binds).toBe(lane.bindsBefore)
}

/** A refused bind is reported, is not retried immediately, and is retried after an operator's change. */
const isTold = (status: RegExp) =>
  first(tells(status), async (lane) => {
    const { bindsRefused } = await lane.carrier.phones.stats()
    await behave(lane)
    await lane.change({})
    await until('the link is bound', async () => (await lane.client.link()).state === 'bound')
    expect((await lane.carrier.phones.stats()).bindsRefused).toBe(bindsRefused)
  })

const replied =
  (times: number) =>
  async (lane: Lane, [message]: Message[]): Promise<void> => {
    const isThere = async (): Promise<boolean> => (await lane.replies(message?.to ?? '')).length >= times
    await until('the reply came', isThere)
    expect(await lane.replies(message?.to ?? '')).toEqual(Array.from({ length: times }, () => short))
  }

const many = Array.from({ length: 20 }, (_, n) => String(2000 + n))

/** The slowest first, to shorten the run. */
const scenarios: Scenario[] = [
  {
    name: 'a connection that is half open: what is written is unknown, and the link finds out by its enquire_link',
    settings: { enquire_link_seconds: 1 },
    before: control({ do: 'half_open' }),
    becomes: ['unconfirmed'],
    meanwhile: first(tells(/enquire_timeout/), (lane) => sendAnother(lane)),
    answers: [],
  },
  {
    name: 'enquire_link is never answered on a live connection',
    settings: { enquire_link_seconds: 1 },
    control: { enquire: 'silent' },
    meanwhile: first(are('delivered'), tells(/enquire_timeout/), behave, (lane) => sendAnother(lane)),
  },
  {
    name: 'a black hole: connections are taken and nothing is ever said',
    before: first(control({ connect: 'half_open', do: 'drop' }), tells(/bind_timeout/)),
    meanwhile: first(are('queued'), behave),
  },
  {
    name: 'a bind is never answered',
    before: first(control({ bind: 'silent', bindTimes: 1, do: 'drop' }), tells(/bind_timeout/)),
  },
  {
    name: 'a PDU is begun and never finished',
    before: first(control({ do: 'partial_pdu' }), tells(/partial_pdu|bind/)),
  },

  {
    name: 'connections are closed at once',
    before: first(control({ connect: 'drop', do: 'drop' }), tells(/peer_closed|ECONNRESET/)),
    meanwhile: first(are('queued'), behave),
  },
  { name: 'the connection is closed on a bind', control: { bind: 'drop', bindTimes: 1, do: 'drop' } },
  { name: 'a bind is answered by generic_nack', control: { bind: 'nack', bindTimes: 1, do: 'drop' } },
  { name: 'a bind fails (RBINDFAIL)', control: { bind: 'RBINDFAIL', bindTimes: 1, do: 'drop' } },
  { name: 'the password is refused', control: { bind: 'RINVPASWD', do: 'drop' }, meanwhile: isTold(/RINVPASWD/) },
  { name: 'the system_id is refused', control: { bind: 'RINVSYSID', do: 'drop' }, meanwhile: isTold(/RINVSYSID/) },
  { name: 'we are bound already, it says', control: { bind: 'RALYBND', do: 'drop' }, meanwhile: isTold(/RALYBND/) },
  {
    name: 'one session is allowed: the old one is gone before the new one comes',
    control: { sessionsMax: 1 },
    before: async (lane) => {
      const { bindsRefused } = await lane.carrier.phones.stats()
      await lane.change({})
      await until('the link is bound', async () => (await lane.client.link()).state === 'bound')
      expect((await lane.carrier.phones.stats()).bindsRefused).toBe(bindsRefused)
    },
  },
  {
    name: 'two sessions where one is allowed: refused, and told',
    control: { sessionsMax: 1 },
    before: (lane) => lane.change({ bind: 'transmitter_receiver' }),
    meanwhile: first(tells(/RALYBND/), behave, (lane) => lane.change({ bind: 'transceiver' })),
  },
  {
    name: 'a receipt comes before the bind is answered: refused for now, and taken when it comes again',
    control: { isHoldingReceipts: true },
    meanwhile: first(
      are('sent'),
      control({ connect: 'drop', do: 'drop' }),
      tells(/./),
      control({ isHoldingReceipts: false, connect: 'accept', bind: 'deliver_first' }),
    ),
  },
  { name: 'an unbind is not answered', control: { unbind: 'silent' }, before: (lane) => lane.change({}) },
  { name: 'it says unbind', control: { do: 'unbind' } },
  { name: 'it says unbind behind a receipt', control: { do: 'deliver_unbind' } },

  { name: 'a command_length of 0', before: first(control({ do: 'length_zero' }), tells(/framing_error/)) },
  { name: 'a command_length of 8', before: first(control({ do: 'length_too_short' }), tells(/framing_error/)) },
  { name: 'a command_length of 2 GiB', before: first(control({ do: 'length_too_long' }), tells(/framing_error/)) },
  { name: 'HTTP instead of SMPP', before: first(control({ do: 'garbage' }), tells(/framing_error/)) },
  {
    name: 'PDUs that are unknown, broken, unexpected or about nothing cost the session nothing',
    before: async (lane) => {
      const deeds = ['unknown_command', 'malformed', 'truncated', 'tlv_overrun', 'outbind', 'alert_notification']
      const more = ['enquire_link', 'generic_nack', 'stray_response', 'unmatched_receipt']
      for (const deed of [...deeds, ...more]) await lane.carrier.phones.control({ do: deed })
    },
    after: isBoundOnce,
  },
  { name: 'all that it says is dribbled', control: { octetsPerSecond: 400 }, after: isBoundOnce },
  { name: 'TLS with a certificate that is trusted, and with one that is not', meanwhile: throughTls },

  {
    name: 'a submit is swallowed',
    control: { submit: 'silent', submitTimes: 1 },
    becomes: ['unconfirmed'],
    answers: ['silent'],
  },
  {
    name: 'the connection is closed on a submit that was not taken',
    to: ['0021'],
    becomes: ['unconfirmed'],
    answers: ['drop'],
  },
  { name: 'the connection is closed on a submit that was taken: its receipt tells', to: ['0011'] },
  { name: 'an unbind comes on a submit', to: ['0022'], becomes: ['unconfirmed'], answers: ['unbind'] },
  {
    name: 'an unbind comes on a submit that was taken',
    control: { submit: 'unbind_taken', submitTimes: 1 },
  },
  {
    name: 'two segments of a long text are taken and not answered: their receipts tell, by our reference',
    settings: { user_message_reference: true },
    control: { submit: 'silent_taken', submitTimes: 2 },
    text: long,
  },
  {
    name: 'a submit that is swallowed is sent again, where the carrier’s setting says so, and says so',
    settings: { on_unknown: 'resend' },
    control: { submit: 'silent', submitTimes: 1 },
    answers: ['silent', 'ROK'],
    after: async (_, [message]) =>
      expect(message).toMatchObject({ attempts: 2, possible_duplicate: true, on_unknown: 'resend' }),
  },
  {
    name: 'a submit that is taken and not answered is not sent again: its receipt comes first',
    settings: { on_unknown: 'resend' },
    control: { submit: 'silent_taken', submitTimes: 1 },
    after: async (_, [message]) => expect(message).toMatchObject({ attempts: 1, possible_duplicate: false }),
  },
  {
    name: 'a submit is refused by generic_nack',
    control: { submit: 'nack', submitTimes: 1 },
    answers: ['nack', 'ROK'],
  },
  {
    name: 'a submit is refused by generic_nack for ever',
    to: ['0023'],
    becomes: ['queued', 'sending'],
    meanwhile: (lane, [message]) =>
      until('it was tried again', async () => message !== undefined && (await lane.answersTo(message)).length > 1),
    answers: ['nack', 'nack'],
  },
  {
    name: 'a generic_nack that does not say of what',
    control: { submit: 'nack_null', submitTimes: 1 },
    becomes: ['unconfirmed'],
    answers: ['nack_null'],
  },
  {
    name: 'the connection is reset in the middle of a window',
    control: { isPaused: true },
    to: many,
    meanwhile: first((lane) => untilAtCarrier(lane, many.length), control({ do: 'reset' }), behave),
    becomes: unknown,
  },
  { name: 'the queue is full for a while', control: { submit: 'RMSGQFUL', submitTimes: 3 }, to: ['2001', '2002'] },
  {
    name: 'half of all segments is refused with RMSGQFUL',
    control: { throttleRatio: 0.5, throttleStatus: 'RMSGQFUL' },
    text: long,
  },
  { name: 'two submits a second are taken, and no more', control: { submitsPerSecondMax: 2 }, to: many.slice(0, 6) },
  {
    name: 'answers that come when nobody waits for them any more settle what was unknown',
    control: { responseLatency: 'uniform:0-3000', receiptLatency: 'exponential:20' },
    to: many,
  },

  {
    name: 'a receipt is sent again because our answer was not heard',
    control: { deliver: 'deaf', deliverTimes: 1 },
    after: redelivered,
  },
  {
    name: 'a receipt is sent again over the next session',
    control: { deliver: 'drop', deliverTimes: 1 },
    after: redelivered,
  },
  {
    name: 'a reply is sent again over the next session, and is one',
    to: ['0007'],
    control: { deliver: 'drop', deliverTimes: 2 },
    after: first(replied(1), redelivered),
  },
  {
    // On a living session it cannot be distinguished from a person who says it twice.
    name: 'a reply is sent again over the same session, and is two',
    to: ['0007'],
    control: { deliver: 'deaf', deliverTimes: 2 },
    after: replied(2),
  },
  {
    name: 'receipts are held back and then come all at once',
    control: { isHoldingReceipts: true },
    to: Array.from({ length: 80 }, (_, n) => String(3000 + n)),
    meanwhile: first(are('sent'), control({ isHoldingReceipts: false })),
  },
  {
    name: 'a long text whose receipts come before their answers, three times and on their own session',
    settings: { bind: 'transmitter_receiver' },
    control: { fate: '0005' },
    text: long,
  },

  {
    name: 'ids: hexadecimal in responses, decimal in receipts',
    control: { ids: 'hex_decimal' },
    settings: { message_id_form: 'dec-to-hex' },
  },
  {
    name: 'ids: decimal in responses, hexadecimal in receipts',
    control: { ids: 'decimal_hex' },
    settings: { message_id_form: 'hex-to-dec' },
  },
  {
    name: 'ids: in upper-case hexadecimal in receipts',
    control: { ids: 'decimal_hex', fate: '0060' },
    settings: { message_id_form: 'hex-to-dec' },
  },
  {
    name: 'ids: with leading zeros in receipts',
    control: { ids: 'decimal_hex', fate: '0061' },
    settings: { message_id_form: 'hex-to-dec' },
  },
  {
    name: 'ids of another radix than the link is told: receipts are kept and counted',
    control: { ids: 'hex_decimal' },
    becomes: ['sent'],
    after: async (lane) => expect((await lane.client.link()).unmatched_receipts).toBeGreaterThan(0),
  },
]

async function sendAnother(lane: Lane): Promise<void> {
  const [message] = await lane.send([lane.number('9001')], 'And now?')
  await lane.client.waitForStatus(message?.id ?? '', ['delivered'])
}

async function untilAtCarrier(lane: Lane, count: number): Promise<void> {
  await until(
    'the carrier has the submits',
    async () => (await lane.carrier.phones.stats()).submits >= lane.submitsBefore + count,
  )
}

/** Something was sent more than once, and all was answered in the end. */
async function redelivered(lane: Lane, messages: Message[]): Promise<void> {
  const numbers = messages.map(({ to }) => to ?? '')
  await lane.untilHeard(numbers)
  const sent = (await lane.carrier.phones.deliveries()).filter(({ phone }) => numbers.includes(phone))
  expect(sent.some(({ timesSent }) => timesSent > 1)).toBe(true)
}

/** Moves the link to a carrier with TLS, first without its certificate. */
async function throughTls(lane: Lane): Promise<void> {
  const carrier = await CarrierProcess.start(['--latency', '0', '--tls'])
  try {
    await lane.change({ port: carrier.smppPort, tls: true, host: 'localhost' })
    await lane.waitForError(/tls_failed/)
    await lane.change({ tls_ca: await carrier.phones.certificate() })
    await sendAnother(lane)
    expect(await carrier.phones.texts(lane.number('9001'))).toEqual(['And now?'])
  } finally {
    await carrier.close()
  }
}

async function run(lane: Lane, scenario: Scenario): Promise<void> {
  const { text = short, becomes = ['delivered'], to = [sound] } = scenario
  await lane.prepare(scenario.settings)
  if (scenario.control) await lane.carrier.phones.control(scenario.control)
  await scenario.before?.(lane)
  const numbers = to.map((ending) => lane.number(ending))
  const sent = await lane.send(numbers, text)
  await scenario.meanwhile?.(lane, sent)
  for (const { id } of sent) await lane.client.waitForStatus(id, becomes)
  await lane.untilHeard(numbers)
  const messages = await Promise.all(sent.map(({ id }) => lane.client.message(id)))
  for (const message of messages) {
    expect(becomes).toContain(message.status)
    if (scenario.answers) expect(await lane.answersTo(message)).toEqual(scenario.answers)
    if (message.status === 'delivered') expect(await lane.answersTo(message)).toContain('ROK')
  }
  await scenario.after?.(lane, messages)
  const ids = sent.map(({ id }) => id)
  expect(audit(await readBooks(lane, ids))).toEqual([])
}

const lanes: Lane[] = []
const ends = new Map(scenarios.map(({ name }) => [name, Promise.withResolvers<void>()]))
let working: Promise<unknown> = Promise.resolve()

async function work(lane: Lane, left: Scenario[]): Promise<void> {
  for (let scenario = left.shift(); scenario; scenario = left.shift()) {
    const end = ends.get(scenario.name)
    await run(lane, scenario).then(end?.resolve, end?.reject)
  }
}

beforeAll(async () => {
  for (const { promise } of ends.values()) promise.catch(() => {})
  lanes.push(...(await Promise.all(Array.from({ length: lanesCount }, () => Lane.start()))))
  const left = [...scenarios]
  working = Promise.all(lanes.map((lane) => work(lane, left)))
})

afterAll(async () => {
  await working
  await Promise.all(lanes.map((lane) => lane.close()))
})

test.for(scenarios)('$name', async ({ name }) => ends.get(name)?.promise)

test('nothing was logged as an error', () => {
  for (const { program } of lanes) expect(program.stderr).not.toMatch(/"level":"error"/)
})
