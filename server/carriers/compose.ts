/** From a message to the submits of its segments, as its link's settings ask for them. */
import {
  cutSegments,
  detectAddress,
  formatAbsoluteTime,
  type ConcatenationMode,
  type FieldsInput,
  type SegmentPdu,
} from '@heliogram/smpp'
import type { Handover } from '../messages/handover.ts'
import type { SmppSettings } from './settings.ts'

/** The submit of one segment. */
export interface Submit {
  /** Counted from 1. */
  readonly segment: number
  readonly fields: FieldsInput<'submit_sm'>
}

/** The submits of the segments that are pending, in order. A retried segment has the reference of its siblings, on any node. */
export function composeSubmits(handover: Handover, settings: SmppSettings): Submit[] {
  const source = handover.ourNumber === null ? undefined : detectAddress(handover.ourNumber, settings.short_code_ton)
  const fields = {
    source_addr_ton: source?.ton ?? 0,
    source_addr_npi: source?.npi ?? 0,
    source_addr: source?.addr ?? '',
    dest_addr_ton: 1,
    dest_addr_npi: 1,
    destination_addr: handover.theirNumber,
    registered_delivery: 1,
    ...(settings.validity === 'absolute' &&
      handover.expiresAt && { validity_period: formatAbsoluteTime(handover.expiresAt) }),
  }
  return cut(handover, settings)
    .map((segment, i): Submit => ({ segment: i + 1, fields: { ...fields, ...segment } }))
    .filter((submit) => handover.pending?.includes(submit.segment) ?? true)
}

function cut(handover: Handover, settings: SmppSettings): SegmentPdu[] {
  const by = (mode: ConcatenationMode): SegmentPdu[] =>
    cutSegments(handover.body, {
      encoding: handover.encoding === 'GSM-7' ? 'gsm7' : 'ucs2',
      mode,
      // From the id: it is the same at every try, on any node and after any restart.
      reference: Number.parseInt(handover.id.slice(-4), 16),
      alphabet: settings.default_alphabet,
    })
  const asked = by(settings.concatenation)
  // udh16 has one octet less a segment: where that takes one segment more than the message was accepted and counted with, 8 bits do.
  return asked.length > handover.segments ? by('udh8') : asked
}
