import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest'
import { Client } from 'undici'
import { keepHeaders, readAnswer } from './answer.ts'

const whole = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nX-Id: 7\r\n\r\nok'

describe('reads', () => {
  it('receivers’ responses', () => {
    expect(read(whole)).toMatchObject({
      status: 200,
      headers: '{"content-type":"text/plain","content-length":"2","x-id":"7"}',
      retryAfter: undefined,
      keepsForMs: null,
      bodyBytes: 2,
    })
    expect(read('HTTP/1.1 204 No Content\r\n\r\n')).toMatchObject({ status: 204, headers: '{}', bodyBytes: 0 })
    expect(read('HTTP/1.1 503 \r\nRetry-After: 7\r\ncontent-length:0\r\n\r\n')).toMatchObject({ retryAfter: '7' })
  })

  test.each([
    ['Keep-Alive: timeout=5', 5000],
    ['Keep-Alive: max=100, timeout=72', 72_000],
    ['Keep-Alive: timeout=999999', 600_000],
    ['Keep-Alive: max=100', null],
    ['Connection: keep-alive', null],
    ['Connection: close', 0],
    ['Connection: Close\r\nKeep-Alive: timeout=5', 0],
  ])('how long its connection is kept: %s', (line, keepsForMs) => {
    expect(read(whole.replace('X-Id: 7', line))?.keepsForMs).toBe(keepsForMs)
  })

  it('a response with the same head as the last one', () => {
    const first = read(whole)
    expect(readAnswer(Buffer.from(whole), first)).toBe(first)
    expect(readAnswer(Buffer.from(whole.replace('7', '8')), first)).toMatchObject({ bodyBytes: 2 })
    for (let length = 0; length < whole.length; length++)
      expect(readAnswer(Buffer.from(whole.slice(0, length)), first)).toBeNull()
    expect(readAnswer(Buffer.from(`${whole}x`), first)).toBeNull()
  })
})

