/**
 * The conservation laws: four witnesses of one run (client, ledger, carrier, webhook receiver) must agree at rest, after any kills. Every text
 * begins with a unique word, which matches a carrier's submit with its message.
 */
import { parseId } from '../server/ground/base/ids.ts'
import type { Status } from '../server/message/message.ts'
import { deliveryStatusOf } from '../server/message/message.ts'
import { fateOf } from '../simulator/index.ts'
import type { CarrierEntry } from './carrier.ts'
import type { Ledger } from './ledger.ts'
import { isKeyOfLoad, isOfLoad } from './load.ts'

export interface Request {
  key: string
  id: string | null
}

export interface Evidence {
  requests: Request[]
  ledger: Ledger
  carrier: CarrierEntry[]
  replies: string[]
  received: ReadonlySet<string>
  /** Ids of messages canceled, maybe too late. Default: none. */
  calledOff?: readonly string[]
}

const restless: readonly Status[] = ['scheduled', 'queued', 'sending']
const contractEventOf: Partial<Record<Status, string>> = {
  delivered: 'message.delivered',
  undelivered: 'message.failed',
  rejected: 'message.failed',
  failed: 'message.failed',
  expired: 'message.failed',
  received: 'message.received',
}
const contractEvents = new Set(Object.values(contractEventOf))

