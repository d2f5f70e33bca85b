/**
 * Tells a reply that a carrier delivers again from a person who says the same twice. SMPP gives a delivery no identity that outlives its
 * session; what tells is whether the carrier can be without our answer to an equal one. Each such answer excuses one repetition:
 *
 *   stored, answered at once, session alive, or its heartbeat was answered later      the carrier has it: a repetition is a person's
 *   being stored or answered late, so that the carrier may have stopped waiting       the next one is a redelivery
 *   answered, and the session was lost                                               "
 *   not stored, as far as we know                                                    ", and stored unless it was after all
 *
 * What this process has answered is remembered here, what others and those before it have, in the database.
 */
import { columns } from '../db/array.ts'
import type { Db, Tx } from '../db/db.ts'
import { newId } from '../ids.ts'

/** What of a session tells whether the carrier has our answers. */
export interface DeliverySession {
  /** `closed` for good, once it is. */
  readonly state: string
  /** Unix milliseconds; 0 before the first. */
  readonly lastEnquireAnsweredAtMs: number
}

/** A reply as it came. */
export interface Delivery {
  linkId: string
  /** Of all that is the same when it is delivered again. */
  hash: Buffer
  /** The hash has an id of the carrier in it: whatever has the same is the same. */
  isNamed: boolean
  /** sequence_number of its PDU. */
  sequence: number
  session: DeliverySession
  /** How long the carrier has to answer a heartbeat, in milliseconds. */
  enquireTimeoutMs: number
}

interface Answered extends Delivery {
  id: string
  receivedAt: number
  /** When it was stored or could not be; null: under way. */
  answeredAt: number | null
  isStored: boolean
  done: Promise<void>
}

// Below the two seconds for which the most impatient library in use waits for an answer (jsmpp).
const patienceMs = 1500
/** How far back an equal delivery counts. */
const windowMinutes = 10
const windowMs = windowMinutes * 60_000
// Some 30 MB; beyond it the oldest answers are taken to have arrived.
const rememberedMax = 100_000
// Longer than a heartbeat of a node: whoever is silent for so long has lost its sessions.
const nodeSilenceSeconds = 5

export class Redeliveries {
  readonly #nodeId: string
  readonly #now: () => number
  /** Answers that may not have arrived, by link and hash, oldest first. */
  readonly #answers = new Map<string, Answered[]>()
  #count = 0
  /** Settles when what was lost is noted, or remembered again; never rejects. */
  #noting: Promise<void> = Promise.resolve()

  constructor(nodeId: string, now: () => number = Date.now) {
    this.#nodeId = nodeId
    this.#now = now
  }

  /**
   * Stores a delivery unless it is a redelivery of one that is stored. `store` asks, in its transaction, whether it is the first; answer
   * the carrier as soon as this resolves or rejects.
   */
  async storeOnce(
    delivery: Delivery,
    store: (isFirst: (tx: Tx) => Promise<boolean>) => Promise<unknown>,
  ): Promise<void> {
    const now = this.#now()
    const key = keyOf(delivery)
    const earlier = this.#takeUnsure(key, delivery, now)
    const { promise: done, resolve } = Promise.withResolvers<void>()
    const answer: Answered = { ...delivery, id: newId(), receivedAt: now, answeredAt: null, isStored: false, done }
    this.#remember(key, answer)
    try {
      await earlier?.done
      await this.#noting
      if (!earlier?.isStored) await store((tx) => isFirst(tx, answer, earlier?.id ?? null, this.#nodeId))
      answer.isStored = true
    } finally {
      answer.answeredAt = this.#now()
      resolve()
    }
  }

  /** Notes for all processes what was answered on sessions that are lost, and forgets what has arrived. For the clock. */
  async noteLost(db: Db): Promise<void> {
    await this.#noting
    const lost: Answered[] = []
    const now = this.#now()
    for (const [key, answers] of this.#answers) {
      const rest = answers.filter((one) => {
        if (now - one.receivedAt > windowMs || hasArrived(one)) return false
        const isLost = one.isStored && one.session.state === 'closed'
        if (isLost) lost.push(one)
        return !isLost
      })
      if (rest.length < answers.length) this.#replace(key, rest)
    }
    if (lost.length === 0) return
    const noted = noteDoubts(db, lost)
    this.#noting = noted.catch(() => {
      for (const one of lost) this.#remember(keyOf(one), one)
    })
    await noted
  }

