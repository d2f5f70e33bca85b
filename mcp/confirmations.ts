/** The words that stand between what would happen and what does: each bound to one tool, exactly those arguments, and this process. */
import { randomBytes } from 'node:crypto'
import { newIdempotencyKey } from '@heliogram/sdk'
import { Refusal } from './refusal.ts'

/** What was shown, besides the arguments. */
export interface Subject {
  /** Messages that it would lead to. */
  recipients: number
  /** What it is about, by id; empty: the arguments say it. */
  about: string
  /** What a person is asked about it. */
  question: string
}

/** What waits for its word. */
interface Shown extends Subject {
  /** The API does what comes with this key once, however often it comes. The word is short, for people; this is not met by another process's. */
  idempotencyKey: string
  /** What came of it, or is coming. */
  result: Promise<object> | null
  /** Milliseconds of the book's clock until which it counts. */
  endsAt: number
  /** It was tried and nobody knows what came of it: the word counts on, since only its key can repeat it safely. */
  isUnsettled: boolean
}

interface Entry extends Shown {
  tool: string
  asked: string
}

// Crockford's base 32: no letter that is taken for a digit.
const letters = '0123456789abcdefghjkmnpqrstvwxyz'
// The API would know its key for weeks; what was meant half a day ago may not be meant any more.
const unsettledMs = 12 * 3_600_000
// A model that previews in a loop: the oldest go.
const entriesMax = 1000

export class Confirmations {
  readonly #entries = new Map<string, Entry>()
  readonly #forSeconds: number
  readonly #now: () => number

  /** `now` gives milliseconds that never go back. */
  constructor(forSeconds: number, now: () => number = () => performance.now()) {
    this.#forSeconds = forSeconds
    this.#now = now
  }

  /** A new word for what was shown. */
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

  /** Lets a word count for its whole time from now on: a person is being asked. */
  prolong(shown: Shown): void {
    shown.endsAt = this.#end()
  }

  /** Takes a word back that a person did not agree to, and says so. */
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

  /** What the word stands for. What was done with it is told for as long as the process lives. @throws Refusal where it stands for nothing, for something else, or no more */
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

/** As people may write it. */
const keyOf = (word: string): string => word.trim().toLowerCase()

/** JSON with sorted members, so that their order doesn't matter. */
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
