import {
  type BindMode,
  connectSession,
  ESME,
  type MessagePart,
  joinParts,
  type Outcome,
  parseReceipt,
  type PduOf,
  readPart,
  type Receipt,
  type Respond,
  type Session,
  type SessionOptions,
} from '@heliogram/smpp'
import type { SimulatorOptions } from './options.ts'
import { Simulator } from './simulator.ts'
import { patienceMs } from '../test/until.ts'

const AT_ONCE: SimulatorOptions = {
  port: 0,
  httpPort: 0,
  responseDelay: { min: 0, max: 0 },
  receiptDelay: { min: 0, max: 0 },
  replyDelay: { min: 0, max: 0 },
}

export interface Started {
  readonly simulator: Simulator
  readonly smppPort: number
  readonly url: string
}

/** On free ports without latency by default. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Started> {
  const simulator = new Simulator({ ...AT_ONCE, ...options })
  const { smppPort, httpPort } = await simulator.start()
  return { simulator, smppPort, url: `http://127.0.0.1:${httpPort}` }
}

/** Polls every few milliseconds. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const limit = performance.now() + patienceMs
  while (!(await condition())) {
    if (performance.now() > limit) throw new Error(`waited in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

type Deliver = PduOf<'deliver_sm'> | PduOf<'data_sm'>

export interface Client {
  readonly session: Session<string>
  readonly happened: string[]
  readonly outcomes: Map<string, Outcome>
  readonly receipts: Receipt[]
  readonly replies: { from: string; to: string; text: string; parts: MessagePart[] }[]
  /** Answers receipts and replies; ROK by default. */
  answer: (pdu: Deliver, respond: Respond) => void
  /** Submits a text of one segment, or octets with their fields, with a receipt requested. */
  submit(to: string, text: string, fields?: Partial<PduOf<'submit_sm'>>): Promise<Outcome>
}

/** Its submits come from 15550100. */
export async function bindClient(
  port: number,
  mode: BindMode = 'transceiver',
  options: Partial<SessionOptions<string>> & { system_id?: string; password?: string } = {},
): Promise<Client> {
  const { system_id = 'heliogram', password = '', ...rest } = options
  const session = connectSession<string>({
    host: '127.0.0.1',
    port,
    windowMax: 1_000,
    ...rest,
    bind: { mode, system_id, password },
    onOutcome: (_, context, outcome) => {
      client.happened.push(`outcome ${context}`)
      client.outcomes.set(context, outcome)
    },
    onRequest: (_, pdu, respond) => {
      if (pdu.command !== 'deliver_sm' && pdu.command !== 'data_sm') return respond(ESME.RINVCMDID)
      const receipt = parseReceipt(pdu)
      if (receipt === null) noteReply(client, pdu)
      else client.receipts.push(receipt)
      client.happened.push(receipt === null ? `reply ${pdu.source_addr}` : `receipt ${receipt.id}`)
      client.answer(pdu, respond)
    },
  })
  const client: Client = {
    session,
    happened: [],
    outcomes: new Map(),
    receipts: [],
    replies: [],
    answer: (_, respond) => respond(ESME.ROK),
    async submit(to, text, fields = {}) {
      const context = `${to} ${text}`
      client.outcomes.delete(context)
      const short_message = Buffer.from(text, 'latin1')
      const addresses = { source_addr: '15550100', destination_addr: to }
      session.submit({ ...addresses, short_message, registered_delivery: 1, ...fields }, context)
      await until(() => client.outcomes.has(context), `${context} has an outcome`)
      return client.outcomes.get(context) as Outcome
    },
  }
  await session.whenBound()
  return client
}

function noteReply(client: Client, pdu: Deliver): void {
  const part = readPart(pdu)
  const isFurther = part.concatenation !== null && client.replies.at(-1)?.parts[0]?.concatenation != null
  const parts = isFurther ? [...(client.replies.pop()?.parts ?? []), part] : [part]
  client.replies.push({
    from: pdu.source_addr,
    to: pdu.destination_addr,
    text: joinParts(parts).text ?? '',
    parts,
  })
}

export function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const json = { 'content-type': 'application/json', ...headers }
  return fetch(url, { method: 'POST', headers: json, body: JSON.stringify(body) })
}
