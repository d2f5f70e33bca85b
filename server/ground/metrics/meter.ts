/**
 * Counters of this process. An observation is an addition to an existing array: no text is built, nothing is written, and no one waits.
 * Labels are closed words, carriers and countries, never an account's data; beyond a limit they become `other`.
 */
import { bucketCount, Histogram, mergeSparse, sparseOf, type Sparse } from './histogram.ts'
import { Counter } from './metrics.ts'

export interface EndedMessage {
  accountId: string
  carrierId: string | null
  ourNumber: string | null
  theirNumber: string
  sentAt: Date | null
  /** Sent by a test key. */
  isTest?: boolean
}

/** Results of a sender's messages since the last call. */
export interface SenderEnds {
  accountId: string
  number: string
  delivered: number
  failed: number
}

/** Counts and times of a carrier, a link (no account) or a webhook since they were last taken. */
export interface MeasuredSubject {
  accountId: string | null
  subject: string
  sent?: number
  delivered?: number
  failed?: number
  throttled?: number
  responseTimes?: Sparse
  receiptTimes?: Sparse
}

/** Response times of a link, or receipt times of a carrier, by country. */
export class CountryTimes {
  /** By the country's index; empty without messages. */
  readonly #histograms: (Histogram | undefined)[] = []
  #count = 0
  #taken = new Float64Array(bucketCount)

  observe(country: number, ms: number): void {
    const known = this.#histograms[country]
    if (known) known.observe(ms)
    else this.#open(country).observe(ms)
  }

