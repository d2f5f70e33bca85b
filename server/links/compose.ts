/** Composes the submits of a message's segments by its link's settings. */
import {
  cutSegments,
  formatAbsoluteTime,
  planSegments,
  type ConcatenationMode,
  type CutOptions,
  type FieldsInput,
  type SegmentPdu,
} from '@heliogram/smpp'
import { referenceOf } from '../ledger/adoption.ts'
import type { Handover } from '../message/handover.ts'
import { writeRecipient, writeSender } from './number-form.ts'
import type { SmppSettings } from './carrier-settings.ts'

/** The submit of one segment, or with `payload` of all. */
export interface Submit {
  /** Counted from 1. */
  readonly segment: number
  /** 1, or all segments of a payload. */
  readonly segments: number
  readonly fields: FieldsInput<'submit_sm'>
}

/** A message as composed for a link. */
export interface Composed {
  /**
   * Segments of the whole message here. If it was counted with another number, do not write its submits: an alphabet that lacks a character of the
   * text turns it into UCS-2, and messages are not counted so before their carrier is known.
   */
  readonly segments: number
  /** Of the pending segments, in order. */
  readonly submits: Submit[]
  /** Number of those segments. */
  readonly pending: number
}

/** A retried segment has the reference of its siblings, on any node. */
export function composeSubmits(handover: Handover, settings: SmppSettings): Composed {
  const { id, pending, theirNumber, expiresAt } = handover
  const sender = writeSender(handover.ourNumber, settings)
  const validity_period = settings.validity === 'absolute' && expiresAt ? formatAbsoluteTime(expiresAt) : undefined
  const { segments, pdus } = cut(handover, settings)
  const submits: Submit[] = []
  for (const [i, pdu] of pdus.entries()) {
    const segment = i + 1
    if (pending?.includes(segment) === false) continue
    const fields: FieldsInput<'submit_sm'> = {
      ...pdu,
      ...sender,
      dest_addr_ton: settings.recipient_ton,
      dest_addr_npi: settings.recipient_npi,
      destination_addr: writeRecipient(theirNumber, settings),
      registered_delivery: 1,
      ...(validity_period && { validity_period }),
    }
    // If the carrier echoes it, a receipt finds a try that was never answered.
    if (settings.user_message_reference)
      fields.tlvs = { ...fields.tlvs, user_message_reference: referenceOf(id, segment, handover.try) }
    submits.push({ segment, segments: segments - pdus.length + 1, fields })
  }
  return { segments, submits, pending: submits.reduce((sum, submit) => sum + submit.segments, 0) }
}

function cut(handover: Handover, settings: SmppSettings): { segments: number; pdus: SegmentPdu[] } {
  const alphabet = settings.default_alphabet
  const out = settings.data_codings_out
  const options = (mode: ConcatenationMode): CutOptions => ({
    encoding: handover.encoding === 'GSM-7' ? 'gsm7' : 'ucs2',
    mode,
    // From the id: the same at every try, on any node and after any restart.
    reference: Number.parseInt(handover.id.slice(-4), 16),
    alphabet,
    dataCodings: { 'GSM-7': out[alphabet], 'UCS-2': out.ucs2 },
  })
  const asked = cutSegments(handover.body, options(settings.concatenation))
  // One submit for as many segments as the carrier will make.
  if (asked[0]?.tlvs?.message_payload) {
    const { segments } = planSegments(handover.body, options('payload'))
    return { segments, pdus: asked }
  }
  // udh16 has one octet less a segment: if that takes one segment more than the count, 8 bits do.
  const pdus =
    settings.concatenation === 'udh16' && asked.length > handover.segments
      ? cutSegments(handover.body, options('udh8'))
      : asked
  return { segments: pdus.length, pdus }
}
