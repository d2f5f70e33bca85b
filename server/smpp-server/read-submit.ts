/** Reads a submit_sm into a draft, or the command_status that refuses it, without the database. */
import {
  codingOf,
  ESME,
  joinParts,
  parseTime,
  readPart,
  TON,
  type DefaultAlphabet,
  type JoinedMessage,
  type MessagePart,
  type PduOf,
} from '@heliogram/smpp'
import type { FieldError } from '../ground/base/errors.ts'
import type { Draft } from '../message/draft.ts'
import { readDraft } from '../accept/draft.ts'
import { readAtHome, readNumber } from '../ground/numbers/number.ts'
import { countryOfSender } from '../ground/numbers/sender.ts'
import { isBlank } from '../message/blank.ts'
import { textMax } from '../message/send-schema.ts'
import type { Admission } from './bind.ts'

export interface Submit {
  source: string
  destination: string
  part: MessagePart
  registeredDelivery: number
  sendAt: Date | null
  validUntil: Date | null
}

// The API's longest `validity_period`; longer ones are cut to it.
const validitySecondsMax = 259_200

type Countries = Pick<Admission, 'defaultCountry' | 'senderCountry'>

/** Reads a submit_sm of an account with these countries; a number is the refusing command_status. */
export function readSubmit(pdu: PduOf<'submit_sm'>, now: Date, countries: Countries): Submit | number {
  if (pdu.source_addr_ton > TON.ABBREVIATED) return ESME.RINVSRCTON
  if (pdu.dest_addr_ton > TON.ABBREVIATED || pdu.dest_addr_ton === TON.ALPHANUMERIC) return ESME.RINVDSTTON
  const sendAt = pdu.schedule_delivery_time === '' ? null : parseTime(pdu.schedule_delivery_time, now)
  if (sendAt === undefined) return ESME.RINVSCHED
  const validUntil = pdu.validity_period === '' ? null : parseTime(pdu.validity_period, now)
  if (validUntil === undefined || (validUntil && validUntil <= (sendAt ?? now))) return ESME.RINVEXPIRY
  const { source_addr: source } = pdu
  const destination = readDestination(pdu, countries)
  return { source, destination, part: readPart(pdu), registeredDelivery: pdu.registered_delivery, sendAt, validUntil }
}

/**
 * With TON 2, digits that are a national number of the account's country, else of the sender's, get its code. Others are read as elsewhere
 * in the API: Kannel and other programs send TON 2 with every number by default. Without a country, only numbers in an assigned range are
 * valid.
 */
function readDestination(
  { dest_addr_ton: ton, destination_addr: address, source_addr: source }: PduOf<'submit_sm'>,
  { defaultCountry, senderCountry }: Countries,
): string {
  if (ton !== TON.NATIONAL || address.startsWith('+')) return address
  const country = defaultCountry ?? countryOfSender(source) ?? senderCountry
  const read = country === null ? readNumber(address) : readAtHome(address, country)
  if (read === null) return address
  if (!('number' in read)) return ''
  if (country !== null) return read.number
  return read.warnings.some(({ code }) => code === 'unassigned_range') ? '' : address
}

export const isPart = ({ part }: Submit): boolean => (part.concatenation?.total ?? 1) > 1

/** Removes NULs at the end of a part, which its text would not have either: in GSM-7 alone they are `@`. */
export function withoutPadding(part: MessagePart, defaultAlphabet: Admission['defaultAlphabet']): MessagePart {
  const { body } = part
  if (body.at(-1) !== 0) return part
  const coding = codingOf(part.data_coding, { defaultAlphabet })
  if (coding === 'gsm7' || coding === 'gsm7-packed') return part
  let end = body.length
  while (end > 0 && body[end - 1] === 0) end--
  // UCS-2 keeps one or two: the first may end a character, the last may begin one that the next part continues.
  if (coding === 'ucs2') end += 2 - ((body.length - end) % 2)
  return { ...part, body: body.subarray(0, end) }
}

/** The draft of a complete message; the first of `submits` decides all but the text. */
export function draftSubmit(admission: Admission, submits: readonly Submit[], now: Date): Draft | number {
  const [first] = submits
  if (!first) return ESME.RSYSERR
  const { defaultAlphabet } = admission
  const joined = joinParts(
    submits.map(({ part }) => part),
    { defaultAlphabet },
  )
  const { text } = joined
  if (text === null || (isWhole(submits) && !isTrusted(first, joined, defaultAlphabet))) return ESME.RINVDCS
  // A part may be half of a character, which alone is not a text.
  if (text === '' && (isWhole(submits) || joined.octets.length === 0)) return ESME.RINVMSGLEN
  const seconds = first.validUntil && Math.ceil((first.validUntil.getTime() - (first.sendAt ?? now).getTime()) / 1000)
  const draft = readDraft(
    {
      to: first.destination,
      // A part may be blank, or half of a character.
      message: isBlank(text) && !isWhole(submits) ? '-' : text,
      ...(first.source !== '' && { from: first.source }),
      ...(first.sendAt && { send_at: first.sendAt.toISOString() }),
      ...(seconds !== null && { validity_period: Math.min(Math.max(seconds, 1), validitySecondsMax) }),
    },
    {
      accountId: admission.accountId,
      isTest: admission.mode === 'test',
      defaultCountry: admission.defaultCountry,
      senderCountry: admission.senderCountry,
      refuseUrl: () => null,
    },
    now.getTime(),
  )
  if (Array.isArray(draft)) return statusOf(draft)
  return draft.characters > textMax ? ESME.RINVMSGLEN : draft
}

// A part may begin or end within a character.
const isWhole = (submits: readonly Submit[]): boolean => submits.length >= (submits[0]?.part.concatenation?.total ?? 1)

/**
 * Whether the decoded text may be sent. Unreadable octets may not, nor others declared as UCS-2 or binary. Octets declared as GSM-7 or
 * ASCII may be UTF-8 or Windows-1252.
 */
function isTrusted({ part }: Submit, { coding, isReadable }: JoinedMessage, defaultAlphabet: DefaultAlphabet): boolean {
  const declared = codingOf(part.data_coding, { defaultAlphabet })
  return isReadable && (coding === declared || (declared !== 'ucs2' && declared !== 'binary'))
}

function statusOf([fault]: FieldError[]): number {
  switch (fault?.pointer ?? '') {
    case '#/to':
      return ESME.RINVDSTADR
    case '#/from':
      return ESME.RINVSRCADR
    case '#/send_at':
      return ESME.RINVSCHED
    default:
      return ESME.RINVMSGLEN
  }
}
