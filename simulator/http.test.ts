import { request as httpRequest } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { bindClient, type Client, post, startSimulator, type Started, until } from './testing.ts'

let started: Started
let client: Client

beforeEach(async () => {
  started = await startSimulator({ allowedHosts: ['phones.example'] })
  client = await bindClient(started.smppPort)
})
afterEach(async () => {
  client.session.destroy()
  await started.simulator.close()
})

describe('phones', () => {
  it('are listed with their last message, and their messages can be read', async () => {
    await client.submit('15551230001', 'one')
    await client.submit('15551230004', 'two')
    await client.submit('15551230001', 'three')
    expect(await get('/phones')).toMatchObject({
      phones: [
        { number: '15551230001', unread: 2, peers: ['15550100'], last: { text: 'three' } },
        { number: '15551230004', unread: 1, last: { text: 'two', outcome: null } },
      ],
    })
    expect(await get('/phones/+15551230001/messages')).toMatchObject({ messages: [{ text: 'one' }, { text: 'three' }] })
    expect((await post(`${started.url}/phones/15551230001/read`, {})).status).toBe(200)
    expect(await get('/phones')).toMatchObject({ phones: [{ unread: 0 }, { unread: 1 }] })
  })

  it('reply to the last sender, or to a given one', async () => {
    await client.submit('15551230001', 'hello')
    const reply = await post(`${started.url}/phones/15551230001/replies`, { text: 'hi @ you' })
    expect([reply.status, await reply.json()]).toMatchObject([202, { direction: 'typed', text: 'hi @ you' }])
    await post(`${started.url}/phones/447700900001/replies`, { text: 'new here', to: '+15550100' })
    await until(() => client.replies.length === 2, 'both replies came')
    expect(client.replies).toMatchObject([
      { from: '15551230001', to: '15550100', text: 'hi @ you' },
      { from: '447700900001', to: '15550100', text: 'new here' },
    ])
  })

  it.each([
    ['/phones/15551230001/replies', { text: 'to whom?' }, 400],
    ['/phones/15551230001/replies', { text: '', to: '15550100' }, 400],
    ['/phones/15551230001/replies', { text: 'x', to: 'ACME' }, 400],
    ['/phones/nobody/replies', { text: 'x', to: '15550100' }, 400],
    ['/phones/15551230001/replies', ['x'], 400],
    ['/control', { throttleRatio: 2 }, 400],
    ['/control', { submit: 'ROK' }, 400],
    ['/control', { toString: 1 }, 400],
    ['/control', { do: 'harm' }, 400],
    ['/elsewhere', {}, 404],
  ])('answer %s with %j by %i and a sentence', async (path, body, status) => {
    const response = await post(started.url + path, body)
    expect([response.status, await response.json()]).toEqual([status, { error: expect.stringMatching(/\.$|yet\.$/) }])
  })

  it('refuse a text of too many parts', async () => {
    // A letter with this many marks takes a part of its own.
    const text = `e${'\u0301'.repeat(33)}`.repeat(256)
    const response = await post(`${started.url}/phones/15551230001/replies`, { text, to: '15550100' })
    expect([response.status, await response.json()]).toEqual([400, { error: '"text" takes more than 255 parts.' }])
  })

  it('refuse a body that is not JSON, or too long', async () => {
    const headers = { 'content-type': 'application/json' }
    const url = `${started.url}/phones/15551230001/replies`
    expect((await fetch(url, { method: 'POST', headers, body: '{"text":' })).status).toBe(400)
    expect((await fetch(url, { method: 'POST', headers, body: `{"text":"${'x'.repeat(70_000)}"}` })).status).toBe(400)
  })
})

describe('strangers', () => {
  it('cannot point their own host name at the phones', async () => {
    expect(await statusWith({ host: 'evil.example:8081' })).toBe(403)
    for (const host of ['localhost:8081', '127.0.0.1', '[::1]:8081', '192.168.1.7:8081', 'phones.example']) {
      expect([host, await statusWith({ host })]).toEqual([host, 200])
    }
  })

  it('cannot post from their pages', async () => {
    const json = { 'content-type': 'application/json' }
    const own = new URL(started.url).host
    expect(await statusWith({ ...json, origin: 'https://evil.example' }, '/control', 'POST')).toBe(403)
    expect(await statusWith({ ...json, origin: 'null' }, '/control', 'POST')).toBe(403)
    expect(await statusWith({ ...json, 'sec-fetch-site': 'cross-site' }, '/control', 'POST')).toBe(403)
    expect(await statusWith({ 'content-type': 'text/plain' }, '/control', 'POST')).toBe(415)
    expect(await statusWith({}, '/control', 'POST')).toBe(415)
    expect(await statusWith({ ...json, host: own, origin: `http://${own}` }, '/control', 'POST')).toBe(200)
  })
})

it('tells listeners which phones have news', async () => {
  const response = await fetch(`${started.url}/events`)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader()
  const decoder = new TextDecoder()
  let heard = ''
  await client.submit('15551230001', 'hello')
  while (!heard.includes('event: changed')) heard += decoder.decode((await reader.read()).value)
  expect(heard).toContain('data: {"numbers":["15551230001"]}')
  await reader.cancel()
})

it('changes its faults, and does mischief, on command over HTTP', async () => {
  const response = await post(`${started.url}/control`, { throttleRatio: 0.5, submit: 'RSYSERR', do: 'drop' })
  expect(await response.json()).toMatchObject({ throttleRatio: 0.5, submit: 'RSYSERR', isPaused: false })
  await until(() => client.session.state === 'closed', 'the session is dropped')
  await post(`${started.url}/control`, { reset: true })
  expect(await get('/control')).toMatchObject({ throttleRatio: 0, submit: 'accept' })
})

it('returns its counters, and its ledger as lines', async () => {
  const other = await startSimulator({ keepLedger: true })
  const sender = await bindClient(other.smppPort)
  await sender.submit('15551230001', 'hello')
  const lines = await (await fetch(`${other.url}/ledger`)).text()
  expect(JSON.parse(lines)).toMatchObject({ destination: '15551230001', text: 'hello', status: 'ROK' })
  const stats: unknown = await (await fetch(`${other.url}/stats`)).json()
  expect(stats).toMatchObject({ submits: 1, distinct: 1, bound: 1 })
  sender.session.destroy()
  await other.simulator.close()
})

const get = async (path: string): Promise<unknown> => (await fetch(started.url + path)).json()

/** With headers that fetch does not allow. */
function statusWith(headers: Record<string, string>, path = '/phones', method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(started.url + path, { method, headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('error', reject).end(method === 'POST' ? '{}' : undefined)
  })
}
