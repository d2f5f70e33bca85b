/**
 * Submits per second over one SMPP session on loopback, both ends in this process: our session and server, and npm smpp against itself, in turns,
 * with the same PDUs and window. Also processor time per submit of both ends, which holds on a busy machine too.
 */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import smpp, { type NpmPdu, type NpmSession } from 'smpp'
import { codingOf, connectSession, decodeText, ESME, type FieldsInput, SmppServer } from '../../smpp/index.ts'
import { compare, runInTurns, type Comparison, type Side } from './comparison.ts'

const WINDOW = 1_000

const OUR_SUBMITS = 700_000
const NPM_SUBMITS = 30_000

const ADDRESSES = {
  source_addr_ton: 1,
  source_addr_npi: 1,
  source_addr: '15550001000',
  dest_addr_ton: 1,
  dest_addr_npi: 1,
  registered_delivery: 1,
}

type Submit = FieldsInput<'submit_sm'>

const KINDS: Record<string, (destination_addr: string) => Submit> = {
  text: (destination_addr) => ({
    ...ADDRESSES,
    destination_addr,
    short_message: Buffer.from('Your parcel arrives today between 14:00 and 16:00. Reply STOP to opt out.'),
  }),
  'UCS-2, SAR and other TLVs': (destination_addr) => ({
    ...ADDRESSES,
    destination_addr,
    data_coding: 8,
    validity_period: '261231235959000+',
    short_message: Buffer.from('Ваша посылка прибудет сегодня с 14 до 16 часов', 'utf16le').swap16(),
    tlvs: {
      user_message_reference: 7,
      sar_msg_ref_num: 513,
      sar_total_segments: 2,
      sar_segment_seqnum: 1,
      additional_status_info_text: 'benchmark',
    },
  }),
}

/** One distinct message per place in the window, sent repeatedly, each with its own object, texts and octets. */
function someSubmits(kind: (destination_addr: string) => Submit): Submit[] {
  return Array.from({ length: WINDOW }, (_, index) => kind(String(15_551_230_000 + index)))
}

const BIND = { system_id: 'bench', password: 'secret' }

/** Submits per second, and microseconds of processor time per submit. */
interface Rate {
  readonly perSecond: number
  readonly cpuUs: number
}

async function measureOurs(messages: readonly Submit[], isDecoding: boolean): Promise<Rate> {
  let nextId = 0
  let octets = 0
  let characters = 0
  const server = new SmppServer<number>({
    windowMax: 1,
    onBind: () => ESME.ROK,
    onRequest: (_session, pdu, respond) => {
      if (pdu.command === 'submit_sm') {
        octets += pdu.short_message.length
        if (isDecoding) characters += decodeText(pdu.short_message, codingOf(pdu.data_coding)).length
      }
      respond(ESME.ROK, { message_id: String(nextId++) })
    },
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  const { promise, resolve } = Promise.withResolvers<void>()
  let submitted = 0
  let answered = 0
  const session = connectSession<number>({
    host: '127.0.0.1',
    port,
    windowMax: WINDOW,
    bind: { mode: 'transceiver', ...BIND },
    onOutcome: (_session, _context, outcome) => {
      if (outcome.kind !== 'response' || outcome.status !== ESME.ROK) throw new Error(`outcome ${outcome.kind}`)
      if (++answered === OUR_SUBMITS) resolve()
    },
    onRoom: fill,
  })
  function fill(): void {
    while (submitted < OUR_SUBMITS && session.submit(messages[submitted % WINDOW] ?? {}, submitted)) submitted++
  }
  await session.whenBound()
  const stop = startMeasuring(OUR_SUBMITS)
  fill()
  await promise
  const rate = stop()
  await session.unbind(1_000)
  await server.close()
  checkArrived(octets, OUR_SUBMITS * octetsOf(messages))
  if (isDecoding) checkArrived(characters, OUR_SUBMITS * charactersOf(messages))
  return rate
}

async function measureNpm(messages: readonly Submit[]): Promise<Rate> {
  const flat = messages.map(({ tlvs, ...fields }) => ({ ...fields, ...tlvs }))
  let nextId = 0
  let characters = 0
  const server = smpp.createServer((session) => {
    session.on('error', () => {})
    session.on('bind_transceiver', (pdu: NpmPdu) => session.send(pdu.response()))
    session.on('submit_sm', (pdu: NpmPdu) => {
      characters += (pdu.short_message as { message: string }).message.length
      session.send(pdu.response({ message_id: String(nextId++) }))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const session = await new Promise<NpmSession>((resolve) => {
    const dialled = smpp.connect({ host: '127.0.0.1', port }, () => resolve(dialled))
  })
  await new Promise<unknown>((resolve) => session.bind_transceiver(BIND, resolve))
  const { promise, resolve } = Promise.withResolvers<void>()
  let submitted = 0
  let answered = 0
  // Refilled on every answer, which is best for npm smpp: in batches it would wait for Nagle's algorithm and delayed ACKs.
  function fill(): void {
    while (submitted < NPM_SUBMITS && submitted - answered < WINDOW) {
      const fields = flat[submitted++ % WINDOW]
      session.submit_sm(fields, (pdu) => {
        if (pdu.command_status !== 0) throw new Error(`status ${pdu.command_status}`)
        if (++answered === NPM_SUBMITS) resolve()
        else fill()
      })
    }
  }
  const stop = startMeasuring(NPM_SUBMITS)
  fill()
  await promise
  const rate = stop()
  session.destroy()
  await new Promise((resolve) => server.close(resolve))
  checkArrived(characters, NPM_SUBMITS * charactersOf(messages))
  return rate
}

function checkArrived(count: number, sent: number): void {
  if (count !== sent) throw new Error(`${count} octets or characters of text arrived of ${sent}`)
}

const octetsOf = ([message]: readonly Submit[]): number => message?.short_message?.length ?? 0

const charactersOf = (messages: readonly Submit[]): number =>
  octetsOf(messages) / (messages[0]?.data_coding === 8 ? 2 : 1)

function startMeasuring(submits: number): () => Rate {
  const startedAt = performance.now()
  const before = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(before)
    const seconds = (performance.now() - startedAt) / 1_000
    return { perSecond: submits / seconds, cpuUs: (user + system) / submits }
  }
}

/**
 * Compares both sessions for each kind of PDU: as each library is made, and with our server decoding every text, as npm smpp always does. Ours
 * passes on octets, because a link never reads most texts.
 */
export async function compareSessions(pairs: number): Promise<Comparison[]> {
  const rows: Comparison[] = []
  for (const [kind, make] of Object.entries(KINDS)) {
    const messages = someSubmits(make)
    for (const isDecoding of [false, true]) {
      const what = isDecoding ? `${kind}, decoded at both` : kind
      const measure = (side: Side): Promise<Rate> =>
        side === 'ours' ? measureOurs(messages, isDecoding) : measureNpm(messages)
      // A first round does not count: V8 is still compiling, but links live for days.
      await runInTurns(1, measure)
      const runs = await runInTurns(pairs, measure)
      rows.push(
        compare(runs, { what, unit: 'submits/s', goal: '≥ 25', better: 'more' }, (rate) => rate.perSecond),
        compare(runs, { what: `${what}: CPU at both ends`, unit: 'µs/submit', better: 'less' }, (rate) => rate.cpuUs),
      )
    }
  }
  return rows
}
