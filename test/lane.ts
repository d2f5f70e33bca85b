/** A lane: one service with its own carrier for hostile scenarios, and the books of both. */
import { isDeepStrictEqual } from 'node:util'
import { receiptIdForms, stateOfWord } from '@heliogram/smpp'
import { openPool, type Db } from '../server/ground/db/db.ts'
import type { DeliveryEntry } from '../simulator/index.ts'
import { CarrierProcess, setUpCarrier, type CarrierEntry } from './carrier.ts'
import type { Client, Message } from './client.ts'
import { startProgram, type Program } from './harness.ts'
import { readLedger } from './ledger.ts'
import { until } from './until.ts'

/** The settings that scenarios change; others are reset to defaults. */
const usual = {
  response_timeout_seconds: 1.5,
  enquire_link_seconds: 30,
  enquire_timeout_seconds: 1,
  bind_timeout_seconds: 1,
  message_id_form: 'raw',
  user_message_reference: false,
  one_receipt: false,
  on_unknown: 'hold',
  bind: 'transceiver',
  host: '127.0.0.1',
  tls: false,
  tls_ca: '',
}

/** Answers after which a segment may be repeated: the carrier did not take it. */
const isRefusal = (status: string): boolean => !['ROK', 'silent', 'drop', 'unbind', 'nack_null'].includes(status)

export class Lane {
  readonly carrier: CarrierProcess
  readonly program: Program
  readonly db: Db
  /** The carrier's count at the start of the scenario. */
  bindsBefore = -1
  submitsBefore = 0
  #settings: Record<string, unknown> = {}
  #window = 200
  #scenario = 0

  private constructor(carrier: CarrierProcess, program: Program, db: Db) {
    this.carrier = carrier
    this.program = program
    this.db = db
  }

  static async start(): Promise<Lane> {
    const carrier = await CarrierProcess.start(['--latency', '0', '--deliver-timeout', '1000'])
    const program = await startProgram({
      env: {
        HELIOGRAM_CARRIER_URL: carrier.url,
        HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
        HELIOGRAM_LOG: 'warn',
      },
    })
    await setUpCarrier(program.client)
    return new Lane(carrier, program, openPool(await program.connection(), { name: 'lane', max: 1 }))
  }

  get client(): Client {
    return this.program.client
  }

