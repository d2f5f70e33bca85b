import { COMMANDS, type CommandName, type Fields, RESPONSE_BIT } from './commands.ts'
import { ESME, statusName } from './status.ts'
import type { Tlvs } from './tlvs.ts'

/** Octets of the header that every PDU begins with. SMPP 3.4 §3.2. */
export const HEADER_OCTETS = 16

/** Longest PDU read or written: a message_payload of 64 KiB with room for every other field. The specification sets no limit. */
export const PDU_OCTETS_MAX = 66_560

/**
 * A decoded PDU of one command, with every mandatory field of the command. Octets are views of the received bytes: they
 * keep up to one chunk of the socket (64 KiB) in memory, so copy what you keep.
 */
export type PduOf<C extends CommandName> = {
  command: C
  command_status: number
  sequence_number: number
} & Fields<C> & { tlvs: Tlvs | undefined }

/** A decoded PDU: a union that `command` tells apart. */
export type Pdu = { [C in CommandName]: PduOf<C> }[CommandName]

/** What is written for a command: mandatory fields that are left out are written as 0, '' or no octets. */
export type FieldsInput<C extends CommandName> = Partial<Fields<C>> & { tlvs?: Tlvs | undefined }

/** A PDU to encode, whole. */
export type PduInput = {
  [C in CommandName]: { command: C; command_status?: number; sequence_number?: number } & FieldsInput<C>
}[CommandName]

/** Commands that answer another. */
export type ResponseName = Extract<CommandName, `${string}_resp` | 'generic_nack'>

/** Commands that await an answer, each with it. */
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

/** The response that answers a request about a message; the usual one without looking up a name. */
export function messageResponseOf<K extends keyof typeof RESPONSE_OF>(command: K): (typeof RESPONSE_OF)[K]
export function messageResponseOf(command: keyof typeof RESPONSE_OF): ResponseName {
  return command === 'submit_sm' ? 'submit_sm_resp' : RESPONSE_OF[command]
}

/** Commands that await an answer. */
export type RequestName = keyof typeof RESPONSE_OF

/** A decoded response. */
export type ResponsePdu = Extract<Pdu, { command: ResponseName }>

/** A decoded command that awaits an answer. */
export type RequestPdu = Extract<Pdu, { command: RequestName }>

/** Bytes that are no valid PDU, or fields that cannot be written as one. */
export class PduError extends Error {
  /** The command_status that answers it. */
  readonly status: number
  /** From the header; 0 where no header could be read. */
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

/** Tells whether a command_id is of a response. SMPP 3.4 §5.1.2.1. */
export function isResponseId(command_id: number): boolean {
  return (command_id & RESPONSE_BIT) !== 0
}

// Ids have few bits in use: the response bit and the low nine. That makes an index of an array, where a Map keyed by ids
// above 2^30 would hash a heap number for every PDU.
const LOW_BITS = 0x1ff

/** Folds a command_id into a small index for tables by command; -1 for an id that is no command's. */
export function indexOfId(command_id: number): number {
  if ((command_id & 0x7fffffff) > LOW_BITS) return -1
  return (command_id & LOW_BITS) | (isResponseId(command_id) ? LOW_BITS + 1 : 0)
}

const names: (CommandName | undefined)[] = []
for (const name of Object.keys(COMMANDS) as CommandName[]) names[indexOfId(COMMANDS[name].id)] = name

/** Names a command_id; undefined for one that is not in the table. */
export function commandName(command_id: number): CommandName | undefined {
  return names[indexOfId(command_id)]
}

/** What a response says of its request: a generic_nack refuses it, also where its own status says that all is well. */
export function statusOfResponse({ command, command_status }: ResponsePdu): number {
  return command === 'generic_nack' && command_status === ESME.ROK ? ESME.RUNKNOWNERR : command_status
}

/** Names the response that refuses a command which could not be read: generic_nack where it has none of its own. */
export function responseTo(command: CommandName | undefined): ResponseName {
  return command !== undefined && command in RESPONSE_OF ? RESPONSE_OF[command as RequestName] : 'generic_nack'
}
