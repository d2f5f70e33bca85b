/** Every decision about a message, in order, with its rule: from stored data, so that it can be explained years later. */
import { statusName } from '@heliogram/smpp'
import { showId } from '../ground/base/ids.ts'
import type { ExplainFacts, ExplainedTry } from './explain-store.ts'
import type { ToldReceipt } from '../ledger/stored-receipts.ts'
import { isHeld, type MessageRow } from '../message/message.ts'
import { countryOf } from '../ground/numbers/number.ts'
import { messageErrors } from '../message/taxonomy.ts'
import { buildTimeline } from './timeline.ts'

export const decisionSteps = [
  'accept',
  'country',
  'sender',
  'route',
  'hold',
  'submit',
  'answer',
  'retry',
  'receipt',
  'outcome',
] as const

/** One decision: its result, its rule, and an explanation. */
export interface Decision {
  at: string
  step: (typeof decisionSteps)[number]
  decision: string | null
  /** The rule's name: an id of ours, a code, or a carrier's word. */
  rule: string | null
  detail: string
  segment?: number
  try?: number
  carrier?: string | null
  possible_duplicate?: boolean
}

/** Decisions by time; those of one instant in the order in which they were made. */
export function explainMessage(
  row: MessageRow,
  facts: ExplainFacts,
  tries: ExplainedTry[],
  receipts: readonly ToldReceipt[],
): Decision[] {
  const entries = buildTimeline(row, tries, receipts)
  const [accepted] = entries
  const at = accepted?.at ?? row.createdAt.toISOString()
  const decisions: Decision[] = [{ at, step: 'accept', decision: row.type, rule: null, detail: accepted?.detail ?? '' }]
  if (row.direction === 'inbound') return decisions
  decisions.push(
    explainCountry(row, at),
    explainSender(row, facts, at),
    explainRoute(facts, tries[0], at),
    ...holdsOf(row, facts),
  )
  // The timeline has them in this order, one entry each.
  const told = [...receipts]
  for (const { type, ...entry } of entries.slice(1)) {
    const one = tries.find(({ segment, try: n }) => segment === entry.segment && n === entry.try)
    if (type === 'scheduled') decisions.push({ ...entry, step: 'hold', decision: 'scheduled', rule: 'send_at' })
    else if (type === 'submitted') decisions.push(...explainSubmit(entry, one, tries))
    else if (type === 'answered')
      decisions.push({
        ...entry,
        step: 'answer',
        decision: one?.isAdopted ? 'adopted' : (one?.state ?? null),
        rule: ruleOfAnswer(one),
      })
    else if (type === 'receipt') {
      const receipt = told.shift()
      decisions.push({ ...entry, step: 'receipt', decision: receipt?.stat ?? null, rule: receipt?.err ?? null })
    } else if (type === row.status)
      decisions.push({
        ...entry,
        step: 'outcome',
        decision: type,
        rule: row.errorCode,
        detail: adviseOf(row, entry.detail),
      })
    // Sent, before it failed: the error does not belong to this step.
    else decisions.push({ ...entry, step: 'outcome', decision: type, rule: null })
  }
  return decisions.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

function explainCountry(row: MessageRow, at: string): Decision {
  const country = countryOf(row.theirNumber)
  const detail = country
    ? `+${row.theirNumber} is a number of ${country}.`
    : `+${row.theirNumber} belongs to no country.`
  return { at, step: 'country', decision: country, rule: 'numbering_plan', detail }
}

/** The setting that has this sender now: the message stores only the sender. */
function explainSender(row: MessageRow, { sender }: ExplainFacts, at: string): Decision {
  const decided = { at, step: 'sender', decision: row.ourNumber } as const
  if (row.ourNumber === null)
    return { ...decided, rule: 'none', detail: "The account had no default sender: the carrier's own was used." }
  if (sender.isCampaigns)
    return { ...decided, rule: 'campaign', detail: `From ${row.ourNumber}, which is the campaign's sender.` }
  if (sender.isOfPool)
    return { ...decided, rule: 'campaign', detail: `From ${row.ourNumber}, of the campaign's sender pool.` }
  if (sender.isDefault)
    return { ...decided, rule: 'default', detail: `From ${row.ourNumber}, which is the account's default.` }
  const gone = sender.id === null ? '; it is no longer a sender of the account' : ''
  return { ...decided, rule: 'from', detail: `From ${row.ourNumber}, as the message or its pool requested${gone}.` }
}

function explainRoute({ route, carrier, chain }: ExplainFacts, tried: ExplainedTry | undefined, at: string): Decision {
  // Its present carrier may be the second of its chain.
  const begun = tried?.carrierId ? { id: tried.carrierId, name: tried.carrierName ?? 'a carrier' } : null
  const first = begun ?? carrier ?? chain[0] ?? null
  const rest = chain.filter(({ id }) => id !== first?.id).map(({ name }) => name)
  const way = first ? ` to ${first.name}` : ''
  const next = rest.length > 0 ? `; after a refusal: ${rest.join(', ')}` : ''
  const which = !route.id
    ? 'The default route'
    : route.position === null
      ? 'A route that has been deleted'
      : `The route at position ${route.position}${route.name ? ` (${route.name})` : ''}`
  return {
    at,
    step: 'route',
    decision: first && showId('car', first.id),
    rule: route.id ? showId('rte', route.id) : 'default_route',
    detail: `${which} sent it${way}${next}.`,
  }
}

function holdsOf(row: MessageRow, facts: ExplainFacts): Decision[] {
  const { dueAt, place } = facts
  const at = row.updatedAt.toISOString()
  const holds: Decision[] = explainUnknown(row, facts)
  const holdReason = place ? place.holdReason : row.holdReason
  const isWaiting = isHeld({ ...row, holdReason })
  if (isWaiting)
    holds.push({
      at,
      step: 'hold',
      decision: 'held',
      rule: holdReason,
      detail: `It is held${row.holdUntil ? ` until ${row.holdUntil.toISOString()}` : ''}: ${holdReason}.`,
    })
  if (dueAt && row.status === 'queued' && row.holdReason !== 'quiet_hours')
    holds.push({
      at,
      step: 'retry',
      decision: 'delayed',
      rule: row.errorRaw,
      detail: `It is retried at ${dueAt.toISOString()}.`,
    })
  if (place && !isWaiting)
    holds.push({ at, step: 'hold', decision: 'queued', rule: null, detail: 'It waits for capacity on a link.' })
  return holds
}

/** The policy for an unknown outcome, and the requesters of resends. */
function explainUnknown(row: MessageRow, { resendAt, resends }: ExplainFacts): Decision[] {
  const decisions = resends.map(({ at, kind, id, requestId }): Decision => {
    const actor = kind === 'key' ? showId('key', id) : showId('usr', id)
    const detail = `${actor} had it sent again (request ${requestId}), although it may have arrived.`
    return {
      at: new Date(at).toISOString(),
      step: 'retry',
      decision: 'resent',
      rule: actor,
      detail,
      possible_duplicate: true,
    }
  })
  if (row.status !== 'unconfirmed' || row.errorCode !== 'outcome_unknown' || isHeld(row)) return decisions
  const held = { at: row.updatedAt.toISOString(), step: 'hold', rule: 'on_unknown' } as const
  const when = resendAt && `It is sent again at ${resendAt.toISOString()}, unless its outcome is known by then.`
  const detail = 'It is held until a response or a receipt arrives; POST /v1/messages/{id}/resend sends it again.'
  return [...decisions, { ...held, decision: when ? 'resend' : 'held', detail: when ?? detail }]
}

/** A submit; with its reason unless it is the first of its segment. */
function explainSubmit(
  entry: Omit<Decision, 'step' | 'decision' | 'rule'>,
  one: ExplainedTry | undefined,
  tries: ExplainedTry[],
): Decision[] {
  if (!one) return []
  const carrier = one.carrierId && showId('car', one.carrierId)
  const before = tries.findLast(({ segment, try: n }) => segment === one.segment && n < one.try)
  const submit: Decision = { ...entry, step: 'submit', decision: carrier, rule: null, carrier }
  if (!before) return [submit]
  const isSame = before.carrierId === one.carrierId
  const where = isSame ? 'at the same carrier' : `at ${one.carrierName ?? 'another carrier'}, the next in its chain`
  return [
    {
      at: entry.at,
      step: 'retry',
      decision: isSame ? 'same_carrier' : 'next_carrier',
      rule: ruleOfAnswer(before),
      detail: `Segment ${one.segment} is retried ${where}${before.isRepeated ? ', although it may have arrived' : ''}.`,
      segment: one.segment,
      try: one.try,
    },
    submit,
  ]
}

function ruleOfAnswer(one: ExplainedTry | undefined): string | null {
  if (one?.state === 'unknown') return 'no_answer'
  if (one?.isAdopted) return 'receipt'
  return one?.commandStatus === null || one === undefined ? null : statusName(one.commandStatus)
}

function adviseOf(row: MessageRow, detail: string): string {
  const advice = row.errorCode ? messageErrors[row.errorCode]?.advice : undefined
  return advice ? `${detail} ${advice}` : detail
}