  /** Takes out the oldest equal delivery of which the carrier may be without an answer. */
  #takeUnsure(key: string, delivery: Delivery, now: number): Answered | undefined {
    const answers = this.#answers.get(key) ?? []
    const found = answers.find((one) => now - one.receivedAt <= windowMs && isUnsure(one, delivery, now))
    if (found)
      this.#replace(
        key,
        answers.filter((one) => one !== found),
      )
    return found
  }

  #remember(key: string, answer: Answered): void {
    this.#replace(key, [...(this.#answers.get(key) ?? []), answer])
    while (this.#count > rememberedMax) {
      const [oldest] = this.#answers.keys()
      if (oldest === undefined) break
      this.#replace(oldest, [])
    }
  }

  /** Behind all others, so that the first key is the one that nothing came for since longest. */
  #replace(key: string, answers: Answered[]): void {
    this.#count += answers.length - (this.#answers.get(key)?.length ?? 0)
    this.#answers.delete(key)
    if (answers.length > 0) this.#answers.set(key, answers)
  }
}

const keyOf = ({ linkId, hash }: Delivery): string => `${linkId} ${hash.toString('base64')}`

/** The carrier has read our answer: it answered a heartbeat that was sent behind it. */
function hasArrived({ answeredAt, isStored, session, enquireTimeoutMs }: Answered): boolean {
  return isStored && answeredAt !== null && session.lastEnquireAnsweredAtMs > answeredAt + enquireTimeoutMs
}

function isUnsure(earlier: Answered, { session, sequence }: Delivery, now: number): boolean {
  const { receivedAt, answeredAt, isStored } = earlier
  if (answeredAt === null)
    return now - receivedAt >= patienceMs || (earlier.session === session && earlier.sequence === sequence)
  if (!isStored || answeredAt - receivedAt >= patienceMs) return true
  return earlier.session.state === 'closed' && !hasArrived(earlier)
}

/**
 * Whether a delivery is to be stored; notes it. `earlier`: the delivery that it may repeat, if that was stored after all. Without one the
 * database tells whether another process is in doubt about its answer to an equal one, or died after it. One row, by primary key.
 */
async function isFirst(tx: Tx, delivery: Answered, earlier: string | null, nodeId: string): Promise<boolean> {
  const { rows } = await tx.query<{ isFirst: boolean }>(
    `with equal as (
       select h.delivery,
         h.doubts > 0 or (h.node_id <> $3 and not exists (
           select 1
           from heartbeats b
           join nodes n on n.id = b.node_id and n.fenced_at is null
           where b.node_id = h.node_id and b.seen_at > now() - make_interval(secs => $8))) as is_doubtful
       from reply_hashes h
       where h.link_id = $1
         and h.hash = $2
         and h.received_at > now() - make_interval(mins => $7)
     ), noted as (
       insert into reply_hashes as h (link_id, hash, node_id, delivery)
       values ($1, $2, $3, $4)
       on conflict (link_id, hash) do update
         set received_at = now(), node_id = excluded.node_id, delivery = excluded.delivery,
           doubts = case when $5::uuid is null then greatest(h.doubts - 1, 0) else h.doubts end
     )
     select not exists (
       select 1
       from equal
       where $6 or case when $5::uuid is null then is_doubtful else delivery = $5 end
     ) as "isFirst"`,
    [delivery.linkId, delivery.hash, nodeId, delivery.id, earlier, delivery.isNamed, windowMinutes, nodeSilenceSeconds],
  )
  return rows[0]?.isFirst ?? true
}

/** Each of these may come once more, to any process. By primary key. */
async function noteDoubts(db: Db, lost: readonly Answered[]): Promise<void> {
  await db.query(
    `update reply_hashes h
     set doubts = h.doubts + l.doubts
     from (
       select link_id, hash, count(*)::int as doubts
       from unnest($1::uuid[], $2::bytea[]) as l (link_id, hash)
       group by link_id, hash
     ) l
     where h.link_id = l.link_id and h.hash = l.hash`,
    columns([lost.map((one) => one.linkId), lost.map((one) => one.hash)]),
  )
}
