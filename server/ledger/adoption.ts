/**
 * Decides which unmatched receipts belong to tries without an id. Pure. A wrong guess would report a message as delivered that was not, so ambiguous
 * receipts stay unmatched.
 */

/** A try that no receipt matches by the carrier's id. */
export interface TryWithoutId {
  accountId: string
  messageId: string
  segment: number
  try: number
  linkId: string
  theirNumber: string
  /** Null: the carrier's default sender. */
  ourNumber: string | null
  reference: number
  intentAt: Date
  /** Another message between the two numbers is in flight: the receipt may be for it, and have overtaken its answer. */
  isBusy: boolean
}

/** Recipient, sender and submit time from the unmatched receipts of one id. */
export interface UnmatchedReceipt {
  linkId: string
  matchId: string
  rawId: string
  source: string
  destination: string | null
  submitDate: string | null
  reference: number | null
  receivedAt: Date
}

export interface Adoption {
  try: TryWithoutId
  receipt: UnmatchedReceipt
}

// Difference of the carrier's clock and ours, with a wait in its queue: the issue's ±5 minutes.
const apartMsMax = 5 * 60_000
const quarterMs = 15 * 60_000
// Time zones range from UTC-12 to UTC+14.
const zoneMsMax = 14 * 3_600_000
// A receipt cannot precede its submit, but the clocks of a process and the database differ.
const clockMs = 60_000

/** 16 bits that identify a try of a segment to its carrier, computed alike on every node (SMPP 3.4 §5.3.2.17). */
export function referenceOf(messageId: string, segment: number, ofTry: number): number {
  // The end of an id is random; primes separate segments and tries of one message.
  return (Number.parseInt(messageId.slice(-4), 16) + 257 * segment + 4099 * ofTry) & 0xffff
}

/**
 * Pairs tries with unmatched receipts: by the reference if a receipt echoes it; else by numbers and time, if the receipt fits only one segment, and
 * that segment has as many tries without an id as there are such ids (mostly one of each).
 */
export function decideAdoptions(tries: readonly TryWithoutId[], unmatched: readonly UnmatchedReceipt[]): Adoption[] {
  const adoptions: Adoption[] = []
  for (const group of Map.groupBy(byAge(unmatched), pairOf).values()) {
    const [first] = group
    if (!first) continue
    const candidates = tries
      .filter((one) => one.linkId === first.linkId && one.theirNumber === first.source)
      .toSorted((a, b) => a.intentAt.getTime() - b.intentAt.getTime())
    const referring = adoptByReference(candidates, group)
    const left = candidates.filter((one) => !referring.some((adoption) => adoption.try === one))
    adoptions.push(...referring, ...adoptByPair(left, group))
  }
  return adoptions
}

function adoptByReference(tries: readonly TryWithoutId[], unmatched: readonly UnmatchedReceipt[]): Adoption[] {
  const byReference = Map.groupBy(unmatched, (receipt) => receipt.reference)
  return [...byReference].flatMap(([reference, namesakes]): Adoption[] => {
    const [receipt] = namesakes
    if (reference === null || !receipt || namesakes.length > 1) return []
    const [one, ...others] = tries.filter((each) => each.reference === reference && mayBe(each, receipt))
    return one && others.length === 0 ? [{ try: one, receipt }] : []
  })
}

function adoptByPair(tries: readonly TryWithoutId[], unmatched: readonly UnmatchedReceipt[]): Adoption[] {
  // A carrier that echoes references echoes ours, so another reference is of another client.
  const anonymous = unmatched.filter((receipt) => receipt.reference === null)
  return [...Map.groupBy(tries, segmentOf).values()].flatMap((own): Adoption[] => {
    const claims = anonymous.filter((receipt) => own.some((one) => mayBe(one, receipt)))
    const isOurs = claims.every((receipt) =>
      tries.every((one) => !mayBe(one, receipt) || (segmentOf(one) === segmentOf(own[0]) && !one.isBusy)),
    )
    if (!isOurs || claims.length > own.length) return []
    return claims.flatMap((receipt, i): Adoption[] => {
      const one = own[i]
      return one && mayBe(one, receipt) ? [{ try: one, receipt }] : []
    })
  })
}

const segmentOf = (one: TryWithoutId | undefined): string => (one ? `${one.messageId} ${one.segment}` : '')
const pairOf = ({ linkId, source }: UnmatchedReceipt): string => `${linkId} ${source}`
const byAge = (unmatched: readonly UnmatchedReceipt[]): UnmatchedReceipt[] =>
  unmatched.toSorted((a, b) => a.receivedAt.getTime() - b.receivedAt.getTime())

/** Whether a receipt fits a try, by our number and the time. */
function mayBe(
  { ourNumber, intentAt }: TryWithoutId,
  { destination, submitDate, receivedAt }: UnmatchedReceipt,
): boolean {
  // Some carriers pad addresses.
  if (ourNumber !== null && destination && !destination.startsWith(ourNumber)) return false
  const intentMs = intentAt.getTime()
  if (receivedAt.getTime() < intentMs - clockMs) return false
  const submitMs = submitDate === null ? null : readCarrierDate(submitDate)
  if (submitMs === null) return receivedAt.getTime() <= intentMs + apartMsMax
  // The carrier's zone is unknown, but a multiple of a quarter of an hour.
  const zoneMs = Math.round((submitMs - intentMs) / quarterMs) * quarterMs
  return Math.abs(zoneMs) <= zoneMsMax && Math.abs(submitMs - intentMs - zoneMs) <= apartMsMax
}

/** A carrier's date (YYMMDDhhmm, with or without seconds, century and punctuation) read as UTC; null if it is not a date. */
export function readCarrierDate(text: string): number | null {
  const all = text.replaceAll(/\D/g, '')
  const hasCentury = /^20\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\d{4}/.test(all)
  const digits = hasCentury ? all.slice(2) : all
  if (digits.length < 10) return null
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = (digits.slice(0, 10).match(/\d\d/g) ?? []).map(Number)
  const seconds = digits.length >= 12 ? Number(digits.slice(10, 12)) : 0
  const isDate = month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60 && seconds < 60
  return isDate ? Date.UTC(2000 + year, month - 1, day, hour, minute, seconds) : null
}
