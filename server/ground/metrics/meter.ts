/**
 * What this process counts while it works. Observing is an addition to an array that is there already: no text is built, nothing is
 * written and nobody waits. Labels are closed words, carriers and countries, never an account's data; what would be too many is `other`.
 */
import { Histogram, type Sparse } from './histogram.ts'
import { Counter } from './metrics.ts'

/** A message that has moved, as far as it is counted. */
export interface EndedMessage {
  accountId: string
  carrierId: string | null
  ourNumber: string | null
  theirNumber: string
  sentAt: Date | null
  /** Sent by a test key. */
  isTest?: boolean
}

/** What became of a sender's messages since it was last asked. */
export interface SenderEnds {
  accountId: string
  number: string
  delivered: number
  failed: number
}

/** The times of one link's responses, or of one carrier's receipts, by country. */
export class CountryTimes {
  /** By the country's index; a hole where nothing was sent. */
  readonly #histograms: (Histogram | undefined)[] = []
  #count = 0

  observe(country: number, ms: number): void {
    const known = this.#histograms[country]
    if (known) known.observe(ms)
    else this.#open(country).observe(ms)
  }

  *entries(): Iterable<[country: number, Histogram]> {
    for (const [country, histogram] of this.#histograms.entries()) if (histogram) yield [country, histogram]
  }

  /** Whether nothing was seen lately. */
  get isQuiet(): boolean {
    return this.#histograms.every((histogram) => !histogram || histogram.recent().length === 0)
  }

  #open(country: number): Histogram {
    const place = country === otherCountry || this.#count < countriesMax ? country : otherCountry
    if (place !== otherCountry) this.#count++
    return (this.#histograms[place] ??= new Histogram())
  }
}

/** One link of this process. */
export interface LinkMeter {
  carrierId: string
  /** Submits by what came of them. */
  answers: Counter<SubmitOutcome>
  responses: CountryTimes
  /** It is among those that are told of. */
  isListed: boolean
}

/** What comes of a submit (a PDU, or a request); `throttled`: refused for the rate. */
export type SubmitOutcome = (typeof submitOutcomes)[number]
const submitOutcomes = ['accepted', 'refused', 'throttled', 'unknown'] as const

// A country is two histograms of 20 lines in an answer: few for Prometheus, and more than most installations send to.
const countriesMax = 24
// Told of at a time, and carriers as many. Where there are so many, those of which nothing was seen lately make room: links come and go.
const linksMax = 200
// Countries are told by a number's first seven digits, in North America by its first four, remembered in a table that does not grow.
const prefixDigits = 7
const areaDigits = 4
// Any number of an area: its own may be one that is nobody's, which would tell nothing of the others.
const someNumber = '2345678'
const prefixSlots = 8192
// Lately is this long to twice this long.
const periodMs = 300_000
const otherCountry = 0
const endWords: ReadonlySet<string> = new Set([
  'delivered',
  'undelivered',
  'rejected',
  'failed',
  'expired',
  'canceled',
  'unconfirmed',
])

/** Observations of one process; the program makes one. */
export class Meter {
  readonly accepted = new Counter(['otp', 'transactional', 'marketing'])
  /** Messages that are over, or unconfirmed, by what became of them. */
  readonly ends = new Counter([...endWords])
  readonly receipts = new Counter([
    'enroute',
    'delivered',
    'expired',
    'deleted',
    'undeliverable',
    'accepted',
    'unknown',
    'rejected',
    'other',
  ])
  readonly replies = new Counter(['stored', 'orphan', 'skipped'])
  readonly posts = new Counter([
    'ok',
    'status',
    'redirect',
    'gone',
    'timeout',
    'refused',
    'reset',
    'dns',
    'tls',
    'private_address',
    'not_allowed',
    'too_large',
    'protocol',
    'other',
  ])
  readonly postTimes = new Histogram()
  /** Group commits: their times, and the items that they wrote. */
  readonly flushes = { accept: new Flushes(), ledger: new Flushes() }
  readonly links = new Map<string, LinkMeter>()
  /** By carrier. */
  readonly receiptTimes = new Map<string, CountryTimes>()
  readonly #countryOf: (number: string) => string | null
  readonly #countries: string[] = ['other']
  readonly #indexOf = new Map<string, number>()
  readonly #prefixes = new Int32Array(prefixSlots)
  readonly #countryAt = new Uint16Array(prefixSlots)
  #senders = new Map<string, Map<string, SenderEnds>>()
  #turnedAt = performance.now()

  constructor(countryOf: (number: string) => string | null) {
    this.#countryOf = countryOf
  }

  /** What a link tells of each of its submits that has ended: the recipient, how, and how long the answer took. */
  linkObserver(
    linkId: string,
    carrierId: string,
  ): (theirNumber: string, end: { state: string; reason?: { handling: string } | string }, ms: number) => void {
    const made = { carrierId, answers: new Counter(submitOutcomes), responses: new CountryTimes(), isListed: false }
    const link = this.links.get(linkId) ?? this.#list(linkId, made)
    const { answers, responses } = link
    return (theirNumber, { state, reason }, ms) => {
      if (state === 'released') return
      if (!link.isListed) this.#list(linkId, link)
      answers.add(typeof reason === 'object' && reason.handling === 'throttling' ? 'throttled' : state)
      // What was not answered has no time; a timeout would only tell its own setting.
      if (state !== 'unknown') responses.observe(this.countryIndex(theirNumber), ms)
    }
  }

