import { ESME, type StatusName } from '@heliogram/smpp'
import type { IdFormat } from './message-ids.ts'
import type { SimulatorSettings } from './options.ts'

/** What comes instead of the answer to a submit; `nack_null` is a generic_nack with sequence number 0. */
export const INSTEAD = ['silent', 'drop', 'nack', 'nack_null', 'unbind'] as const
export type Instead = (typeof INSTEAD)[number]

/** A command_status by its name, or a carrier's own as `0x` and hexadecimal digits. */
export type Status = StatusName | `0x${string}`

/** The number of a command_status. */
export function codeOf(status: Status): number {
  return Object.hasOwn(ESME, status) ? ESME[status as StatusName] : Number(status)
}

/** What is wrong with a submit: refused, or not answered, whether the message is `taken` all the same or not. */
export type SubmitFault = Instead | `${Instead}_taken` | Status

/** What the simulator does wrong until told otherwise, for every client and every recipient. */
export interface Faults {
  /** Of new connections. `drop`: closed at once; `half_open`: bytes are taken, and nothing is ever said. */
  connect: 'accept' | 'drop' | 'half_open'
  /** `deliver_first`: a deliver_sm is written before the bind is answered. The others refuse it, or do not answer. */
  bind: 'accept' | 'deliver_first' | 'silent' | 'nack' | 'drop' | Status
  /** How many binds `bind` befalls before they are accepted again; 0 for all. */
  bindTimes: number
  /** Sessions that a system_id may have; a bind above them is refused with RALYBND. 0 for no limit. */
  sessionsMax: number
  /** How enquire_link is answered; `echo`: by the same enquire_link sent back. */
  enquire: 'answer' | 'silent' | 'echo'
  /** How unbind is answered. */
  unbind: 'answer' | 'silent'
  /** The slow loris: all that we say is dribbled out so fast; 0 for no limit. */
  octetsPerSecond: number

  submit: 'accept' | SubmitFault
  /** How many submits `submit` befalls before they are accepted again; 0 for all. */
  submitTimes: number
  /** Share of submits refused with `throttleStatus`, 0 to 1. */
  throttleRatio: number
  /** Submits above so many a second are refused with `throttleStatus`; 0 for no limit. */
  submitsPerSecondMax: number
  throttleStatus: 'RTHROTTLED' | 'RMSGQFUL'
  /** Accepted submits wait for their answers until this is false again. */
  isPaused: boolean

  /** A well-known recipient (`0030`), whose fate all those meet that have none of their own; '' for delivery. */
  fate: string
  ids: IdFormat
  responseLatency: string
  receiptLatency: string
  replyLatency: string

  /** What becomes of the answer to a deliver_sm: not heard, so that it is sent again later (`deaf`), or lost with the connection. */
  deliver: 'accept' | 'deaf' | 'drop'
  /** How many answers `deliver` befalls before they are heard again; 0 for all. */
  deliverTimes: number
  /** Receipts are kept until this is false again. */
  isHoldingReceipts: boolean
  /** The order in which the parts of a long reply are sent, and how often each of them. */
  partOrder: PartOrder
  partCopies: number
}

/** The order of the parts of a long reply. */
export type PartOrder = 'in_order' | 'last_first' | 'shuffled'

/** The well-behaved carrier, as it was set up. */
export function faultlessOf(settings: SimulatorSettings): Faults {
  return {
    connect: 'accept',
    bind: 'accept',
    bindTimes: 0,
    sessionsMax: settings.sessionsMax,
    enquire: 'answer',
    unbind: 'answer',
    octetsPerSecond: 0,
    submit: 'accept',
    submitTimes: 0,
    throttleRatio: 0,
    submitsPerSecondMax: 0,
    throttleStatus: 'RTHROTTLED',
    isPaused: false,
    fate: '',
    ids: settings.idFormat,
    responseLatency: settings.responseDelay,
    receiptLatency: settings.receiptDelay,
    replyLatency: settings.replyDelay,
    deliver: 'accept',
    deliverTimes: 0,
    isHoldingReceipts: false,
    partOrder: 'in_order',
    partCopies: 1,
  }
}

/** The fault that befalls the next bind, submit or answer, counted: one that was for so many times ends with the last of them. */
export function takeFault<Name extends 'bind' | 'submit' | 'deliver'>(faults: Faults, name: Name): Faults[Name] {
  const fault = faults[name]
  const times = `${name}Times` as const
  if (fault !== 'accept' && faults[times] > 0 && --faults[times] === 0) Object.assign(faults, { [name]: 'accept' })
  return fault
}
