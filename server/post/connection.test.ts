import { once } from 'node:events'
import { stat } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { makeCertificate } from '@heliogram/simulator'
import { buildConnector } from 'undici'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../../test/until.ts'
import { Connection } from './connection.ts'
import { guardDestinations } from './destination.ts'
import { Exchange, type PostResult } from './exchange.ts'
import { Poster, targetOf } from './post.ts'

const destinations = guardDestinations({ allowedCidrs: ['127.0.0.0/8'], ports: [] })
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'

let poster: Poster
let server: Server
let sockets: Socket[]
/** Requests by connection. */
let came: string[]
/** Answers a request, in pieces if that takes time. */
let answer: (socket: Socket, n: number) => unknown

beforeEach(async () => {
  poster = new Poster({ destinations, timeoutMs: 3000 })
  sockets = []
  came = []
  answer = (socket) => socket.write(ok)
  let requests = 0
  // Without it, unsolicited writes wait for the next request's acknowledgement.
  server = createServer({ noDelay: true }, (socket) => {
    const index = sockets.push(socket) - 1
    came[index] = ''
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      came[index] += bytes.toString('utf8')
      // Each request ends with its body.
      if (bytes.toString('utf8').endsWith('}')) answer(socket, requests++)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(async () => {
  await poster.close()
  for (const socket of sockets) socket.destroy()
  server.close()
})

describe('a connection', () => {
  it('writes a request unchanged, and keeps to one connection', async () => {
    for (let i = 0; i < 3; i++) expect(await post()).toMatchObject({ outcome: 'ok', responseHead: 'ok' })
    const { port } = server.address() as AddressInfo
    const one =
      `POST /hook?a=b HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: keep-alive\r\ncontent-type: application/json\r\n` +
      `content-length: 9\r\n\r\n{"a":"b"}`
    expect(came).toEqual([one.repeat(3)])
  })

  it('measures a body in octets', async () => {
    const body = '{"a":"grüße 🎉"}'
    await post(body)
    expect(came[0]).toContain(`content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  })

  it('leaves the first unusual response, and all later ones, to undici, with the request written once', async () => {
    answer = (socket) => socket.write(chunked)
    for (let i = 0; i < 3; i++) {
      const result = await post()
      expect(result).toMatchObject({ outcome: 'ok', responseHead: 'ok', responseHeaders: '{}' })
      expect(result.firstByteMs).toBeLessThan(1000)
    }
    expect(came.map(requestsIn)).toEqual([3])
  })

  it.each([
    ['in the head', 20],
    ['behind the head', ok.length - 2],
    ['in the body', ok.length - 1],
  ])('reads a response in two pieces, cut %s', async (_where, at) => {
    answer = async (socket) => {
      socket.write(ok.slice(0, at))
      await pause(50)
      socket.write(ok.slice(at))
    }
    for (let i = 0; i < 2; i++) expect(await post()).toMatchObject({ outcome: 'ok', responseHead: 'ok' })
    expect(came.map(requestsIn)).toEqual([2])
  })

  it('reads a response octet by octet, and the one behind it', async () => {
    answer = async (socket) => {
      for (const octet of `HTTP/1.1 102 Processing\r\n\r\n${ok}`) {
        socket.write(octet)
        await pause(1)
      }
    }
    expect(await post()).toMatchObject({ outcome: 'ok', statusCode: 200, responseHead: 'ok' })
  })

  it('reads a response that ends with its connection, and posts the next over another', async () => {
    answer = (socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nok')
    for (let i = 0; i < 2; i++) expect(await post()).toMatchObject({ outcome: 'ok', responseHead: 'ok' })
    expect(came.map(requestsIn)).toEqual([1, 1])
  })

  it('closes if a receiver says so, or that it will in two seconds', async () => {
    answer = (socket, n) =>
      void socket.write(
        ok.replace('\r\n\r\n', n === 0 ? '\r\nConnection: close\r\n\r\n' : '\r\nKeep-Alive: timeout=2\r\n\r\n'),
      )
    for (let i = 0; i < 3; i++) expect((await post()).outcome).toBe('ok')
    expect(came.map(requestsIn)).toEqual([1, 1, 1])
  })

  it('closes when it has been quiet for as long as the receiver allows, less two seconds', async () => {
    answer = (socket) => socket.write(ok.replace('\r\n\r\n', '\r\nKeep-Alive: timeout=3\r\n\r\n'))
    await post()
    await once(sockets[0] as Socket, 'close')
    expect((await post()).outcome).toBe('ok')
    expect(came.map(requestsIn)).toEqual([1, 1])
  })

  it('does not mistake unrequested data for a response', async () => {
    await post()
    sockets[0]?.write(ok.replace('200 OK', '500 Poisoned'))
    await pause(50)
    expect(await post()).toMatchObject({ outcome: 'ok', statusCode: 200 })
    // Nor does anything that follows an answer in the same write.
    answer = (socket) => socket.write(ok + ok.replace('200 OK', '500 Poisoned'))
    expect(await post()).toMatchObject({ outcome: 'ok', statusCode: 200 })
    answer = (socket) => socket.write(ok)
    expect(await post()).toMatchObject({ outcome: 'ok', statusCode: 200 })
  })

  it.each([
    ['the end of it', (socket: Socket) => socket.destroy()],
    ['a reset', (socket: Socket) => socket.resetAndDestroy()],
    ['what nobody asked for', (socket: Socket) => socket.write(ok.replace('200 OK', '500 Poisoned'))],
  ])('notices %s before it is used again, also in a turn that has read its sockets', async (_what, act) => {
    for (let i = 0; i < 10; i++) {
      await post()
      const result = await new Promise<PostResult>((resolve) => {
        // Called back like a database's answer: between this turn's sockets and its later callbacks.
        stat('/', () => {
          act(sockets.at(-1) as Socket)
          const until = performance.now() + 2
          while (performance.now() < until);
          void post().then(resolve)
        })
      })
      expect(result).toMatchObject({ outcome: 'ok', statusCode: 200 })
    }
  })

  it('accepts a response to half a request, and writes the next over another connection', async () => {
    let isFirst = true
    server.on('connection', (socket: Socket) => {
      if (!isFirst) return
      isFirst = false
      socket.pause()
      socket.write(ok.replace('200 OK', '413 Content Too Large'))
    })
    expect(await post(`{"a":"${'x'.repeat(40_000_000)}"}`)).toMatchObject({ outcome: 'status', statusCode: 413 })
    expect((await post()).outcome).toBe('ok')
    expect(sockets.length).toBe(2)
  })

  it('reports a reset if a receiver leaves silently, and for pending requests at the end', async () => {
    answer = (socket) => socket.end()
    expect(await post()).toMatchObject({ outcome: 'reset', statusCode: null, firstByteMs: null })
    answer = (socket) => socket.end(ok.slice(0, 20))
    expect(await post()).toMatchObject({ outcome: 'reset', statusCode: null })
    answer = () => {}
    const last = post()
    await pause(50)
    await poster.close()
    expect(await last).toMatchObject({ outcome: 'reset' })
  })

  it('reports a receiver that never ends a response’s head, and accepts the status of one that never ends its body', async () => {
    const hasty = new Poster({ destinations, timeoutMs: 300 })
    const { port } = server.address() as AddressInfo
    const postHastily = (): Promise<PostResult> =>
      new Promise((resolve) => hasty.post(targetOf(`http://127.0.0.1:${port}/`), [], '{}', resolve))
    for (const piece of ['', ok.slice(0, 20)]) {
      answer = (socket) => socket.write(piece)
      expect((await postHastily()).outcome).toBe('timeout')
    }
    answer = (socket) => socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
    expect(await postHastily()).toMatchObject({ outcome: 'timeout', statusCode: null })
    answer = (socket) => socket.write(ok.slice(0, -1))
    expect(await postHastily()).toMatchObject({ outcome: 'ok', statusCode: 200 })
    answer = (socket) => socket.write(ok)
    expect((await postHastily()).outcome).toBe('ok')
    await hasty.close()
  })
})

it('writes no other request in its place if the connection is lost to undici', async () => {
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const dial = buildConnector({ allowH2: false })
  const accepted = once(server, 'connection') as Promise<[Socket]>
  // An answer in two pieces comes before the connection is reported.
  const slow: buildConnector.connector = (options, callback) =>
    dial(options, (...told) => {
      const [, socket] = told
      void accepted.then(async ([theirs]) => {
        for (const [from, to] of [
          [0, 10],
          [10, ok.length],
        ]) {
          theirs.write(ok.slice(from, to))
          await until('the piece is read', () => socket?.bytesRead === to)
        }
        callback(...told)
      })
    })
  const result = await new Promise<PostResult>((resolve) => {
    const exchange = new Exchange(3000, { onRested: () => {}, onDone: resolve })
    new Connection({ url, connect: slow, isUnusual: false }).begin(exchange, { path: '/hook', headers: [], body: '{}' })
  })
  expect(result.outcome).toBe('reset')
  await pause(100)
  expect(came.join('')).not.toContain('POST / ')
})

it.each([
  ['a length of its own', ['content-length', '3']],
  ['another end', ['transfer-encoding', 'chunked']],
  ['an expectation', ['expect', '100-continue']],
  ['two fields in one', ['a: b\r\nc', 'd']],
  ['a value of two lines', ['a', 'b\r\nc: d']],
  ['a name that is none', ['a b', 'c']],
  ['half a field', ['a']],
])('leaves the refusal of %s to undici', async (_what, headers) => {
  const { port } = server.address() as AddressInfo
  const result = await new Promise<PostResult>((resolve) =>
    poster.post(targetOf(`http://127.0.0.1:${port}/`), headers, '{}', resolve),
  )
  expect(result.outcome).toBe('protocol')
  expect(came.join('')).toBe('')
})

it('posts over TLS, once, for responses in one piece or several', async () => {
  const { cert, key } = makeCertificate('localhost')
  const bodies: string[] = []
  const secure = createTlsServer({ cert, key }, (request, response) => {
    request.on('data', (bytes: Buffer) => bodies.push(bytes.toString()))
    // The second answer is chunked.
    request.on('end', () => (bodies.length === 1 ? response.end('ok') : response.writeHead(200).end('ok')))
  }).listen(0, '127.0.0.1')
  await once(secure, 'listening')
  const url = new URL(`https://127.0.0.1:${(secure.address() as AddressInfo).port}`)
  const receiver = { url, connect: buildConnector({ ca: cert, allowH2: false }), isUnusual: false }
  const connection = new Connection(receiver)
  for (const body of ['one', 'two', 'three']) {
    const result = await new Promise<PostResult>((resolve) => {
      const exchange = new Exchange(3000, { onRested: () => {}, onDone: resolve })
      connection.begin(exchange, { path: '/', headers: [], body })
    })
    expect([result.outcome, result.responseHead, receiver.isUnusual]).toEqual(['ok', 'ok', body !== 'one'])
  }
  expect(bodies).toEqual(['one', 'two', 'three'])
  await connection.destroy()
  secure.close()
})

const post = (body = '{"a":"b"}'): Promise<PostResult> =>
  new Promise((resolve) => {
    const { port } = server.address() as AddressInfo
    poster.post(targetOf(`http://127.0.0.1:${port}/hook?a=b`), ['content-type', 'application/json'], body, resolve)
  })
const requestsIn = (text: string): number => text.split('POST /hook?a=b HTTP/1.1\r\n').length - 1
