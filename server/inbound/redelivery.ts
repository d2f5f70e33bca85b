/**
 * Distinguishes a redelivered reply from a person who sends the same twice: SMPP deliveries have no identity.
 * 1. A repeat is equal (link, numbers, text, the carrier's own id if any) to one of the last ten minutes. With the same id it always is one.
 * 2. Without an id it is one if the carrier may lack our answer to the first: it was late or an error, or the session ended before a heartbeat, or an
 * unbind, proved that it was read. Each such answer excuses one repeat. Otherwise the person sent it twice.
 * 3. The first one's session is asked for that proof. If it gives none in time, nor ends, the reply is left to its carrier, which delivers it again;
 * also if the reply's own session is gone, or another process has taken an equal one meanwhile.
 * 4. A later reply of the person on another session ends the doubt: the reply is stored. START is ignored then, because it may be an old one.
 * 5. STOP is obeyed in a repeat as well, unless the person is out: when in doubt, out (`inbound/reply.ts`).
 */
import type { DeliverySession } from '../links/carrier-link.ts'
import type { Db, Tx } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import type { Coming } from './reply.ts'
import {
  askSession,
  isFollowed,
  noteAgain,
  noteFirst,
  noteProofs,
  noteSession,
  type Earlier,
  type Noted,
} from './redelivery-notes.ts'

export interface Delivery {
  linkId: string
  /** Of all fields that a redelivery repeats; the first octets cover only the person (`personOctets`). */
  hash: Buffer
  /** The hash includes an id of the carrier: equal hashes are repeats. */
  isNamed: boolean
  /** sequence_number of its PDU. */
  sequence: number
  session: DeliverySession
}

/** Not answered, or too late: the carrier delivers it again, or has done so. */
export class Unanswerable extends Error {}

type Store = (comingOf: (tx: Tx) => Promise<Coming>) => Promise<'stored' | 'orphan' | 'skipped'>

interface Open extends Noted {
  sequence: number
  /** The earliest time at which it may have come. */
  cameAt: number
  /** Null: no answer yet. */
  answeredAt: number | null
  /** It was answered late, with an error, or not at all. */
  isLate: boolean
  isLateNoted: boolean
  /** Heartbeats of its session before the answer. */
  enquiries: number
  /** When its session was first asked for a proof. */
  askedAt: number | null
}

interface Held {
  id: string
  session: DeliverySession
  /** Resolves when other processes can see the session; null: not requested. */
  known: Promise<void> | null
  count: number
  /** All deliveries up to here have arrived or are recorded as late, as seen by other processes. */
  sureTo: number
  /** By number, oldest first. */
  open: Map<number, Open>
}

/**
 * The verdict on a delivery with an earlier equal one: sent twice; a repeat, with the number of further expected ones; wait for a proof; or leave it
 * to its carrier.
 */
type Verdict = { is: 'said' | 'repeat'; doubts: number; unproved: number } | { is: 'wait' | 'left' }

// Below the two seconds of jsmpp, the most impatient library in use.
const patienceMs = 1500
/** How often a process writes its sessions' proofs. */
export const notingMs = 1000
// Longer than an equal delivery counts.
const keptMs = 660_000
const hearAgainMs = 20
const lookAgainMs = 200
// Short enough to leave a reply to its carrier in time.
const hearMs = 1000
// Longer than another process takes to ask its sessions and to write.
const tellMs = 5000
// A redelivery on the next session may be read this long before the end of the last one.
const networkMs = 500
// Some 30 MB; above it the oldest answers count as arrived.
const openMax = 100_000

export class Redeliveries {
  readonly #nodeId: string
  readonly #now: () => number
  readonly #absentMs: () => number
  readonly #held = new Map<string, Held>()
  readonly #heldOf = new WeakMap<DeliverySession, Held>()
  /** The last of equal running deliveries: each waits for the one before. */
  readonly #last = new Map<string, Promise<void>>()
  #openCount = 0

  /** `absentMs`: how long new bytes may have waited in their socket (`Presence`). */
  constructor(nodeId: string, now: () => number = Date.now, absentMs: () => number = () => 0) {
    this.#nodeId = nodeId
    this.#now = now
    this.#absentMs = absentMs
  }

