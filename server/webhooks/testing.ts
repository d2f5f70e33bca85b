/** For tests: real HTTP receivers, and events to post to them. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Db } from '../ground/db/db.ts'
import { atEnd, sqlOn } from '../ground/db/testing.ts'
import { recordEvents, type DuePost, type Outbox, type Posting } from '../events/events.ts'
import { newId } from '../ground/base/ids.ts'
import { testVault } from '../accounts/testing.ts'
import { guardDestinations, type Destinations } from '../post/destination.ts'
import { secretPurpose } from '../post/endpoint.ts'
import { Dispatcher, type DispatcherOptions } from '../post/fanout.ts'
import type { Ended } from '../post/ended.ts'
import { newSecret } from '../post/signature.ts'

export interface Received {
  method: string
  url: string
  headers: IncomingHttpHeaders
  body: string
  at: number
}

/** An HTTP server that keeps its requests. */
export interface Receiver {
  url: string
  port: number
  received: Received[]
  connections: number
  close(): Promise<void>
}

/** Webhook ids of the received posts, in order. */
export const idsOf = (receiver: Receiver): string[] => receiver.received.map((one) => String(one.headers['webhook-id']))

/** Listens on a free port of 127.0.0.1 until the end; `answer` replaces the default 204. */
export async function startReceiver(
  answer: (response: ServerResponse, received: Received) => void = (response) => response.writeHead(204).end(),
): Promise<Receiver> {
  const sockets = new Set<Socket>()
  const receiver: Receiver = { url: '', port: 0, received: [], connections: 0, close: closeAll }
  const server = createServer((request: IncomingMessage, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const received = { method, url, headers, body: Buffer.concat(chunks).toString('utf8'), at: Date.now() }
      receiver.received.push(received)
      answer(response, received)
    })
  })
  server.on('connection', (socket) => {
    receiver.connections++
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  async function closeAll(): Promise<void> {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.port = (server.address() as AddressInfo).port
  receiver.url = `http://127.0.0.1:${receiver.port}/hook`
  atEnd(closeAll)
  return receiver
}

export async function insertTestAccount(db: Db): Promise<string> {
  const id = newId()
  await db.query(`insert into accounts (id, name) values ($1, 'Test')`, [id])
  return id
}

/** Allows loopback, as while the simulator runs. */
export const loopback: Destinations = guardDestinations({ allowedCidrs: ['127.0.0.0/8'], ports: [443] })

/** The outbox of a process without a dispatcher. */
export const nobody: Outbox = { nodeId: null, offer() {} }

/** Runs until the end. */
export function startTestDispatcher(db: Db, options: Partial<DispatcherOptions> = {}): Dispatcher {
  const log = { info() {}, warn() {}, error() {} }
  const dispatcher = new Dispatcher({ db, vault: testVault, nodeId: newId(), log, destinations: loopback, ...options })
  dispatcher.start()
  atEnd(() => dispatcher.close())
  return dispatcher
}

/** Subscribes to the contract events. */
export async function insertTestWebhook(
  db: Db,
  accountId: string,
  url: string,
): Promise<{ id: string; secret: string }> {
  const id = newId()
  const secret = newSecret()
  const events = ['message.delivered', 'message.failed', 'message.received']
  const sealed = testVault.seal(secret, secretPurpose(id))
  await sqlOn(db)`insert into webhooks (account_id, id, url, events, secret)
    values (${accountId}, ${id}, ${url}, ${events}, ${sealed})`
  return { id, secret }
}

/** Records and offers `count` events of one type, in one transaction. */
export async function postEvents(
  db: Db,
  outbox: Outbox,
  accountId: string,
  count: number,
  options: { callbackUrl?: string; offer?: boolean } = {},
): Promise<Posting[]> {
  const events = Array.from({ length: count }, (_, i) => ({
    accountId,
    type: 'message.delivered' as const,
    messageId: newId(),
    sequence: 3,
    data: { message: { id: `msg_${i}`, status: 'delivered', message: 'Grüße 👋' } },
    ...(options.callbackUrl && { callbackUrl: options.callbackUrl }),
  }))
  const postings = await recordEvents(db, events, outbox)
  if (options.offer !== false) outbox.offer(postings)
  return postings
}

/** By default a first post that its endpoint has taken. */
export function testEnded(
  key: Pick<DuePost, 'endpointId' | 'dueAt' | 'eventId' | 'accountId'>,
  { retryMs = null, ...result }: Partial<Ended['result'] & Pick<Ended, 'retryMs'>> = {},
): Ended {
  return {
    post: { ...key, messageId: null, try: 1, url: null },
    attemptId: newId(),
    startedAt: new Date(),
    url: 'https://example.com',
    headerNames: null,
    batchId: null,
    result: {
      outcome: 'ok',
      statusCode: 200,
      responseHead: null,
      responseHeaders: null,
      retryAfterMs: null,
      durationMs: 1,
      connectMs: null,
      firstByteMs: null,
      ...result,
    },
    retryMs,
  }
}