  *entries(): Iterable<[country: number, Histogram]> {
    for (const [country, histogram] of this.#histograms.entries()) if (histogram) yield [country, histogram]
  }

  /** Whether there are no recent times. */
  get isQuiet(): boolean {
    return this.#histograms.every((histogram) => !histogram || histogram.recent().length === 0)
  }

  /** Times of all countries since the last call: from the histograms, so that an observation costs nothing more. */
  take(): Sparse {
    const all = new Float64Array(bucketCount)
    for (const [, histogram] of this.entries()) histogram.addTo(all)
    const fresh = Array.from(all, (count, i) => count - (this.#taken[i] ?? 0))
    this.#taken = all
    return sparseOf(fresh)
  }

  #open(country: number): Histogram {
    const place = country === otherCountry || this.#count < countriesMax ? country : otherCountry
    if (place !== otherCountry) this.#count++
    return (this.#histograms[place] ??= new Histogram())
  }
}

export interface LinkMeter {
  carrierId: string
  /** Submits by result. */
  answers: Counter<SubmitOutcome>
  responses: CountryTimes
  /** Its metrics are shown. */
  isListed: boolean
}

/** The result of a submit (a PDU, or a request); `throttled`: refused for the rate. */
export type SubmitOutcome = (typeof submitOutcomes)[number]
const submitOutcomes = ['accepted', 'refused', 'throttled', 'unknown'] as const

// A country is two histograms of 20 lines: few for Prometheus, and more countries than most installations use.
const countriesMax = 24
// Listed at a time, and equally many carriers. Above it, quiet ones make room: links come and go.
const linksMax = 200
// Countries are derived from a number's first seven digits, in North America the first four, cached in a table of fixed size.
const prefixDigits = 7
const areaDigits = 4
// Replaces the rest of the number, which may be unassigned and would then give no country for its area.
const someNumber = '2345678'
const prefixSlots = 8192
// Recent means once to twice this long.
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

/** One per process. */
export class Meter {
  readonly accepted = new Counter(['otp', 'transactional', 'marketing'])
  /** Final and unconfirmed messages, by result. */
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
  /** Group commits: their times and items. */
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
  #webhooks = new Map<string, { accountId: string; delivered: number; failed: number; times: Histogram }>()
  #turnedAt = performance.now()

  constructor(countryOf: (number: string) => string | null) {
    this.#countryOf = countryOf
  }

  /** Observes each finished submit of a link: the recipient, the result, and the response time. */
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
      // Submits without a response have no time; a timeout would only show its own setting.
      if (state !== 'unknown') responses.observe(this.countryIndex(theirNumber), ms)
    }
  }

  /** Only final statuses count; a receipt's time is from the response to the last segment. */
  noteEnd(message: EndedMessage, status: string, now: number): void {
    if (!endWords.has(status)) return
    this.ends.add(status)
    // Other statuses do not come from the carrier.
    if (status !== 'delivered' && status !== 'undelivered' && status !== 'rejected') return
    const { accountId, carrierId, ourNumber, sentAt } = message
    if (carrierId !== null && sentAt !== null) {
      let times = this.receiptTimes.get(carrierId)
      if (!times && this.receiptTimes.size < linksMax) this.receiptTimes.set(carrierId, (times = new CountryTimes()))
      times?.observe(this.countryIndex(message.theirNumber), now - sentAt.getTime())
    }
    // A simulator's results say nothing about the sender.
    if (ourNumber === null || message.isTest) return
    let numbers = this.#senders.get(accountId)
    if (!numbers) this.#senders.set(accountId, (numbers = new Map()))
    let sender = numbers.get(ourNumber)
    if (!sender) numbers.set(ourNumber, (sender = { accountId, number: ourNumber, delivered: 0, failed: 0 }))
    if (status === 'delivered') sender.delivered++
    else sender.failed++
  }

  /** Callbacks have no series. */
  notePost(
    to: { accountId: string; endpointId: string; isCallback: boolean },
    { outcome, statusCode, durationMs: ms }: { outcome: string; statusCode: number | null; durationMs: number },
  ): void {
    this.posts.add(outcome)
    this.postTimes.observe(ms)
    if (to.isCallback) return
    const { accountId, endpointId } = to
    let one = this.#webhooks.get(endpointId)
    if (!one) this.#webhooks.set(endpointId, (one = { accountId, delivered: 0, failed: 0, times: new Histogram() }))
    if (outcome === 'ok') one.delivered++
    else one.failed++
    if (statusCode !== null) one.times.observe(ms)
  }

  /** What links, carriers and webhooks did since the last call; those that did nothing are left out. */
  takeMeasured(): MeasuredSubject[] {
    const carriers = new Map<string, MeasuredSubject>()
    const links = [...this.links].map(([subject, { carrierId, answers, responses }]): MeasuredSubject => {
      const { accepted: sent, refused, unknown, throttled } = answers.take()
      const responseTimes = responses.take()
      const carrier = carriers.get(carrierId)
      const ofAll = mergeSparse([carrier?.responseTimes ?? [], responseTimes])
      carriers.set(carrierId, { accountId: null, subject: carrierId, responseTimes: ofAll })
      return { accountId: null, subject, sent, failed: refused + unknown, throttled, responseTimes }
    })
    for (const [subject, times] of this.receiptTimes)
      carriers.set(subject, { accountId: null, subject, ...carriers.get(subject), receiptTimes: times.take() })
    const webhooks = [...this.#webhooks].map(([subject, { times, ...counts }]): MeasuredSubject => ({
      ...counts,
      subject,
      responseTimes: times.recent(),
    }))
    this.#webhooks = new Map()
    return [...links, ...carriers.values(), ...webhooks].filter(
      ({ sent = 0, failed = 0, throttled = 0, responseTimes = [], receiptTimes = [] }) =>
        sent + failed + throttled + responseTimes.length + receiptTimes.length > 0,
    )
  }

  /** Returns and resets the results of senders. */
  takeSenders(): SenderEnds[] {
    const taken = [...this.#senders.values()].flatMap((numbers) => [...numbers.values()])
    this.#senders = new Map()
    return taken
  }

  /** Begins a new period if the last one is over. Call it every few seconds. */
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

  /** Lists a link if there is room; a link that returns keeps its counts. */
  #list(linkId: string, link: LinkMeter): LinkMeter {
    link.isListed = this.links.size < linksMax
    if (link.isListed) this.links.set(linkId, link)
    return link
  }

  /** ISO 3166-1 alpha-2, or `other`. */
  countryName(index: number): string {
    return this.#countries[index] ?? 'other'
  }

  /** The index of a number's country: that of the first number seen with the same prefix. */
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

/** Recent times by country, for other processes. */
export function recentOf(meter: Meter, times: CountryTimes): Record<string, Sparse> {
  const recent = [...times.entries()].map(([country, histogram]) => [meter.countryName(country), histogram.recent()])
  return Object.fromEntries(recent.filter(([, sparse]) => (sparse ?? []).length > 0)) as Record<string, Sparse>
}
