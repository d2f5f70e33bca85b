/** JSON from a schema: valid, or with a fault. */
import { raws, scalars, shaped, texts, words } from './hostile-inputs.ts'
import type { Logins } from './openapi-logins.ts'

export interface Schema {
  $ref?: string
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  allOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  format?: string
  examples?: unknown[]
}

/** Existing values to draw from, which grow with the responses. */
export interface Known {
  /** The caller's own ids, by prefix. */
  own: Map<string, string[]>
  foreign: string[]
  cursors: string[]
  /** Bearer tokens with probabilities; the last has the rest. */
  credentials: { token: string; chance: number }[]
  logins?: Logins
}

/** Reproducible random numbers (mulberry32). */
export class Random {
  #state: number
  constructor(seed: number) {
    this.#state = seed >>> 0
  }
  restart(seed: number, n: number): void {
    this.#state = Math.imul(seed ^ Math.imul(n + 1, 0x9e3779b1), 0x85ebca6b) >>> 0
  }
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  /** From 0 to n - 1. */
  below(n: number): number {
    return Math.floor(this.next() * n)
  }
  chance(p: number): boolean {
    return this.next() < p
  }
  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }
}

/** JSON text that no value is written as. */
class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

// Members that need particular values to get anywhere.
const named: Record<string, (random: Random) => unknown> = {
  to: phone,
  number: phone,
  numbers: (random) => [phone(random)],
  phone_number: phone,
  contact: phone,
  host: () => '127.0.0.1',
  email: (random) => random.pick(['owner@example.com', `somebody${random.below(1000)}@example.com`]),
  since: (random) => new Date(Date.now() - random.below(3_600_000)).toISOString(),
  url: () => 'https://example.com/hooks',
  callback_url: () => 'https://example.com/hooks',
  timezone: () => 'Europe/London',
  fallback_timezone: () => 'Europe/London',
  language: () => 'en',
  message: (random) => `Hello ${random.below(1000)}`,
  messages: (random) => [{ to: phone(random), message: 'Hello' }],
  contacts: (random) => [{ phone_number: phone(random) }],
  allowed_cidrs: () => ['127.0.0.0/8'],
  // A long poll is slow on purpose.
  wait: (random) => random.below(2),
}

export function phone(random: Random): string {
  return `1555123${1000 + random.below(1000)}`
}

/** Id prefixes by member or path parameter. */
export const prefixes: Record<string, string> = {
  accounts: 'acc',
  account: 'acc',
  'api-keys': 'key',
  users: 'usr',
  invitations: 'inv',
  campaigns: 'cmp',
  campaign: 'cmp',
  carriers: 'car',
  carrier: 'car',
  contacts: 'ctc',
  contact: 'ctc',
  events: 'evt',
  imports: 'imp',
  import: 'imp',
  broadcasts: 'brc',
  links: 'lnk',
  messages: 'msg',
  routes: 'rte',
  conversations: 'cnv',
  'sender-pools': 'pol',
  sender_pool: 'pol',
  senders: 'snd',
  sender: 'snd',
  'smpp-credentials': 'smc',
  suspected: 'msg',
  templates: 'tpl',
  template: 'tpl',
  webhooks: 'whk',
  replays: 'rpl',
  erasures: 'ers',
  guards: 'grd',
  'twilio-credentials': 'twc',
}

export class ValueGenerator {
  readonly #random: Random
  readonly #known: Known
  readonly #schemas: Record<string, Schema>

  constructor(schemas: Record<string, Schema>, random: Random, known: Known) {
    this.#random = random
    this.#known = known
    this.#schemas = schemas
  }

  /** Prefers the first and the newest ids: the first have most data, and things of the newest still exist. */
  id(prefix: string): string {
    const ids = this.#known.own.get(prefix) ?? []
    // A constant number of draws, so that a seed makes the same requests except ids.
    const id: string | undefined = this.#random.pick(this.#random.pick([ids.slice(0, 2), ids.slice(-20), ids]))
    return id ?? `${prefix || 'msg'}_01kbh2v0jzf3tr8d5w4ncq6m7x`
  }

  /** A value that a schema allows, or nearly; `named` and `prefixes` take precedence. */
  value(given: Schema, name: string, depth: number): unknown {
    const random = this.#random
    const schema = this.#resolve(given)
    if (schema.const !== undefined) return schema.const
    if (schema.enum) return random.pick(schema.enum)
    const known = Object.hasOwn(named, name) ? named[name] : undefined
    if (known && schema.type !== 'object') return known(random)
    const prefix = Object.hasOwn(prefixes, name) ? prefixes[name] : undefined
    if (prefix && schema.type === 'string') return this.id(prefix)
    if (schema.anyOf && !schema.properties) return this.value(random.pick(schema.anyOf), name, depth)
    switch (schema.type) {
      case 'object':
        return this.#object(schema, depth)
      case 'array': {
        const least = schema.minItems ?? 0
        const length = Math.min(schema.maxItems ?? 3, least + random.below(3))
        return Array.from({ length }, () => this.value(schema.items ?? {}, name.replace(/s$/, ''), depth + 1))
      }
      case 'integer':
      case 'number':
        return this.#number(schema)
      case 'boolean':
        return random.chance(0.5)
      case 'null':
        return null
      case 'string':
        return this.#string(schema)
      case undefined:
      default:
        return depth > 3 ? 'x' : random.pick(words)
    }
  }