  /** A well-behaved carrier, and a bound link with these settings and no failures. */
  async prepare(settings: Record<string, unknown> = {}): Promise<void> {
    const { phones, smppPort: port } = this.carrier
    await phones.control({ reset: true })
    const wanted = { port, ...usual, ...settings }
    const isFresh = (await phones.stats()).binds === this.bindsBefore && (await this.client.link()).state === 'bound'
    // Changed settings redial the link, which costs seconds.
    if (!isFresh || !isDeepStrictEqual(wanted, this.#settings)) await this.change(wanted)
    await until('the link is bound', async () => (await phones.stats()).bound > 0)
    const { binds, submits } = await phones.stats()
    this.bindsBefore = binds
    this.submitsBefore = submits
    this.#scenario++
  }

  async change(settings: Record<string, unknown>): Promise<void> {
    const { id } = await this.client.carrier()
    this.#settings = { ...this.#settings, ...settings }
    this.#window = this.#window === 200 ? 201 : 200
    const window = this.#window
    await this.client.expect('PATCH', `/v1/carriers/${id}`, { settings: { ...settings, window } })
    await until('the link has its settings', async () => (await this.client.link()).window === window)
  }

  number(ending: string, n = 0): string {
    return `1${555 + this.#scenario}${String(n).padStart(3, '0')}${ending}`
  }

  send(numbers: string[], text: string): Promise<Message[]> {
    return Promise.all(numbers.map((to) => this.client.send({ to, message: text })))
  }

  /** Waits for the link's last error; it may be bound again by then. */
  async waitForError(reason: RegExp): Promise<void> {
    const isTold = async (): Promise<boolean> => reason.test((await this.client.link()).last_error ?? '')
    await until(`the link tells of ${reason}`, isTold)
  }

  /** The carrier's answers to a message's submits, by part and in order: `ROK`, a refusal, or the fault. */
  async answersTo(message: Message): Promise<string[]> {
    const submits = (await this.carrier.phones.ledger()).filter((submit) => isOf(message, submit))
    return submits.toSorted((a, b) => a.part - b.part).map(({ status }) => status)
  }

  async replies(from: string): Promise<string[]> {
    return (await this.client.listMessages(`direction=inbound&from=${from}`)).map((reply) => reply.message ?? '')
  }

  /** Waits until all receipts and replies of these numbers are answered. */
  async untilHeard(numbers: string[]): Promise<void> {
    await until('what the carrier sent is answered', async () => {
      const { held } = await this.carrier.phones.stats()
      const sent = (await this.carrier.phones.deliveries()).filter(({ phone }) => numbers.includes(phone))
      return held === 0 && sent.every(({ answer }) => answer === 'ROK')
    })
  }

  async close(): Promise<void> {
    await this.db.end()
    await this.program.remove()
    await this.carrier.close()
  }
}

/** The records of both: submits and receipts at the carrier, stored receipts at the service (id and state). */
export interface Books {
  messages: Message[]
  submits: CarrierEntry[]
  deliveries: DeliveryEntry[]
  receipts: Set<string>
}

export async function readBooks({ client, carrier, db }: Lane, ids: string[]): Promise<Books> {
  const { receipts } = await readLedger(db)
  return {
    messages: await Promise.all(ids.map((id) => client.message(id))),
    submits: await carrier.phones.ledger(),
    deliveries: await carrier.phones.deliveries(),
    // A message of one segment stores the carrier's word for the state.
    receipts: new Set(receipts.map(({ rawId, state }) => `${rawId} ${stateOfWord(state) ?? state}`)),
  }
}

/**
 * Compares the books: every segment was sent once, or again only after a refusal or with `possible_duplicate`; every answered receipt is with a
 * message or in the inbox. Returns the violations.
 */
export function audit({ messages, submits, deliveries, receipts }: Books): string[] {
  return messages.flatMap((message) => {
    const { own = [], foreign = [] } = Object.groupBy(submits, (submit) => (isOf(message, submit) ? 'own' : 'foreign'))
    // Other messages to the phone, such as the confirmation of a STOP, have their own receipts.
    const foreignIds = new Set(foreign.map(({ messageId }) => messageId))
    const told = deliveries.filter(({ phone, id }) => phone === message.to && !foreignIds.has(id))
    return [...findDuplicates(message, own), ...findLostReceipts(message, told, receipts)]
  })
}

/** Whether a submit is a segment of a message; a phone's texts are distinct. */
const isOf = ({ to, message }: Message, { destination, text }: CarrierEntry): boolean =>
  destination === to && (message ?? '').includes(text)

function findDuplicates(message: Message, submits: CarrierEntry[]): string[] {
  if (message.possible_duplicate === true) return []
  return [...Map.groupBy(submits, (submit) => submit.part)].flatMap(([part, tries]) => {
    const words = tries.map(({ status }) => status)
    const isClean = words.slice(0, -1).every(isRefusal)
    return isClean ? [] : [`part ${part} of ${message.id} went out silently again: ${words.join(', ')}`]
  })
}

function findLostReceipts(message: Message, told: DeliveryEntry[], known: ReadonlySet<string>): string[] {
  return told
    .filter(({ kind, answer }) => kind === 'receipt' && answer === 'ROK')
    .filter(({ id, state }) => !receiptIdForms(id).some((form) => known.has(`${form.id} ${state}`)))
    .map(({ id, state }) => `the receipt ${id} ${state} of ${message.id} was answered and is nowhere`)
}
