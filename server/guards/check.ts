/**
 * Guards in the transaction that accepts. Limits are locked and used up, in one order, before the insert; the amounts of messages that were not
 * accepted are given back after it. So concurrent accepts never pass a limit, and refused messages use nothing up.
 */
import { type StopCount, recordStops } from './stops.ts'
import { now } from '../ground/db/clock.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import type { Posting, Needs } from '../events/events.ts'
import type { Accepted, Draft, Planned } from '../message/draft.ts'
import type { Guards } from './guards.ts'
import { askOf, judge, nameOf, type Ask, type Judgement, type Known } from './judge.ts'
import {
  findTexts,
  forgetTexts,
  moveWindows,
  noteTexts,
  readRelief,
  useWindows,
  windowsOf,
  type Amount,
} from './windows.ts'

export type GuardContext = Needs<'vault' | 'outbox' | 'subscriptions'> & { guards: Guards }

/** Verdicts on planned messages, until the accept has ended. */
export interface Check {
  planned: readonly Planned[]
  asks: readonly (Ask | null)[]
  judgement: Judgement
  known: Known
  isOfBroadcast: boolean
  at: Date
}

/** Locks the windows of these messages and judges each. With `isOfBroadcast`, a message that has to wait for a window also stops those behind it. */
export async function openCheck(
  tx: Tx,
  { guards, vault }: Pick<GuardContext, 'guards' | 'vault'>,
  planned: readonly Planned[],
  isOfBroadcast: boolean,
): Promise<Check> {
  const at = planned[0]?.at ?? now()
  const asks = asksOf({ guards, vault }, planned, at)
  const used = await useWindows(tx, amountsOf(asks))
  const earlier = await noteTexts(tx, planned, asks, at)
  let known: Known = { used, earlier, relief: new Map(), at }
  let judgement = judge(asks, known, isOfBroadcast)
  // Reads releases only if something stops.
  const stopped = judgement.stops.flatMap((stop) => (stop ? [stop.window] : []))
  if (stopped.length > 0) {
    known = { ...known, relief: await readRelief(tx, [...windowsOf(asks), ...stopped]) }
    judgement = judge(asks, known, isOfBroadcast)
  }
  planned.forEach((one, i) => (one.stop = judgement.stops[i] ?? null))
  return { planned, asks, judgement, known, isOfBroadcast, at }
}

function asksOf(
  { guards, vault }: Pick<GuardContext, 'guards' | 'vault'>,
  planned: readonly Planned[],
  at: Date,
): (Ask | null)[] {
  return planned.map((one) => {
    const { draft, route, estimate } = one
    const rules = guards.of(draft.accountId)
    if (!rules || route.refusal || one.isOver) return null
    const sender = route.sender.sender?.number ?? ''
    // A test message never repeats a real one, nor the reverse.
    const kind = draft.isTest ? 'repeat test' : 'repeat'
    const hash = (): Buffer =>
      vault.mac(`${kind} ${draft.accountId}`, `${draft.theirNumber} ${sender} ${textOf(draft)}`)
    return askOf(rules, { ...draft, cost: estimate, hash }, at)
  })
}

/** Judges each message by its country and repetition only; writes nothing. Limits are left out: a broadcast waits for them. */
export async function foreseeStops(
  db: Queryable,
  context: Pick<GuardContext, 'guards' | 'vault'>,
  planned: readonly Planned[],
): Promise<void> {
  const at = planned[0]?.at ?? now()
  const asks = asksOf(context, planned, at).map((ask) => ask && { ...ask, needs: [] })
  const windows = asks.flatMap((ask) => [ask?.country ?? [], ask?.repeat?.window ?? []].flat())
  if (windows.length === 0) return
  const [relief, earlier] = await Promise.all([readRelief(db, windows), findTexts(db, planned, asks, at)])
  const { stops } = judge(asks, { used: new Map(), relief, earlier, at }, false)
  planned.forEach((one, i) => (one.stop = stops[i] ?? null))
}

/**
 * Judges again the messages that a limit stopped, because other messages that passed were not accepted and left room. Returns the places that may go
 * now; nothing else is wrong with them, so there is no third time. The other results get their present reason: a message behind a halt that is gone
 * is refused for its own reason, and a broadcast must not wait for it.
 */