  #resolve(schema: Schema): Schema {
    return schema.$ref ? (this.#schemas[schema.$ref.replace(/.*\//, '')] ?? {}) : schema
  }

  #object(schema: Schema, depth: number): Record<string, unknown> {
    const random = this.#random
    const branch = schema.anyOf ? random.pick(schema.anyOf) : {}
    const required = new Set([...(schema.required ?? []), ...(branch.required ?? [])])
    const share = random.pick([0, 0.2, 0.5])
    const members = Object.entries({ ...schema.properties, ...branch.properties })
      .filter(([name]) => required.has(name) || random.chance(share))
      .map(([name, member]) => [name, this.value(member, name, depth + 1)])
    if (typeof schema.additionalProperties === 'object' && random.chance(0.5))
      members.push([random.pick(shaped), this.value(schema.additionalProperties, '', depth + 1)])
    return Object.fromEntries(members) as Record<string, unknown>
  }

  #number({ type, minimum = 0, maximum = 1000 }: Schema): number {
    const random = this.#random
    const value = random.pick([minimum, maximum, minimum + random.next() * (maximum - minimum)])
    return type === 'integer' ? Math.trunc(value) : value
  }

  #string({ format, pattern, examples, minLength = 0, maxLength = 60 }: Schema): string {
    const random = this.#random
    // Messages scheduled for later years stay out of the way.
    if (format === 'date-time') return new Date(Date.UTC(2026, 0, 1) + random.below(4 * 365) * 86_400_000).toISOString()
    if (format === 'ipv4') return '192.0.2.1'
    if (format === 'ipv6') return '2001:db8::1'
    if (pattern) {
      const form = new RegExp(pattern, 'u')
      const fitting = [...shaped, ...words].filter((text) => form.test(text))
      if (fitting.length > 0) return random.pick(fitting)
    }
    if (examples && random.chance(0.5)) return String(random.pick(examples))
    if (random.chance(0.05) && maxLength < 3000) return 'x'.repeat(maxLength)
    return random.pick(words).slice(0, maxLength).padEnd(minLength, '.')
  }

  spoil(value: unknown, schema: Schema): unknown {
    const random = this.#random
    if (Array.isArray(value) && value.length > 0 && random.chance(0.8)) {
      const at = random.below(value.length)
      return value.map((item: unknown, index) => (index === at ? this.spoil(item, {}) : item))
    }
    if (typeof value === 'object' && value !== null && !(value instanceof Raw) && random.chance(0.95)) {
      const members = Object.entries(value)
      const at = random.below(members.length + 1)
      const [name, item] = members[at] ?? [random.pick([...Object.keys(schema.properties ?? {}), ...texts]), null]
      switch (random.below(4)) {
        case 0:
          return Object.fromEntries(members.filter((_, index) => index !== at))
        case 1:
          return { ...value, [random.pick(texts)]: random.pick(words) }
        default:
          return { ...value, [name]: this.spoil(item, {}) }
      }
    }
    switch (random.below(8)) {
      case 0:
        return random.pick(scalars)
      case 1:
        return new Raw(random.pick(raws))
      case 2:
        return random.pick([[value], { value }, JSON.stringify(value), [value, value]])
      case 3:
        return random.pick(['x', '👍', '\u0000', 'é'])?.repeat(random.pick([41, 256, 1601, 5000, 70_000]))
      case 4:
        return random.pick(this.#known.foreign)
      case 5:
        // Too long for any list.
        return Array.from(
          { length: Math.min(random.pick([11, 101, 2001]), Math.ceil(200_000 / (JSON.stringify(value)?.length ?? 1))) },
          () => value,
        )
      default:
        return random.pick(texts)
    }
  }

  write(value: unknown, isWild: boolean): string {
    if (value instanceof Raw) return value.text
    if (Array.isArray(value)) return `[${value.map((item) => this.write(item, false)).join()}]`
    if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
    const members = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}:${this.write(item, isWild)}`)
    if (isWild && members.length > 0 && this.#random.chance(0.2)) members.push(this.#random.pick(members))
    return `{${members.join()}}`
  }
}