/** Returns the violations, each beginning with its law. */
export function checkConservation(evidence: Evidence): string[] {
  const { requests, ledger, carrier, received } = evidence
  const violations: string[] = []
  const check = (holds: boolean, law: string, what: string): void => {
    if (!holds) violations.push(`${law}: ${what}`)
  }
  const messages = new Map(ledger.messages.map((message) => [message.id, message]))
  const outbound = ledger.messages.filter((message) => message.direction === 'outbound')
  const submissionsOf = groupBy(ledger.submissions, (one) => `${one.messageId} ${one.segment}`)
  const deliveriesOf = groupBy(
    carrier.filter((entry) => entry.status === 'ROK'),
    (entry) => `${tagOf(entry.text)} ${entry.part}`,
  )
  const deliveredSegments = new Set(
    ledger.receipts.filter((one) => one.state === 'delivered').map((one) => `${one.messageId} ${one.segment}`),
  )
  const eventsOf = groupBy(
    ledger.events.filter((event) => contractEvents.has(event.type)),
    (event) => event.messageId,
  )

  for (const { key, id } of requests)
    if (id !== null) check(messages.has(toUuid(id) ?? ''), 'L1', `${id} (${key}) was answered 202 and is not there`)

  const idsOfKey = groupBy(
    requests.filter((request) => request.id !== null),
    (request) => request.key,
  )
  for (const [key, answers] of idsOfKey)
    check(new Set(answers.map((one) => one.id)).size === 1, 'L2', `${key} was answered with several messages`)
  check(new Set(outbound.map((one) => tagOf(one.text))).size === outbound.length, 'L2', 'a text is there twice')
  const ofLoad = outbound.filter((message) => isOfLoad(message.text)).length
  const keys = ledger.keys.filter(({ key }) => isKeyOfLoad(key)).length
  check(ofLoad === keys, 'L2', `${ofLoad} messages for ${keys} keys`)

  const calledOff = new Set(evidence.calledOff?.map(toUuid))
  const known = new Set(outbound.map((message) => tagOf(message.text)))
  for (const entry of carrier) check(known.has(tagOf(entry.text)), 'L5', `${entry.text} is of no message`)

  for (const message of outbound) {
    const segments = Array.from({ length: message.segments }, (_, i) => i + 1)
    for (const segment of segments) {
      const at = `${message.text.slice(0, 20)} (${message.id}) segment ${segment}`
      const tries = submissionsOf.get(`${message.id} ${segment}`) ?? []
      const accepted = tries.filter((one) => one.state === 'accepted').length
      const unknown = tries.filter((one) => one.state === 'unknown').length
      const wereUnknown = tries.filter((one) => one.wasUnknown).length
      const deliveries = deliveriesOf.get(`${tagOf(message.text)} ${segment}`) ?? []
      const books = `${accepted} accepted and ${unknown} unknown in the ledger, ${deliveries.length} at the carrier`
      check(accepted <= deliveries.length && deliveries.length <= accepted + unknown, 'L6', `${at}: ${books}`)
      const isHeld = message.onUnknown !== 'resend'
      check(deliveries.length <= 1 || !isHeld, 'L7', `${at}: held, ${deliveries.length} times at the carrier`)
      check(deliveries.length <= 1 + wereUnknown, 'L8', `${at}: ${books}, of which ${wereUnknown} were unknown`)
      check(
        deliveries.length <= 1 || message.possibleDuplicate,
        'L8',
        `${at}: twice at the carrier, and does not say so`,
      )
      if (message.status === 'sent' || message.status === 'delivered')
        check(deliveries.length >= 1, 'L9', `${at}: ${message.status}, never at the carrier`)
      const fates = deliveries.map((entry) => fateOf(entry.destination).receipt?.state ?? 'delivered')
      if (message.status === 'delivered')
        check(fates.includes('delivered'), 'L13', `${at}: delivered, the carrier's receipt says ${fates.join()}`)
    }
    check(!restless.includes(message.status), 'L10', `${message.id} is ${message.status} at rest`)
    const mayWait = message.onUnknown !== 'resend' || message.isParked || calledOff.has(message.id)
    // A carrier that refuses a repeated submit may have accepted the first: its outcome stays unknown.
    const isTried = segments.every((segment) => {
      const last = submissionsOf.get(`${message.id} ${segment}`)?.toSorted((a, b) => b.try - a.try)[0]
      return deliveriesOf.has(`${tagOf(message.text)} ${segment}`) || last?.state === 'refused'
    })
    check(
      message.status !== 'unconfirmed' || mayWait || isTried,
      'L10',
      `${message.id} was to be sent again, and is neither at the carrier nor refused`,
    )
    const isWhole = segments.every((segment) => deliveredSegments.has(`${message.id} ${segment}`))
    check(
      (message.status === 'delivered') === isWhole,
      'L13',
      `${message.id} is ${message.status}, ${isWhole ? 'all' : 'not all'} receipts say delivered`,
    )
    check(
      deliveryStatusOf(message.status) !== 'Failed' || message.errorCode !== 'outcome_unknown',
      'L9',
      `${message.id} failed for an unknown outcome`,
    )
  }
  for (const [table, rows] of Object.entries(ledger.leftovers))
    check(rows === 0, 'L10', `${rows} rows left in ${table}`)

  for (const fault of ledger.counterFaults) check(false, 'L16', `the counts are not what the messages are: ${fault}`)

  // Every accepted submit of these runs has receipts, so each of the carrier's ids must have come.
  const inbox = new Set(ledger.receipts.map((receipt) => receipt.rawId))
  const given = new Set(carrier.flatMap((entry) => entry.messageId ?? []))
  for (const id of given) check(inbox.has(id), 'L11', `the receipt of ${id} was answered and is not there`)
  for (const id of inbox) check(given.has(id), 'L11', `a receipt of ${id}, which the carrier never gave`)
  const ours = new Set(ledger.submissions.flatMap((one) => one.carrierMessageId ?? []))
  for (const receipt of ledger.receipts)
    check(
      receipt.messageId !== null || !ours.has(receipt.rawId),
      'L11',
      `the receipt of ${receipt.rawId} was not matched`,
    )

  const inbound = ledger.messages.filter((message) => message.direction === 'inbound').map((message) => message.text)
  const typed = groupBy(evidence.replies, (text) => text)
  const stored = groupBy(inbound, (text) => text)
  for (const text of new Set([...inbound, ...evidence.replies])) {
    const [times, given] = [stored.get(text)?.length ?? 0, typed.get(text)?.length ?? 0]
    check(
      times === given,
      'L12',
      `"${text}" is ${times} times in the ledger, and was answered ${given} times at the carrier`,
    )
  }

  for (const message of ledger.messages) {
    const expected = contractEventOf[message.status]
    const found = eventsOf.get(message.id)?.map((event) => event.type) ?? []
    check(
      found.join() === (expected ?? ''),
      'L14',
      `${message.id} is ${message.status} and has ${found.join(' and ') || 'no event'}`,
    )
  }
  const recorded = new Set(ledger.events.filter((event) => contractEvents.has(event.type)).map((event) => event.id))
  const arrived = new Set([...received].map((id) => toUuid(id)))
  for (const id of recorded) check(arrived.has(id), 'L15', `the event ${id} never arrived`)
  for (const id of arrived) check(recorded.has(id ?? ''), 'L15', `the event ${id} arrived and is not recorded`)
  return violations
}

function toUuid(id: string): string | null {
  return parseId(id.startsWith('evt_') ? 'evt' : 'msg', id)
}

/** A broken law is mostly broken often: shows the first violation of each, and a count. */
export function summarise(violations: readonly string[]): string[] {
  return [...groupBy(violations, (violation) => violation.split(':')[0] ?? '').values()].map(
    (all) => `${all.slice(0, 3).join('; ')}${all.length > 3 ? `; and ${all.length - 3} more` : ''}`,
  )
}

const tagOf = (text: string): string => text.split(' ')[0] ?? ''

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  return Map.groupBy(items, keyOf)
}