describe('leaves to undici', () => {
  test.for([
    ['half a head', whole.slice(0, 20)],
    ['half a body', whole.slice(0, -1)],
    ['more than a body', `${whole}\r\n`],
    ['a second answer', whole + whole],
    ['HTTP/1.0', whole.replace('1.1', '1.0')],
    ['what is on its way', whole.replace('200 OK', '102 Processing')],
    ['not modified', whole.replace('200 OK', '304 Not Modified')],
    ['no length', whole.replace('Content-Length', 'Content-Longitude')],
    ['two lengths', whole.replace('X-Id: 7', 'Content-Length: 2')],
    ['a length with a sign', whole.replace('Length: 2', 'Length: +2')],
    ['a length in a list', whole.replace('Length: 2', 'Length: 2, 2')],
    ['a long length', whole.replace('Length: 2', 'Length: 000002')],
    ['a body where none may be', whole.replace('200 OK', '204 No Content')],
    ['chunks', whole.replace('X-Id: 7', 'Transfer-Encoding: chunked')],
    ['a trailer', whole.replace('X-Id: 7', 'Trailer: a')],
    ['an upgrade', whole.replace('X-Id: 7', 'Connection: upgrade')],
    ['a field twice', whole.replace('X-Id: 7', 'Set-Cookie: a=b\r\nSet-Cookie: c=d')],
    ['a folded line', whole.replace('X-Id: 7', 'X-Id: 7\r\n 8')],
    ['a space before the colon', whole.replace('X-Id:', 'X-Id :')],
    ['a bare LF', whole.replace('X-Id: 7', 'X-Id: 7\nContent-Length: 1')],
    ['a bare CR', whole.replace('X-Id: 7', 'X-Id: 7\r8')],
    ['a tab', whole.replace('X-Id: 7', 'X-Id: 7\t8')],
    ['an octet above ASCII', Buffer.from(whole.replace('X-Id: 7', 'X-Id: ü'), 'latin1')],
    ['a head too long', whole.replace('X-Id: 7', `X-Id: ${'7'.repeat(9000)}`)],
    ['what is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
  ] as const)('%s', ([, bytes]) => {
    expect(read(bytes)).toBeNull()
  })
})

describe('a response that it reads, undici reads alike', () => {
  let answer: Buffer = Buffer.alloc(0)
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(answer))
  })
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'))
  afterAll(() => new Promise((resolve) => server.close(resolve)))

  interface Told {
    status: number
    headers: string | null
    body: string
  }
  const tell = async (bytes: Buffer): Promise<Told | Error> => {
    answer = bytes
    const client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const told: Told = { status: 0, headers: null, body: '' }
    const over = await new Promise<Told | Error>((resolve) => {
      client.dispatch(
        { path: '/', method: 'POST', body: '' },
        {
          onRequestStart() {},
          onResponseStart: (_controller, status, headers) =>
            void Object.assign(told, { status, headers: keepHeaders(Object.entries(headers)) }),
          onResponseData: (_controller, chunk) => void (told.body += chunk.toString('latin1')),
          onResponseEnd: () => resolve(told),
          onResponseError: (_controller, error) => resolve(error),
        },
      )
    })
    await client.destroy()
    return over
  }

  const lines = fc.constantFrom(
    'Server: nginx/1.24.0',
    'Date: Thu, 26 Nov 2026 18:00:00 GMT',
    'Content-Type: application/json; charset=utf-8',
    'Content-Length: 2',
    'Content-Length: 3',
    'content-length:  2 ',
    'Content-Length: 0x2',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding : chunked',
    ' Transfer-Encoding: chunked',
    'X: y\rTransfer-Encoding: chunked',
    'X: y\nContent-Length: 1',
    'Connection: keep-alive',
    'Connection: close',
    'Connection: close, Content-Length',
    'Keep-Alive: timeout=5',
    'Set-Cookie: a=b',
    'Retry-After: 7',
    'Upgrade: h2c',
    'X:',
    'X: y  ',
    ':',
    'A b: c',
  )
  const answers = fc
    .record({
      status: fc.oneof(
        { weight: 3, arbitrary: fc.constant('200 OK') },
        fc.constantFrom('204 No Content', '500 ', '410', '100 Continue', '304 Not Modified', '20 OK', '2000 OK'),
      ),
      length: fc.oneof({ weight: 4, arbitrary: fc.constant('Content-Length: 2') }, fc.constant('X-Length: 2')),
      lines: fc.array(lines, { maxLength: 2 }),
      isFirst: fc.boolean(),
      body: fc.oneof(
        { weight: 3, arbitrary: fc.constant('ok') },
        fc.constantFrom('', 'o', 'oks', '2\r\nok\r\n0\r\n\r\n', 'okHTTP/1.1 200 OK\r\n\r\n'),
      ),
      flips: fc.array(fc.tuple(fc.nat(200), fc.constantFrom('\r', '\n', ' ', '\t', ':', '\0', '\x80', 'A', '\r\n')), {
        maxLength: 1,
      }),
    })
    .map(({ status, length, lines: more, isFirst, body, flips }) => {
      const all = isFirst ? [length, ...more] : [...more, length]
      let text = `HTTP/1.1 ${status}\r\n${all.join('\r\n')}\r\n\r\n${body}`
      for (const [place, piece] of flips) {
        const at = place % text.length
        text = text.slice(0, at) + piece + text.slice(at + (place % 2))
      }
      return Buffer.from(text, 'latin1')
    })

  it('has the same status, headers and body', async () => {
    let taken = 0
    await fc.assert(
      fc.asyncProperty(answers, async (bytes) => {
        const ours = readAnswer(bytes, null)
        if (ours === null) return
        taken++
        const { status, headers, head } = ours
        const body = bytes.toString('latin1', head.length)
        expect(await tell(bytes)).toEqual({ status, headers, body })
      }),
      { numRuns: 3000 },
    )
    // Some 500 are, so the rest of the test covers real cases.
    expect(taken).toBeGreaterThan(100)
  })
})

const read = (text: string | Buffer) => readAnswer(Buffer.from(text as string, 'latin1'), null)
