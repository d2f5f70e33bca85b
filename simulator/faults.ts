import { ESME, type StatusName } from '@heliogram/smpp'
import type { IdFormat } from './message-ids.ts'
import type { SimulatorSettings } from './options.ts'

/** Sent instead of an answer to a submit; `nack_null` is a generic_nack with sequence number 0. */
export const INSTEAD = ['silent', 'drop', 'nack', 'nack_null', 'unbind'] as const
export type Instead = (typeof INSTEAD)[number]

/** A command_status by name, or a carrier's own as `0x` and hexadecimal digits. */
export type Status = StatusName | `0x${string}`

export function codeOf(status: Status): number {
  return Object.hasOwn(ESME, status) ? ESME[status as StatusName] : Number(status)
}

/** A refusal, or no answer; `taken` if the message is accepted anyway. */
export type SubmitFault = Instead | `${Instead}_taken` | Status

/** Lasting faults for every client and recipient. */
export interface Faults {
  /** New connections. `drop`: closed at once; `half_open`: bytes are accepted without any answer. */
  connect: 'accept' | 'drop' | 'half_open'
  /** `deliver_first`: a deliver_sm comes before the bind_resp. Others refuse the bind, or do not answer. */
  bind: 'accept' | 'deliver_first' | 'silent' | 'nack' | 'drop' | Status
  /** Binds with the fault before they are accepted again; 0 for all. */
  bindTimes: number
  /** Sessions per system_id; more are refused with RALYBND. 0 for no limit. */
  sessionsMax: number
  /** `echo`: the same enquire_link is sent back. */
  enquire: 'answer' | 'silent' | 'echo'
  unbind: 'answer' | 'silent'
  /** Slow loris: the rate of all our writes; 0 for no limit. */
  octetsPerSecond: number

  submit: 'accept' | SubmitFault
  /** Submits with the fault before they are accepted again; 0 for all. */
  submitTimes: number
  /** Share of submits refused with `throttleStatus`, 0 to 1. */
  throttleRatio: number
  /** Submits above this rate are refused with `throttleStatus`; 0 for no limit. */
  submitsPerSecondMax: number
  throttleStatus: 'RTHROTTLED' | 'RMSGQFUL'
  /** Accepted submits are not answered until this is false again. */
  isPaused: boolean

  /** A well-known recipient (`0030`), whose fate applies to all ordinary ones; '' for delivery. */
  fate: string
  ids: IdFormat
  responseLatency: string
  receiptLatency: string
  replyLatency: string

  /** The answer to a deliver_sm is ignored, so that it is sent again later (`deaf`), or lost with the connection. */
  deliver: 'accept' | 'deaf' | 'drop'
  /** Answers with the fault before they are heard again; 0 for all. */
  deliverTimes: number
  /** Receipts are held until this is false again. */
  isHoldingReceipts: boolean
  partOrder: PartOrder
  partCopies: number
}

export type PartOrder = 'in_order' | 'last_first' | 'shuffled'

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

/** Counts and returns the fault of the next bind, submit or answer; a limited fault ends with its last one. */
export function takeFault<Name extends 'bind' | 'submit' | 'deliver'>(faults: Faults, name: Name): Faults[Name] {
  const fault = faults[name]
  const times = `${name}Times` as const
  if (fault !== 'accept' && faults[times] > 0 && --faults[times] === 0) Object.assign(faults, { [name]: 'accept' })
  return fault
}