export function reconsider({ planned, asks, judgement, known, isOfBroadcast }: Check, results: Accepted[]): number[] {
  const isOver = (i: number): boolean => {
    const result = results[i]
    return result?.kind === 'refused' && result.stop !== null && result.stop.limit !== null
  }
  const hasRoom = results.some(
    (result, i) => asks[i]?.needs.length && !judgement.stops[i] && result.kind !== 'accepted',
  )
  if (!hasRoom || !results.some((_, i) => isOver(i))) return []
  const used = new Map(known.used)
  for (const { window, amount } of amountsOf(asks, (i) => results[i]?.kind === 'accepted'))
    used.set(nameOf(window), (used.get(nameOf(window)) ?? 0) + amount)
  const again = judge(
    asks.map((ask, i) => (isOver(i) ? ask : null)),
    { ...known, used },
    isOfBroadcast,
  )
  for (const [i, leader] of again.repeats) judgement.repeats.set(i, leader)
  for (const [name, window] of again.alerts) judgement.alerts.set(name, window)
  const places: number[] = []
  planned.forEach((one, i) => {
    if (!isOver(i)) return
    const stop = (one.stop = judgement.stops[i] = again.stops[i] ?? null)
    if (stop) results[i] = { kind: 'refused', refusal: stop.refusal, stop, waitSeconds: null }
    else places.push(i)
  })
  return places
}

/** The text as requested: codes of short links are new each time. */
const textOf = ({ body, shortLinks = [] }: Draft): string =>
  shortLinks.reduce((text, { code, url }) => text.replaceAll(code, () => url), body)

/** Amounts of messages by window: of all of them, or of one kind of result. */
function amountsOf(asks: readonly (Ask | null)[], isMeant: (place: number) => boolean = () => true): Amount[] {
  const amounts = new Map<string, Amount>()
  asks.forEach((ask, i) => {
    if (!ask || !isMeant(i)) return
    for (const { window, amount } of ask.needs) {
      const name = nameOf(window)
      const sum = amounts.get(name)
      if (sum) sum.amount += amount
      else amounts.set(name, { window, amount })
    }
  })
  return [...amounts.values()]
}

/** Gives back what was not accepted, and records the stops. Results are in the order of the messages. */
export async function settleCheck(
  tx: Tx,
  context: GuardContext,
  check: Check,
  results: Accepted[],
): Promise<Posting[]> {
  const { planned, asks, judgement } = check
  for (const [i, leader] of judgement.repeats) {
    const [result, first] = [results[i], results[leader]]
    if (result?.kind !== 'refused' || !first || !result.stop) continue
    // The earlier message was not accepted either: there is no id to name, and the error is the same.
    if (first.kind === 'refused') results[i] = first
    else result.stop.earlierId = first.kind === 'accepted' ? first.row.id : first.messageId
  }
  const unused = amountsOf(asks, (i) => results[i]?.kind !== 'accepted')
  await moveWindows(
    tx,
    unused.map(({ window, amount }) => ({ window, amount: -amount })),
  )
  const unsent = results.flatMap((result, i) => {
    const [repeat, one] = [asks[i]?.repeat, planned[i]]
    return repeat && one && result.kind !== 'accepted'
      ? [{ accountId: one.draft.accountId, hash: repeat.hash, id: one.id }]
      : []
  })
  if (unsent.length > 0) await forgetTexts(tx, unsent)
  return recordStops(tx, context, stopsOf(check, results), check.at)
}

/** Stops by window, with the number of single sends each refused. Those of an atomic batch are recorded after its rollback. */
export function stopsOf(
  { judgement, isOfBroadcast }: Pick<Check, 'judgement' | 'isOfBroadcast'>,
  results: readonly Accepted[],
): StopCount[] {
  const stops = new Map<string, StopCount>()
  for (const result of results) {
    if (result.kind !== 'refused' || !result.stop) continue
    const { window, limit } = result.stop
    const stop = stops.get(nameOf(window)) ?? { window, limit, refused: 0, told: [] }
    if (!isOfBroadcast) stop.refused++
    stop.told.push(result.stop)
    stops.set(nameOf(window), stop)
  }
  for (const [name, window] of judgement.alerts) stops.set(name, { window, limit: window.limit, refused: 0, told: [] })
  return [...stops.values()]
}
