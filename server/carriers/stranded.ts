/**
 * Stranded intents: the statement that committed them lost its answer, so nobody has them in hand. No byte of theirs was written, which
 * is known as long as the process lives; so they go back to the queue.
 */
import type { Db } from '../db/db.ts'
import type { Answer } from '../messages/answer.ts'

/** What this process has in hand, and the statements that may still give it more. */
export class Hand {
  /** Messages from their intent to the commit of their last answer, with their try. */
  readonly #tries = new Map<string, number>()
  readonly #statements = new Set<Promise<void>>()

  add(messageId: string, ofTry: number): void {
    this.#tries.set(messageId, ofTry)
  }

  /** The try is over; a later one, which may have begun already, is not. */
  remove(messageId: string, ofTry: number): void {
    if (this.#tries.get(messageId) === ofTry) this.#tries.delete(messageId)
  }

  has(messageId: string): boolean {
    return this.#tries.has(messageId)
  }

  /** Notes a statement that may commit intents. Whoever awaits it adds them in the same turn. */
  track<T>(statement: Promise<T>): Promise<T> {
    const ended: Promise<void> = statement.then(
      () => {},
      () => {},
    )
    this.#statements.add(ended)
    void ended.then(() => this.#statements.delete(ended))
    return statement
  }

  /** Resolves when every statement that runs now has ended, and what it gave is in hand. */
  async settled(): Promise<void> {
    await Promise.all(this.#statements)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Finds this node's intents that nobody has in hand, as the answers that give them back. */
export async function findStranded(db: Db, nodeId: string, hand: Hand): Promise<Answer[]> {
  const before = await readIntents(db, nodeId)
  // A statement whose intents were visible just now began before: when it has ended, it has them in hand or never will.
  await hand.settled()
  const suspects = new Set(before.filter((row) => !hand.has(row.messageId)).map(nameTry))
  if (suspects.size === 0) return []
  // Most have left our hand because their answer was written meanwhile, and their intent is gone with it.
  const stranded = (await readIntents(db, nodeId)).filter((row) => suspects.has(nameTry(row)))
  return stranded.map(({ at, ...intent }, i) => ({
    ...intent,
    nodeId,
    segments: 1,
    state: 'released',
    carrierMessageId: null,
    commandStatus: null,
    intentAt: at,
    move:
      stranded[i + 1]?.messageId === intent.messageId
        ? null
        : { to: 'queued', retryAfterMs: null, errorCode: null, errorRaw: null },
  }))
}

interface Intent {
  accountId: string
  messageId: string
  segment: number
  try: number
  linkId: string
  at: Date
}

const nameTry = ({ messageId, segment, try: ofTry }: Intent): string => `${messageId} ${segment} ${ofTry}`

/** This node's intents. By primary key (node_id). */
async function readIntents(db: Db, nodeId: string): Promise<Intent[]> {
  const { rows } = await db.query<Intent>(
    `select account_id as "accountId", message_id as "messageId", segment, try, link_id as "linkId", at
     from intents
     where node_id = $1
     order by message_id, segment`,
    [nodeId],
  )
  return rows
}
