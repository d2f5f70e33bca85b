/** A small API client, as a customer would write it. */
import type { Static } from 'typebox'
import type { Message as MessageSchema } from '../server/messages/schema.ts'
import type { SendBody } from '../server/message/send-schema.ts'
import { patienceMs, waitFor } from './until.ts'

export type Message = Static<typeof MessageSchema>

export interface Problem {
  status: number
  code: string
  detail: string
  errors?: { pointer: string; code: string; detail: string }[]
}

/** A message or a problem, with the members that tests read. */
export type Sent = Omit<Message, 'status'> & Omit<Problem, 'status'> & { status: string | number }

export interface Answer<T> {
  status: number
  headers: Headers
  body: T
}

export interface Link {
  state: string
  window: number
  in_flight: number
  last_error: string | null
  unmatched_receipts: number
}

export interface Carrier {
  id: string
  name: string
  settings: Record<string, unknown>
  links: Link[]
}

export class Client {
  key = ''
  readonly #address: () => string

  constructor(address: () => string, key = '') {
    this.#address = address
    this.key = key
  }

  /** JSON or raw bytes. Rejects only without a response. */
  async call<T = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const isRaw = body instanceof Uint8Array || typeof body === 'string'
    const response = await fetch(this.#address() + path, {
      method,
      headers: {
        ...(this.key && { authorization: `Bearer ${this.key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(patienceMs),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: (text ? JSON.parse(text) : null) as T }
  }

  async expect<T>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<T> {
    const answer = await this.call<T>(method, path, body, headers)
    if (answer.status >= 300)
      throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  get<T>(path: string): Promise<T> {
    return this.expect<T>('GET', path)
  }

  send(body: SendBody, key?: string): Promise<Message> {
    return this.expect<Message>('POST', '/v1/messages/send', body, key === undefined ? {} : { 'idempotency-key': key })
  }

  message(id: string): Promise<Message> {
    return this.get<Message>(`/v1/messages/${id}`)
  }

  waitForStatus(id: string, statuses: Message['status'][], withinMs?: number): Promise<Message> {
    const what = `${id} becomes ${statuses.join(' or ')}`
    return waitFor(
      what,
      async () => {
        const message = await this.message(id)
        return statuses.includes(message.status) ? message : null
      },
      withinMs,
    )
  }

  async listMessages(query: string = ''): Promise<Message[]> {
    const all: Message[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: { data: Message[]; next_cursor: string | null } = await this.get(
        `/v1/messages?limit=200${query && `&${query}`}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      all.push(...page.data)
      cursor = page.next_cursor
    }
    return all
  }

  async carrier(): Promise<Carrier> {
    const [carrier] = (await this.get<{ data: Carrier[] }>('/v1/carriers')).data
    if (!carrier) throw new Error('there is no carrier')
    return carrier
  }

  async link(): Promise<Link> {
    const [link] = (await this.carrier()).links
    if (!link) throw new Error('the carrier has no link')
    return link
  }

  /** Bound or slowed. */
  waitForBound(withinMs?: number): Promise<Link> {
    const isUp = async (): Promise<Link | null> => {
      const link = await this.link()
      return ['bound', 'throttled'].includes(link.state) ? link : null
    }
    return waitFor('the link is bound', isUp, withinMs)
  }
}
