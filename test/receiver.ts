/** A customer's server: takes webhooks over real HTTP, verified by the public library. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'
import type { Client, Message } from './client.ts'
import { EventCheck } from './event-check.ts'
import { waitFor } from './until.ts'

export interface Event {
  id: string
  type: string
  sequence: number
  data: { message: Message; previous_status?: string }
}

export class Receiver {
  /** By id; a repeated post changes only `posts`. */
  readonly events = new Map<string, Event>()
  posts = 0
  /** Posts that did not verify, or violated the API's description. Must stay empty. */
  readonly refused: string[] = []
  readonly #server: Server
  readonly #check: EventCheck
  #secret = ''

  private constructor(server: Server, check: EventCheck) {
    this.#server = server
    this.#check = check
  }

  /** On a free port; registers as an endpoint of the client's account. */
  static async start(client: Client, events?: string[]): Promise<Receiver> {
    const server = createServer()
    const receiver = new Receiver(server, new EventCheck(await client.get('/v1/openapi.json')))
    server.on('request', (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const isGood = receiver.#take(Buffer.concat(chunks).toString('utf8'), request.headers as Record<string, string>)
        response.writeHead(isGood ? 204 : 400).end()
      })
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`
    const body = { url, ...(events && { events }) }
    receiver.#secret = (await client.expect<{ secret: string }>('POST', '/v1/webhooks', body)).secret
    return receiver
  }

  waitForEvent(what: string, matches: (event: Event) => boolean, withinMs?: number): Promise<Event> {
    return waitFor(what, () => [...this.events.values()].find(matches), withinMs)
  }

  waitForMessage(type: string, messageId: string, withinMs?: number): Promise<Event> {
    const matches = (event: Event): boolean => event.type === type && event.data.message.id === messageId
    return this.waitForEvent(`${type} of ${messageId}`, matches, withinMs)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await once(this.#server.close(), 'close')
  }

  #take(body: string, headers: Record<string, string>): boolean {
    this.posts++
    try {
      const event = new Webhook(this.#secret).verify(body, headers) as Event
      if (event.id !== headers['webhook-id']) throw new Error(`webhook-id ${headers['webhook-id']} is not ${event.id}`)
      const fault = this.#check.faultOf(event)
      if (fault) throw new Error(fault)
      this.events.set(event.id, event)
      return true
    } catch (error) {
      this.refused.push(String(error))
      return false
    }
  }
}
