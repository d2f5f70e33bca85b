/** For cases over SMPP: a carrier that answers submits with PDUs from a file, and a reader of these files. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ESME, readPart, SmppServer, type FieldsInput, type MessageRequest, type Session } from '@heliogram/smpp'

export interface CasePdu {
  op: string
  when?: 'submit' | 'last_part'
  source?: string
  dest?: string
  esm_class?: number
  data_coding?: number
  registered_delivery?: number
  text?: string
  hex?: string
  tlvs?: Record<string, string>
}

export const readCase = (file: string): CasePdu[] =>
  readFileSync(join(import.meta.dirname, 'inputs', file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as CasePdu)

/** Octets of a text or of hexadecimal digits, with the values in braces replaced. */
function octetsOf({ text, hex }: Pick<CasePdu, 'text' | 'hex'>, values: Record<string, string> = {}): Buffer {
  return hex === undefined ? Buffer.from(fill(text ?? '', values), 'latin1') : Buffer.from(hex, 'hex')
}

const fill = (text: string, values: Record<string, string>): string =>
  text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)

/** `plays` is delivered after each submit, and may be changed. */
export interface PlayingCarrier {
  port: number
  plays: CasePdu[]
  submits: MessageRequest[]
  close(): Promise<void>
}

export async function startPlayingCarrier(): Promise<PlayingCarrier> {
  let ids = 0
  // By recipient, the id of part 1 of the current message.
  const firstIds = new Map<string, string>()
  const server = new SmppServer<null>({
    windowMax: 100,
    onBind: () => ESME.ROK,
    onRequest: (session, pdu, respond) => {
      if (pdu.command !== 'submit_sm') return respond(ESME.RINVCMDID)
      carrier.submits.push(pdu)
      const id = `c${++ids}`
      respond(ESME.ROK, { message_id: id })
      const { concatenation } = readPart(pdu)
      const { part, total } = concatenation ?? { part: 1, total: 1 }
      const to = pdu.destination_addr ?? ''
      if (part === 1) firstIds.set(to, id)
      const values = { id, first_id: firstIds.get(to) ?? id, from: pdu.source_addr ?? '', to }
      for (const play of carrier.plays)
        if (play.when !== 'last_part' || part === total) void deliver(session, play, values)
    },
  })
  const carrier: PlayingCarrier = {
    port: await server.listen({ port: 0, host: '127.0.0.1' }),
    plays: [],
    submits: [],
    close: () => server.close(),
  }
  return carrier
}

async function deliver(session: Session<null>, play: CasePdu, values: Record<string, string>): Promise<void> {
  const tlvs: Record<number, Buffer> = {}
  for (const [tag, value] of Object.entries(play.tlvs ?? {}))
    tlvs[Number(tag)] = value.startsWith('text:')
      ? octetsOf({ text: `${value.slice(5)}\0` }, values)
      : Buffer.from(value, 'hex')
  const fields = {
    source_addr: fill(play.source ?? '', values),
    source_addr_ton: 1,
    source_addr_npi: 1,
    destination_addr: fill(play.dest ?? '', values),
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    esm_class: play.esm_class ?? 0,
    data_coding: play.data_coding ?? 0,
    short_message: octetsOf(play, values),
    tlvs,
  } as FieldsInput<'deliver_sm'>
  // After the submit's response, which is written in this turn.
  await Promise.resolve()
  session.deliver(fields, null)
}

export const fieldsOf = (pdu: CasePdu): FieldsInput<'submit_sm'> => ({
  source_addr: pdu.source ?? '',
  source_addr_ton: 1,
  source_addr_npi: 1,
  destination_addr: pdu.dest ?? '',
  dest_addr_ton: 1,
  dest_addr_npi: 1,
  esm_class: pdu.esm_class ?? 0,
  data_coding: pdu.data_coding ?? 0,
  registered_delivery: pdu.registered_delivery ?? 0,
  short_message: octetsOf(pdu),
})
