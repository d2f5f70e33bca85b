/** Renders metrics for Prometheus: text exposition format 0.0.4. One family after the other, each with its samples. */
import type { Histogram } from './histogram.ts'

/** In the order in which they are shown. */
export type Labels = Readonly<Record<string, string>>

export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/** Counts by a word of a closed list: an index and an addition each. */
export class Counter<Word extends string> {
  readonly #words: readonly Word[]
  readonly #indexOf: ReadonlyMap<string, number>
  readonly #counts: Float64Array
  readonly #taken: Float64Array

  /** The last word counts all unlisted ones. */
  constructor(words: readonly Word[]) {
    this.#words = words
    this.#indexOf = new Map(words.map((word, i) => [word, i]))
    this.#counts = new Float64Array(words.length)
    this.#taken = new Float64Array(words.length)
  }

  add(word: string, count: number = 1): void {
    const i = this.#indexOf.get(word) ?? this.#words.length - 1
    this.#counts[i] = (this.#counts[i] ?? 0) + count
  }

  /** Counts since the last call. */
  take(): Record<Word, number> {
    const taken = this.#words.map((word, i) => [word, (this.#counts[i] ?? 0) - (this.#taken[i] ?? 0)])
    this.#taken.set(this.#counts)
    return Object.fromEntries(taken) as Record<Word, number>
  }

  get(word: Word): number {
    return this.#counts[this.#indexOf.get(word) ?? -1] ?? 0
  }

  /** All words, also those without counts: a rate needs the zero before the first. */
  *entries(): Iterable<[Word, number]> {
    for (const [i, word] of this.#words.entries()) yield [word, this.#counts[i] ?? 0]
  }
}

/** The text of one response. */
export class Exposition {
  #text = ''
  readonly #families = new Set<string>()

  get text(): string {
    return this.#text
  }

  /** Its name ends in `_total`. */
  counter(name: string, help: string, samples: Iterable<readonly [Labels, number]>): void {
    this.#family(name, 'counter', help)
    for (const [labels, value] of samples) this.#sample(name, labels, value)
  }

  /** A counter with one label, its words. */
  words(name: string, help: string, label: string, counter: Counter<string>): void {
    this.counter(
      name,
      help,
      [...counter.entries()].map(([word, count]) => [{ [label]: word }, count] as const),
    )
  }

  gauge(name: string, help: string, samples: Iterable<readonly [Labels, number]>): void {
    this.#family(name, 'gauge', help)
    for (const [labels, value] of samples) this.#sample(name, labels, value)
  }

  /** Times in seconds; their name ends in `_seconds`. The bounds are in milliseconds, powers of two. */
  times(
    name: string,
    help: string,
    boundsMs: readonly number[],
    samples: Iterable<readonly [Labels, readonly Histogram[]]>,
  ): void {
    this.#family(name, 'histogram', help)
    for (const [labels, parts] of samples) {
      const sum = (of: (part: Histogram) => number): number => parts.reduce((all, part) => all + of(part), 0)
      for (const ms of boundsMs)
        this.#sample(
          `${name}_bucket`,
          { ...labels, le: String(ms / 1000) },
          sum((part) => part.countUpTo(ms)),
        )
      const count = sum((part) => part.count)
      this.#sample(`${name}_bucket`, { ...labels, le: '+Inf' }, count)
      this.#sample(`${name}_sum`, labels, sum((part) => part.sumMs) / 1000)
      this.#sample(`${name}_count`, labels, count)
    }
  }

  #family(name: string, type: 'counter' | 'gauge' | 'histogram', help: string): void {
    // All samples of a name must be together.
    if (this.#families.has(name)) throw new Error(`${name} is defined twice`)
    this.#families.add(name)
    this.#text += `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`
  }

  #sample(name: string, labels: Labels, value: number): void {
    const shown = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`)
    this.#text += `${name}${shown.length > 0 ? `{${shown.join(',')}}` : ''} ${showValue(value)}\n`
  }
}

const escapeLabel = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

const showValue = (value: number): string =>
  value === Infinity ? '+Inf' : value === -Infinity ? '-Inf' : Number.isNaN(value) ? 'NaN' : String(value)
