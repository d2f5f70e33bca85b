import { once } from 'node:events'
import {
  createServer,
  get,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, onTestFinished, test, expect } from 'vitest'
import { closeInTime, closeUnread } from './slow.ts'

const withinMs = 100

test('a response that nobody reads ends, and with it its source', async () => {
  const made = Promise.withResolvers<'ended'>()
  const { port } = await listen((_request, response) => {
    const pieces = Readable.from(endless(), { objectMode: false })
    void pipeline(pieces, response).catch(() => made.resolve('ended'))
  })
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  onTestFinished(() => void socket.destroy())
  expect(await made.promise).toBe('ended')
})

test('a single piece that is not read ends too, and a second request behind it', async () => {
  const closed: string[] = []
  const both = Promise.withResolvers<void>()
  const { port } = await listen((request, response) => {
    response.on('close', () => {
      closed.push(request.url ?? '')
      if (closed.length === 2) both.resolve()
    })
    response.end(Buffer.alloc(64 * 1_048_576))
  })
  const socket = connect(port, '127.0.0.1', () =>
    socket.write('GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n'),
  )
  onTestFinished(() => void socket.destroy())
  await both.promise
  expect(closed.toSorted()).toEqual(['/1', '/2'])
})

test('a slow reader gets everything, in many times the limit', async () => {
  const bound = 500
  const { port } = await listen((_request, response) => void pipeline(endless, response).catch(() => {}), bound)
  const [answer] = (await once(get({ port, host: '127.0.0.1' }), 'response')) as [IncomingMessage]
  const begunAt = performance.now()
  let taken = 0
  for await (const piece of answer) {
    taken += (piece as Buffer).length
    // The buffers of a connection are a few megabytes: each turn takes more than a piece of them.
    if (taken > 2 * 1_048_576) {
      taken = 0
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    if (performance.now() - begunAt > 5 * bound) break
  }
  expect(performance.now() - begunAt).toBeGreaterThan(5 * bound)
})

test('a client that waits for a response is not disconnected, on a new or a used connection', async () => {
  const { server, port } = await listen((_request, response) => {
    // Answered only after the bound has passed.
    server.once('timeout', () => response.end('here'))
  })
  const socket = connect(port, '127.0.0.1')
  socket.setEncoding('utf8')
  for (let i = 0; i < 2; i++) {
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1.1 200 [^]*here/)
  }
  socket.destroy()
})

test('an idle connection is closed as before', async () => {
  const { server, port } = await listen((_request, response) => response.end('here'), 60_000)
  server.keepAliveTimeout = 50
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  socket.resume()
  await once(socket, 'close')
})

describe('a server that closes', () => {
  const close = (server: Server, end: () => void): Promise<unknown> => {
    const closed = once(server, 'close')
    end()
    server.close()
    return closed
  }
  const dial = async (port: number, said: string): Promise<Socket> => {
    const socket = connect(port, '127.0.0.1', () => socket.write(said)).on('error', () => {})
    onTestFinished(() => void socket.destroy())
    await once(socket, 'connect')
    return socket
  }

  test('does not wait for a connection without a request', async () => {
    const { server, port } = await listen((_request, response) => void response.end())
    const end = closeInTime(server, 3_600_000)
    const connected = once(server, 'connection')
    await dial(port, '')
    await connected
    await close(server, end)
  })

  test('waits a while for open requests, and then drops them', async () => {
    const answers: ServerResponse[] = []
    const { server, port } = await listen((_request, response) => void answers.push(response))
    const sockets: Socket[] = []
    server.on('connection', (socket) => sockets.push(socket))
    const end = closeInTime(server, 200)
    const heard: string[] = []
    const asking = await dial(port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    asking.on('data', (bytes: Buffer) => heard.push(bytes.toString().slice(-4)))
    const half = await dial(port, 'GET / HT')
    half.on('close', () => heard.push('cut'))
    await expect.poll(() => sockets.filter((socket) => socket.bytesRead > 0).length).toBe(2)
    await expect.poll(() => answers.length).toBe(1)
    const closed = close(server, end)
    answers[0]?.end('late')
    await closed
    await expect.poll(() => heard).toEqual(['late', 'cut'])
  })
})

async function listen(listener: RequestListener, ms = withinMs): Promise<{ server: Server; port: number }> {
  const server = createServer({ keepAliveTimeout: 65_000 }, listener)
  closeUnread(server, ms)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port: (server.address() as AddressInfo).port }
}

/** More than the buffers of both sides hold. */
function* endless(): Generator<Buffer> {
  const piece = Buffer.alloc(1_048_576)
  for (;;) yield piece
}
