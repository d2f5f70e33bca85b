import { COMMANDS, type CommandName, type Fields, RESPONSE_BIT } from './commands.ts'
import { ESME, statusName } from './status.ts'
import type { Tlvs } from './tlvs.ts'

/** Octets of the header. SMPP 3.4 §3.2. */
export const HEADER_OCTETS = 16

/** Longest PDU: a message_payload of 64 KiB with room for every other field. The specification sets no limit. */
export const PDU_OCTETS_MAX = 66_560

/**
 * A decoded PDU with every mandatory field. Octets are views of the received bytes, which keep up to one chunk of the socket (64 KiB) in memory,
 * so copy what you keep.
 */
export type PduOf<C extends CommandName> = {
  command: C
  command_status: number
  sequence_number: number
} & Fields<C> & { tlvs: Tlvs | undefined }

export type Pdu = { [C in CommandName]: PduOf<C> }[CommandName]

/** Omitted mandatory fields are written as 0, '' or no octets. */
export type FieldsInput<C extends CommandName> = Partial<Fields<C>> & { tlvs?: Tlvs | undefined }

export type PduInput = {
  [C in CommandName]: { command: C; command_status?: number; sequence_number?: number } & FieldsInput<C>
}[CommandName]

export type ResponseName = Extract<CommandName, `${string}_resp` | 'generic_nack'>

export const RESPONSE_OF = {
  bind_transmitter: 'bind_transmitter_resp',
  bind_receiver: 'bind_receiver_resp',
  bind_transceiver: 'bind_transceiver_resp',
  unbind: 'unbind_resp',
  enquire_link: 'enquire_link_resp',
  submit_sm: 'submit_sm_resp',
  deliver_sm: 'deliver_sm_resp',
  data_sm: 'data_sm_resp',
  query_sm: 'query_sm_resp',
  cancel_sm: 'cancel_sm_resp',
  replace_sm: 'replace_sm_resp',
} as const

export function messageResponseOf<K extends keyof typeof RESPONSE_OF>(command: K): (typeof RESPONSE_OF)[K]
export function messageResponseOf(command: keyof typeof RESPONSE_OF): ResponseName {
  return command === 'submit_sm' ? 'submit_sm_resp' : RESPONSE_OF[command]
}

export type RequestName = keyof typeof RESPONSE_OF

export type ResponsePdu = Extract<Pdu, { command: ResponseName }>

export type RequestPdu = Extract<Pdu, { command: RequestName }>

export class PduError extends Error {
  readonly status: number
  /** 0 if no header could be read. */
  readonly command_id: number
  readonly command_status: number
  readonly sequence_number: number

  constructor(status: number, message: string, command_id = 0, sequence_number = 0, command_status = 0) {
    super(`${message} (${statusName(status)})`)
    this.name = 'PduError'
    this.status = status
    this.command_id = command_id
    this.sequence_number = sequence_number
    this.command_status = command_status
  }
}

export function isResponseId(command_id: number): boolean {
  return (command_id & RESPONSE_BIT) !== 0
}

// Ids use few bits: the response bit and the low nine. An array index avoids a Map, which would hash a heap number per PDU for ids above 2^30.
const LOW_BITS = 0x1ff

/** A small index for tables by command; -1 for an unknown command_id. */
export function indexOfId(command_id: number): number {
  if ((command_id & 0x7fffffff) > LOW_BITS) return -1
  return (command_id & LOW_BITS) | (isResponseId(command_id) ? LOW_BITS + 1 : 0)
}

const names: (CommandName | undefined)[] = []
for (const name of Object.keys(COMMANDS) as CommandName[]) names[indexOfId(COMMANDS[name].id)] = name

export function commandName(command_id: number): CommandName | undefined {
  return names[indexOfId(command_id)]
}

/** A generic_nack is a refusal even if its status is ROK. */
export function statusOfResponse({ command, command_status }: ResponsePdu): number {
  return command === 'generic_nack' && command_status === ESME.ROK ? ESME.RUNKNOWNERR : command_status
}

/** The response that refuses an unreadable command: generic_nack if it has none of its own. */
export function responseTo(command: CommandName | undefined): ResponseName {
  return command !== undefined && command in RESPONSE_OF ? RESPONSE_OF[command as RequestName] : 'generic_nack'
}
