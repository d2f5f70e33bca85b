/** Confirmation words: each is bound to one tool, exact arguments, and this process. */
import { randomBytes } from 'node:crypto'
import { newIdempotencyKey } from '@heliogram/sdk'
import { Refusal } from './refusal.ts'

export interface Subject {
  recipients: number
  /** Its id; empty if the arguments are enough. */
  about: string
  question: string
}

interface Shown extends Subject {
  /** Makes the API do it once. The word is short, for people; this key is unique among processes. */
  idempotencyKey: string
  /** The result, or its promise. */
  result: Promise<object> | null
  /** Expiry in milliseconds of the given clock. */
  endsAt: number
  /** Tried with an unknown outcome: the word stays valid, because only its key can repeat it safely. */
  isUnsettled: boolean
}

interface Entry extends Shown {
  tool: string
  asked: string
}

// Crockford's base 32: no letter resembles a digit.
const letters = '0123456789abcdefghjkmnpqrstvwxyz'
// The API remembers keys for weeks, but an intention half a day old may no longer hold.
const unsettledMs = 12 * 3_600_000
// If a model previews in a loop, the oldest go.
const entriesMax = 1000

export class Confirmations {
  readonly #entries = new Map<string, Entry>()
  readonly #forSeconds: number
  readonly #now: () => number

  /** `now` returns monotonic milliseconds. */
  constructor(forSeconds: number, now: () => number = () => performance.now()) {
    this.#forSeconds = forSeconds
    this.#now = now
  }

  offer(tool: string, args: object, subject: Subject): { word: string; expires_in_seconds: number } {
    const word = [...randomBytes(8)].map((byte) => letters[byte % 32]).join('')
    const spoken = `${word.slice(0, 4)}-${word.slice(4)}`
    const shown = {
      ...subject,
      idempotencyKey: newIdempotencyKey(),
      result: null,
      endsAt: this.#end(),
      isUnsettled: false,
    }
    this.#entries.set(spoken, { ...shown, tool, asked: canonical(args) })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > entriesMax && oldest !== undefined) this.#entries.delete(oldest)
    return { word: spoken, expires_in_seconds: this.#forSeconds }
  }

  /** Restarts the word's time, because a person is being asked. */
  prolong(shown: Shown): void {
    shown.endsAt = this.#end()
  }

  /** Revokes a word that a person declined. */
  decline(word: string): Refusal {
    this.#entries.delete(keyOf(word))
    return new Refusal(
      'person_declined',
      'The person was asked and did not agree; nothing was done, and the word is no longer valid.',
      'Ask them what they want instead. Do not try the same again.',
    )
  }

  #end(): number {
    return this.#now() + this.#forSeconds * 1000
  }

  /** The act of a word. Its result is kept for the life of the process. @throws Refusal if the word is unknown, expired, or for another act */
  take(word: string, tool: string, args: object): Shown {
    const entry = this.#entries.get(keyOf(word))
    if (!entry)
      throw new Refusal(
        'confirmation_unknown',
        'No preview of this process has this confirmation word; nothing was done.',
        'Call the tool without `confirmation`, look at the preview, and use its word.',
      )
    const differing = entry.tool === tool ? differences(entry.asked, canonical(args)) : ['the tool']
    if (differing.length > 0)
      throw new Refusal(
        'confirmation_mismatch',
        `The word belongs to a different call; nothing was done. Differences: ${differing.join(', ')}.`,
        'Use exactly the arguments of the preview, or call without `confirmation` for a new preview.',
      )
    if (entry.isUnsettled && this.#now() > entry.endsAt + unsettledMs)
      throw new Refusal(
        'confirmation_expired',
        'The word is hours old, and it is unknown whether the act was done then.',
        'Check whether it was done, for example with search_messages, before you call the tool without `confirmation`.',
      )
    if (entry.result === null && !entry.isUnsettled && this.#now() > entry.endsAt)
      throw new Refusal(
        'confirmation_expired',
        `The word was valid for ${this.#forSeconds} seconds; nothing was done.`,
        'Call the tool without `confirmation` for a new preview.',
      )
    return entry
  }
}

const keyOf = (word: string): string => word.trim().toLowerCase()

/** JSON with sorted members, so that their order does not matter. */
function canonical(args: object): string {
  return JSON.stringify(args, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )
}

function differences(was: string, is: string): string[] {
  const [before, now] = [JSON.parse(was), JSON.parse(is)] as Record<string, unknown>[]
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(now ?? {})])
  return [...names].filter((name) => JSON.stringify(before?.[name]) !== JSON.stringify(now?.[name]))
}