  /**
   * Stores a delivery unless it repeats a stored one. `store` asks for the verdict in its transaction; answer the carrier as soon as this resolves or
   * rejects. @throws Unanswerable if there is no verdict in time: the carrier delivers it again.
   */
  async storeOnce(db: Db, delivery: Delivery, store: Store): Promise<void> {
    const held = this.#hold(delivery.session)
    const key = `${delivery.linkId} ${delivery.hash.toString('base64')}`
    const before = this.#last.get(key)
    // A number without an answer yet is certainly the same delivery.
    const isTwin = before !== undefined && isUnderWay(held, delivery)
    const one = this.#open(held, delivery)
    const done = (async () => {
      await before
      held.known ??= noteSession(db, this.#nodeId, held.id)
      await held.known.catch((error: unknown) => {
        held.known = null
        throw error
      })
      await this.#storeInTurn(db, delivery, one, isTwin, store)
    })()
    const settled = done.catch(() => {})
    this.#last.set(key, settled)
    try {
      await done
    } catch (error) {
      one.isLate = true
      throw error
    } finally {
      one.answeredAt = this.#now()
      one.enquiries = delivery.session.enquiries.sent
      one.isLate ||= delivery.session.state === 'closed' || one.answeredAt - one.cameAt >= patienceMs
      if (this.#last.get(key) === settled) this.#last.delete(key)
    }
  }

  /** Stores a delivery once there is a verdict. */
  async #storeInTurn(db: Db, delivery: Delivery, one: Open, isTwin: boolean, store: Store): Promise<void> {
    const startedAt = performance.now()
    for (;;) {
      const open: { earlier: Earlier | null; verdict: Verdict['is'] } = { earlier: null, verdict: 'said' }
      const result = await store(async (tx) => {
        for (;;) {
          const earlier = await noteFirst(tx, one, newId(), (this.#now() - one.cameAt) / 1000)
          if (earlier === null) return 'new'
          const verdict = this.#judge(earlier, one, delivery, isTwin)
          const coming = await comingOf(tx, one, earlier, verdict, delivery.isNamed)
          Object.assign(open, { earlier, verdict: verdict.is })
          if (coming !== null) return coming
        }
      })
      const { earlier, verdict } = open
      if (earlier === null || result !== 'skipped' || verdict === 'said' || verdict === 'repeat') return
      const held = this.#held.get(earlier.sessionId)
      if (verdict === 'left' || performance.now() - startedAt >= (held ? hearMs : tellMs)) throw new Unanswerable()
      if (held) await this.#untilHeard(held, earlier.number)
      else {
        await askSession(db, earlier.sessionId)
        await new Promise((resolve) => setTimeout(resolve, lookAgainMs))
      }
    }
  }

  #judge(earlier: Earlier, one: Open, { session, isNamed }: Delivery, isTwin: boolean): Verdict {
    const { doubts } = earlier
    const isSame = earlier.sessionId === one.sessionId
    const unproved = isSame ? earlier.unproved : 0
    if (isNamed || isTwin) return { is: 'repeat', doubts, unproved }
    const isSlow = this.#now() - one.cameAt >= patienceMs
    if (session.state === 'closed' || (isSlow && earlier.isNewer && !isSame)) return { is: 'left' }
    const held = this.#held.get(earlier.sessionId)
    const first = held?.open.get(earlier.number)
    if (earlier.isLate || first?.isLate) return { is: 'repeat', doubts, unproved }
    const isSure = earlier.isSure || (held && (!first || hasArrived(first, held.session)))
    const isOver = held ? held.session.state === 'closed' : earlier.isOver
    if (isOver && !isSure) return { is: 'repeat', doubts: doubts + earlier.unproved, unproved: 0 }
    if (doubts > 0) return { is: 'repeat', doubts: doubts - 1, unproved }
    if (isSure) return { is: 'said', doubts, unproved: 0 }
    return isSame ? { is: 'said', doubts, unproved: unproved + 1 } : { is: 'wait' }
  }

  async noteLost(db: Db): Promise<void> {
    const now = this.#now()
    const late: Open[] = []
    const proofs: { held: Held; id: string; sureTo: number; isOver: boolean }[] = []
    for (const held of this.#held.values()) {
      let sureTo = held.sureTo
      let isAllBefore = true
      for (const one of held.open.values()) {
        const isAnswered = one.answeredAt !== null
        if (one.isLateNoted) this.#close(held, one)
        else if (one.isLate && isAnswered) late.push(one)
        else if (!hasArrived(one, held.session) && now - one.cameAt < keptMs) isAllBefore = false
        if (isAllBefore) sureTo = one.number
      }
      const isOver = held.session.state === 'closed' && [...held.open.values()].every((one) => one.answeredAt !== null)
      if (sureTo > held.sureTo || isOver) proofs.push({ held, id: held.id, sureTo, isOver })
    }
    if (this.#openCount === 0 && proofs.length === 0) return
    const asked = await noteProofs(db, this.#nodeId, proofs, late)
    for (const one of late) one.isLateNoted = true
    for (const { held, sureTo, isOver } of proofs) {
      held.sureTo = sureTo
      for (const one of held.open.values()) if (isOver || (one.number <= sureTo && !one.isLate)) this.#close(held, one)
      if (isOver) this.#held.delete(held.id)
    }
    for (const id of asked) {
      const held = this.#held.get(id)
      if (held) await enquire(held, this.#now())
    }
  }

  #hold(session: DeliverySession): Held {
    let held = this.#heldOf.get(session)
    if (!held) {
      held = { id: newId(), session, known: null, count: 0, sureTo: 0, open: new Map() }
      this.#heldOf.set(session, held)
    }
    this.#held.set(held.id, held)
    return held
  }

  #open(held: Held, { linkId, hash, sequence }: Delivery): Open {
    const absentMs = this.#absentMs()
    const one: Open = {
      linkId,
      hash,
      sequence,
      sessionId: held.id,
      number: ++held.count,
      cameAt: this.#now() - (absentMs < patienceMs ? 0 : absentMs),
      answeredAt: null,
      isLate: false,
      isLateNoted: false,
      enquiries: 0,
      askedAt: null,
    }
    held.open.set(one.number, one)
    if (++this.#openCount > openMax)
      for (const other of this.#held.values()) {
        const [oldest] = other.open.values()
        if (!oldest) continue
        this.#close(other, oldest)
        break
      }
    return one
  }

  #close(held: Held, one: Open): void {
    if (held.open.delete(one.number)) this.#openCount--
  }

  /** Asks a session until it has proved that an answer arrived, or is over; not for longer than a carrier waits. */
  async #untilHeard(held: Held, number: number): Promise<void> {
    const startedAt = performance.now()
    for (;;) {
      const one = held.open.get(number)
      if (!one || one.isLate || hasArrived(one, held.session) || held.session.state === 'closed') return
      if (performance.now() - startedAt >= hearMs) return
      await enquire(held, this.#now())
      await new Promise((resolve) => setTimeout(resolve, hearAgainMs))
    }
  }
}

/** The verdict by an earlier equal delivery; null if yet another came between. */
async function comingOf(
  tx: Tx,
  one: Open,
  earlier: Earlier,
  verdict: Verdict,
  isNamed: boolean,
): Promise<Coming | null> {
  if (verdict.is === 'said') return (await noteAgain(tx, one, earlier, newId(), verdict)) ? 'new' : null
  if (!isNamed && verdict.is !== 'left' && (await isFollowed(tx, one, earlier)))
    return (await noteAgain(tx, one, earlier, newId(), earlier)) ? 'doubtful' : null
  if (verdict.is !== 'repeat') return 'repeat'
  return (await noteAgain(tx, one, earlier, null, verdict)) ? 'repeat' : null
}

/** Whether the carrier has read our answer: it answered a later heartbeat, or unbound, or goes on though it answers no heartbeats. */
function hasArrived({ answeredAt, isLate, enquiries, askedAt }: Open, session: DeliverySession): boolean {
  if (answeredAt === null || isLate) return false
  if (session.enquiries.answered > enquiries || session.hasUnbound) return true
  return askedAt !== null && session.lastReadAtMs > askedAt + networkMs
}

function isUnderWay(held: Held, { hash, sequence }: Delivery): boolean {
  for (const one of held.open.values())
    if (one.answeredAt === null && one.sequence === sequence && one.hash.equals(hash)) return true
  return false
}

/** Sends a heartbeat after the answers of a session, unless there was one. */
async function enquire({ session, open }: Held, now: number): Promise<void> {
  const answered = [...open.values()].filter((one) => one.answeredAt !== null)
  // An answer is written in the turn in which it is known.
  await new Promise((resolve) => setImmediate(resolve))
  for (const one of answered) one.askedAt ??= now
  if (answered.some((one) => session.enquiries.sent <= one.enquiries)) session.enquire()
}
