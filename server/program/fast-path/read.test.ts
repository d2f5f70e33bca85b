import { createServer, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { readWhole } from './read.ts'

const fields = 'Host: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n'
const whole = `POST /v1/messages HTTP/1.1\r\n${fields}Authorization: Bearer x\r\n\r\n{}`

it('reads clients’ requests', () => {
  expect(read(whole)).toMatchObject({
    target: 'POST /v1/messages',
    fields: { host: 'a', authorization: 'Bearer x', 'content-length': '2' },
    body: Buffer.from('{}'),
  })
  const curl = whole.replace(
    'Host',
    'User-Agent: curl/8.5.0\r\nAccept: */*\r\nX-Empty:\r\nConnection: Keep-Alive\r\nhOST',
  )
  expect(read(curl)).toMatchObject({ fields: { host: 'a' } })
  expect(read(whole.replace('json', 'json; charset=utf-8'))).not.toBeNull()
})

it('waits only for the rest of a body', () => {
  expect(read(whole.slice(0, -1))).toBe('more')
  expect(read(whole.slice(0, -2))).toBe('more')
  expect(read(whole.slice(0, -3))).toBeNull()
})

describe('leaves to Node', () => {
  test.for([
    ['a second request behind it', `${whole}P`],
    ['another route', whole.replace('/v1', '/v2')],
    ['a query', whole.replace('messages', 'messages?a=b')],
    ['HTTP/1.0', whole.replace('1.1', '1.0')],
    ['no Host', whole.replace('Host', 'Ghost')],
    ['two Hosts', whole.replace('Host: a', 'Host: a\r\nHost: b')],
    ['two lengths', whole.replace('Content-Length: 2', 'Content-Length: 2\r\nContent-Length: 2')],
    ['a length with a sign', whole.replace('Length: 2', 'Length: +2')],
    ['a length of none', whole.replace('Length: 2', 'Length: 0')],
    ['a length in two words', whole.replace('Length: 2', 'Length: 2 2')],
    ['a body that is too long', whole.replace('Length: 2', 'Length: 1001')],
    ['chunks', whole.replace('Authorization: Bearer x', 'Transfer-Encoding: chunked')],
    ['an expectation', whole.replace('Authorization: Bearer x', 'Expect: 100-continue')],
    ['a cookie', whole.replace('Authorization: Bearer x', 'Cookie: a=b')],
    ['a last request', whole.replace('Authorization: Bearer x', 'Connection: close')],
    ['two keys', whole.replace('Authorization: Bearer x', 'Idempotency-Key: a\r\nIdempotency-Key: b')],
    ['another type', whole.replace('application/json', 'text/plain')],
    ['another charset', whole.replace('json', 'json; charset=latin1')],
    ['a compressed body', whole.replace('Authorization: Bearer x', 'Content-Encoding: gzip')],
    ['a folded line', whole.replace('Authorization: Bearer x', 'A: b\r\n c')],
    ['a space before the colon', whole.replace('Host:', 'Host :')],
    ['a bare LF', whole.replace('Authorization: Bearer x', 'A: b\nTransfer-Encoding: chunked')],
    ['a bare CR', whole.replace('Authorization: Bearer x', 'A: b\rc')],
    ['a tab', whole.replace('Authorization: Bearer x', 'A: b\tc')],
    ['an octet above ASCII', Buffer.from(whole.replace('Bearer x', 'Bearer ÿ'), 'latin1')],
    ['what Node takes for Connection', whole.replace('Authorization: Bearer x', 'Proxy-Connection: close')],
    ['many fields', whole.replace('Authorization: Bearer x', Array.from({ length: 100 }, () => 'a:').join('\r\n'))],
    ['a head too long', whole.replace('Bearer x', 'x'.repeat(9000))],
  ] as const)('%s', ([, bytes]) => {
    expect(read(bytes as string)).toBeNull()
  })
})

describe('a request that it reads, Node reads alike', () => {
  interface Seen {
    request: IncomingMessage
    body: Buffer
  }
  let seen: Seen[] = []
  let faults = 0
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      seen.push({ request, body: Buffer.concat(pieces) })
      response.end()
    })
  })
  server.on('clientError', (_error, socket) => {
    faults++
    socket.destroy()
  })
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  const tell = async (bytes: Buffer): Promise<Seen[]> => {
    seen = []
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.end(bytes)
    socket.resume()
    await once(socket, 'close')
    return seen
  }

  const lines = fc.constantFrom(
    'User-Agent: x/1 (y; z)',
    'Accept: */*',
    'X-Request-Id: 1',
    'Traceparent: 00-1-2-01',
    'Host: a',
    'Content-Type: application/json',
    'Content-Length: 2',
    'Content-Length:  2 ',
    'Content-Length: 3',
    'Content-Length: 02',
    'Content-Length: 0x2',
    'content-length:2',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding : chunked',
    ' Transfer-Encoding: chunked',
    'X: y\rTransfer-Encoding: chunked',
    'X: y\nContent-Length: 5',
    'Authorization: Bearer x',
    'Idempotency-Key: k',
    'Connection: keep-alive',
    'Connection: close',
    'Proxy-Connection: close',
    'Proxy-Connection: keep-alive',
    'Upgrade: h2c',
    'X-Forwarded-For: 192.0.2.1',
    'X:',
    ':',
    'A b: c',
  )
  const usual = fc.constant('Host: a\r\nContent-Type: application/json\r\nContent-Length: 2')
  const request = fc
    .record({
      lines: fc.array(lines, { maxLength: 2 }),
      usual,
      isFirst: fc.boolean(),
      body: fc.oneof(
        { weight: 3, arbitrary: fc.constant('{}') },
        fc.constantFrom('{}x', '2\r\n{}\r\n0\r\n\r\n', '1', '{}POST /v1/messages HTTP/1.1\r\nHost: b\r\n\r\n'),
      ),
      flips: fc.array(fc.tuple(fc.nat(400), fc.constantFrom('\r', '\n', ' ', '\t', ':', '\0', '\x80', 'A', '\r\n')), {
        maxLength: 1,
      }),
    })
    .map(({ lines: more, usual: known, isFirst, body, flips }) => {
      const all = isFirst ? [known, ...more] : [...more, known]
      let text = `POST /v1/messages HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`
      for (const [place, piece] of flips) {
        const at = place % text.length
        text = text.slice(0, at) + piece + text.slice(at + (place % 2))
      }
      return Buffer.from(text, 'latin1')
    })

  it('is one request, with the same target, fields and body', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(request, async (bytes) => {
        const ours = read(bytes)
        if (ours === null || ours === 'more') return
        taken++
        const [theirs, ...others] = await tell(bytes)
        expect(others).toEqual([])
        expect(`${theirs?.request.method} ${theirs?.request.url}`).toBe(ours.target)
        expect(theirs?.body).toEqual(ours.body)
        for (const [name, value] of Object.entries(ours.fields))
          expect([name, theirs?.request.headers[name]]).toEqual([name, value])
        const headers = theirs?.request.headers ?? {}
        expect([headers['transfer-encoding'], headers.upgrade, headers.connection === 'close']).toEqual([
          undefined,
          undefined,
          false,
        ])
      }),
      { numRuns: 4000 },
    )
    // Some 800 are; otherwise the test would be empty.
    expect(taken).toBeGreaterThan(200)
    expect(faults).toBe(0)
  })
})

const isOurs = (target: string): boolean => target === 'POST /v1/messages'
const read = (bytes: Buffer | string) => readWhole(Buffer.from(bytes), isOurs, 1000)