  /** Notes that a message moved. Only ends count; a receipt's time is from the answer to the last segment. */
  noteEnd(message: EndedMessage, status: string, now: number): void {
    if (!endWords.has(status)) return
    this.ends.add(status)
    // The others were not a carrier's word.
    if (status !== 'delivered' && status !== 'undelivered' && status !== 'rejected') return
    const { accountId, carrierId, ourNumber, sentAt } = message
    if (carrierId !== null && sentAt !== null) {
      let times = this.receiptTimes.get(carrierId)
      if (!times && this.receiptTimes.size < linksMax) this.receiptTimes.set(carrierId, (times = new CountryTimes()))
      times?.observe(this.countryIndex(message.theirNumber), now - sentAt.getTime())
    }
    // What a simulator made of it says nothing of the sender.
    if (ourNumber === null || message.isTest) return
    let numbers = this.#senders.get(accountId)
    if (!numbers) this.#senders.set(accountId, (numbers = new Map()))
    let sender = numbers.get(ourNumber)
    if (!sender) numbers.set(ourNumber, (sender = { accountId, number: ourNumber, delivered: 0, failed: 0 }))
    if (status === 'delivered') sender.delivered++
    else sender.failed++
  }

  notePost(outcome: string, ms: number): void {
    this.posts.add(outcome)
    this.postTimes.observe(ms)
  }

  /** Takes what became of senders' messages since the last time. */
  takeSenders(): SenderEnds[] {
    const taken = [...this.#senders.values()].flatMap((numbers) => [...numbers.values()])
    this.#senders = new Map()
    return taken
  }

  /** Begins a new period where the last one is over. To be called every few seconds. */
  turn(now: number = performance.now()): void {
    if (now - this.#turnedAt < periodMs) return
    const periods = now - this.#turnedAt < 2 * periodMs ? 1 : 2
    this.#turnedAt = now
    const times = [...[...this.links.values()].map(({ responses }) => responses), ...this.receiptTimes.values()]
    const countries = times.flatMap((one) => [...one.entries()].map(([, histogram]) => histogram))
    const flushes = Object.values(this.flushes).map((one) => one.times)
    for (let n = 0; n < periods; n++)
      for (const histogram of [...countries, ...flushes, this.postTimes]) histogram.turn()
    if (this.links.size >= linksMax)
      for (const [id, link] of this.links)
        if (link.responses.isQuiet) {
          this.links.delete(id)
          link.isListed = false
        }
    if (this.receiptTimes.size >= linksMax)
      for (const [id, receipts] of this.receiptTimes) if (receipts.isQuiet) this.receiptTimes.delete(id)
  }

  /** Lists a link where there is room; one that was taken off comes back with all that it counted. */
  #list(linkId: string, link: LinkMeter): LinkMeter {
    link.isListed = this.links.size < linksMax
    if (link.isListed) this.links.set(linkId, link)
    return link
  }

  /** ISO 3166-1 alpha-2, or `other`. */
  countryName(index: number): string {
    return this.#countries[index] ?? 'other'
  }

  /** The country of a number as an index: that of the first number seen that begins like it. */
  countryIndex(number: string): number {
    const isNorthAmerican = number.charCodeAt(0) === 49
    const digits = isNorthAmerican ? areaDigits : prefixDigits
    let prefix = 0
    for (let i = 0; i < digits; i++) prefix = prefix * 10 + number.charCodeAt(i) - 47
    // Fibonacci hashing (Knuth, The Art of Computer Programming 3, §6.4) spreads neighbours over the table.
    const slot = Math.imul(prefix, 0x9e3779b1) >>> 19
    if (this.#prefixes[slot] === prefix) return this.#countryAt[slot] ?? otherCountry
    const index = this.#find(this.#countryOf(isNorthAmerican ? number.slice(0, areaDigits) + someNumber : number))
    this.#prefixes[slot] = prefix
    this.#countryAt[slot] = index
    return index
  }

  #find(country: string | null): number {
    if (country === null) return otherCountry
    let index = this.#indexOf.get(country)
    if (index === undefined) {
      index = this.#countries.push(country) - 1
      this.#indexOf.set(country, index)
    }
    return index
  }
}

/** The group commits of one kind. */
class Flushes {
  readonly times = new Histogram()
  items = 0

  readonly note = (items: number, ms: number): void => {
    this.items += items
    this.times.observe(ms)
  }
}

/** What lately was seen of each, by country: for other processes to read. */
export function recentOf(meter: Meter, times: CountryTimes): Record<string, Sparse> {
  const recent = [...times.entries()].map(([country, histogram]) => [meter.countryName(country), histogram.recent()])
  return Object.fromEntries(recent.filter(([, sparse]) => (sparse ?? []).length > 0)) as Record<string, Sparse>
}
