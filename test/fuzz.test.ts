/**
 * The running program against requests generated from its own OpenAPI document: valid, nearly valid, and hostile. FUZZ_SEED makes others,
 * FUZZ_REQUESTS more (`npm run fuzz`: 20,000); FUZZ_WORKERS sends concurrently, which finds races. A seed reproduces the requests, except their
 * ids. The program's only network is the simulated carrier.
 */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestAccount } from '../server/accounts/testing.ts'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { AnswerCheck } from './answer-check.ts'
import { Phones } from './carrier.ts'
import { Client } from './client.ts'
import { toCurl } from './curl.ts'
import { findPorts, startProgram, type Program } from './harness.ts'
import { readOperations, RequestGenerator, type Document, type FuzzRequest } from './openapi-requests.ts'
import { Logins, type Person } from './openapi-logins.ts'
import type { Known } from './openapi-values.ts'
import { waitFor } from './until.ts'
import { Wire, type RawAnswer } from './wire.ts'

const seed = Number(process.env['FUZZ_SEED'] ?? 1)
const requestsCount = Number(process.env['FUZZ_REQUESTS'] ?? 2000)
const workersCount = Number(process.env['FUZZ_WORKERS'] ?? 4)
const garbageCount = requestsCount / 20
const slowMs = 8000
/** In all data of the other account. */
const canary = 'Kanarienvogel'
const later = new Date(Date.now() + 86_400_000 * 300).toISOString()

let program: Program
let db: Db
let other: Client
let phones: Phones

beforeAll(async () => {
  const [port = 0, simulatorPort = 0, simulatorHttpPort = 0] = await findPorts(3)
  program = await startProgram({
    env: {
      HELIOGRAM_LOG: 'warn',
      // Rate-limited requests would test nothing.
      HELIOGRAM_API_PER_SECOND: '100000',
      HELIOGRAM_PORT: String(port),
      HELIOGRAM_SIMULATOR_PORT: String(simulatorPort),
      HELIOGRAM_SIMULATOR_HTTP_PORT: String(simulatorHttpPort),
      NODE_OPTIONS: `--import=${join(import.meta.dirname, 'no-network.ts')}`,
      NO_NETWORK_BUT: `${port},${simulatorPort},${simulatorHttpPort}`,
    },
  })
  phones = new Phones(simulatorHttpPort)
  db = openPool(await program.connection(), { name: 'fuzz', max: 1 })
  other = new Client(() => program.address, (await createTestAccount(db)).token)
})

afterAll(async () => {
  await db?.end()
  await program?.remove()
})

/** Creates one of everything with a word in it; returns the results by path. */
async function furnish(client: Client, word: string): Promise<void> {
  const make = <T = { id: string }>(path: string, body: unknown): Promise<T> =>
    client.expect<T>('POST', path, body, { 'idempotency-key': `furnish ${path}`.replaceAll(' ', ':') })
  const carrier = (await client.carrier()).id
  const name = word.toLowerCase()
  const number = `1555000${1000 + name.length}`
  const campaign = await make('/v1/campaigns', { name: word, key: name, description: word, tags: [word] })
  await make(`/v1/campaigns/${campaign.id}/contacts`, { phone_number: '15551231234', first_name: word, tags: [word] })
  const rows = { contacts: [{ phone_number: '15551231235', last_name: word }] }
  const imported = await make(`/v1/campaigns/${campaign.id}/contacts/import`, rows)
  await waitFor('the import is over', async () => {
    const { status } = await client.get<{ status: string }>(`/v1/imports/${imported.id}`)
    return status === 'completed' || null
  })
  await make('/v1/templates', { name, body: `${word} {{ first_name }}` })
  const webhook = await make('/v1/webhooks', { url: `https://example.com/${word}`, description: word })
  await make(`/v1/webhooks/${webhook.id}/replay`, { since: new Date().toISOString() })
  const sender = await make('/v1/senders', { number, carrier, default: true })
  await make('/v1/sender-pools', { name: word, senders: [{ sender: sender.id }] })
  await make('/v1/smpp-credentials', { name: word })
  await make('/v1/api-keys', { name: word, scopes: ['messages:read'] })
  await make('/v1/messages', {
    to: '15551231234',
    message: word,
    send_at: later,
    metadata: { word },
    campaign: campaign.id,
  })
  await make('/v1/consent', { number: '15551231236', status: 'opted_in', source: word })
  await make('/v1/opt-outs', { number: '15551231237', reason: word })
  await make('/v1/erasures', { number: '15551231238', reason: word })
  await make('/v1/users/invitations', { email: `${name}@example.com`, role: 'viewer' })
  await make('/v1/twilio-credentials', { name: word })
  await make(`/v1/campaigns/${campaign.id}/send`, { message: word, send_at: later })
  await phones.reply('15551231239', number, `${word}, stop please`)
  await waitFor('the reply has come', async () => {
    const { data } = await client.get<{ data: unknown[] }>('/v1/opt-outs/suspected')
    return data.length > 0 || null
  })
  // The reply is posted once, without a route; later failures leave the webhook in the same state.
  await waitFor('the webhook has failed', async () => {
    const { failing_since } = await client.get<{ failing_since: string | null }>(`/v1/webhooks/${webhook.id}`)
    return failing_since
  })
}

const lists = [
  'campaigns',
  'templates',
  'webhooks',
  'senders',
  'sender-pools',
  'smpp-credentials',
  'api-keys',
  'messages',
  'consent?number=15551231236',
  'opt-outs',
  'opt-outs/suspected',
  'conversations',
  'erasures',
  'users',
  'users/invitations',
  'events',
]

// An erasure takes time, and drops its number at the end.
const unstable: Record<string, object> = { erasures: { erased: null, completed_at: null, status: null, number: null } }

async function readAll(client: Client): Promise<Record<string, unknown[]>> {
  const pages = await Promise.all(
    lists.map((list) =>
      client.get<{ data: Record<string, unknown>[] }>(`/v1/${list}${list.includes('?') ? '&' : '?'}limit=200`),
    ),
  )
  return Object.fromEntries(
    pages.map(({ data }, n) => {
      const list = lists[n] ?? ''
      return [list, data.map((item) => ({ ...item, last_used_at: null, ...unstable[list] }))]
    }),
  )
}

/** A user whom no request removes. */
async function invite(): Promise<Person & { id: string }> {
  const [email, password] = ['person@example.com', 'seven mirrors on a hill']
  const { code } = await program.client.expect<{ code: string }>('POST', '/v1/users/invitations', {
    email,
    role: 'admin',
  })
  const pair = await program.client.expect<{ access_token: string; user: { id: string } }>(
    'POST',
    '/v1/auth/accept-invitation',
    { code, password },
  )
  return { id: pair.user.id, email, password, token: pair.access_token }
}

function idsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, item]) =>
    name === 'id' && typeof item === 'string' ? [item] : idsIn(item),
  )
}

/** Encodes a request, correctly or misleadingly. */
function toBytes({ method, target, headers, body, isChunked, isMeasuredWrong }: FuzzRequest): Buffer {
  const lines = [...headers]
  if (isChunked) lines.push(['transfer-encoding', 'chunked'])
  else if (body || !['GET', 'HEAD'].includes(method))
    lines.push(['content-length', String((body?.length ?? 0) + (isMeasuredWrong ? 7 : 0))])
  const head = `${method} ${target} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  if (!body) return Buffer.from(head, 'latin1')
  const middle = body.length >> 1
  const parts = isChunked
    ? [body.subarray(0, middle), body.subarray(middle)]
        .filter((part) => part.length > 0)
        .flatMap((part) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')])
        .concat(Buffer.from('0\r\n\r\n'))
    : [body]
  return Buffer.concat([Buffer.from(head, 'latin1'), ...parts])
}

/** A late response counts as none. */
const noAnswer = (): null => null

async function readHeap(): Promise<number> {
  const before = program.stderr.length
  process.kill(program.pid, 'SIGUSR2')
  return waitFor('the heap is told', () => Number(/^heap (\d+)$/m.exec(program.stderr.slice(before))?.[1] ?? 0) || null)
}

test(
  'the program answers random requests as its document says, in bounded memory and without touching other accounts',
  { timeout: 600_000 },
  async () => {
    console.log(`FUZZ_SEED=${seed}`)
    await furnish(program.client, 'Own')
    await furnish(other, canary)
    const theirs = await readAll(other)
    const document = await program.client.get<Document>('/v1/openapi.json')
    const reader = await program.client.expect<{ secret: string }>('POST', '/v1/api-keys', {
      name: 'reader',
      scopes: ['messages:read'],
    })
    const person = await invite()
    const logins = new Logins(person, program.client.key)
    const known: Known = {
      logins,
      own: new Map(),
      foreign: idsIn(theirs),
      cursors: [],
      credentials: [
        { token: reader.secret, chance: 0.02 },
        { token: `${program.client.key.slice(0, -1)}${program.client.key.endsWith('0') ? '1' : '0'}`, chance: 0.003 },
        { token: '', chance: 0.003 },
        { token: program.client.key, chance: 1 },
      ],
    }
    // The common carrier, key and account must not be deleted or limited.
    const { account } = await program.client.get<{ account: { id: string } }>('/v1/settings')
    const { data: keys } = await program.client.get<{ data: { id: string }[] }>('/v1/api-keys')
    const kept = new Set([
      ...idsIn(await program.client.carrier()),
      ...keys.map(({ id }) => id),
      account.id,
      person.id,
      ...known.foreign,
    ])
    const learn = (body: unknown, name = ''): void => {
      logins.learn(name, body)
      for (const id of idsIn(body)) {
        const ids = known.own.get(id.slice(0, 3)) ?? []
        if (kept.has(id) || ids.includes(id) || ids.length > 300) continue
        known.own.set(id.slice(0, 3), [...ids, id])
      }
      const cursor =
        (body as { next_cursor?: unknown }).next_cursor ?? (body as { refresh_cursor?: unknown }).refresh_cursor
      if (typeof cursor === 'string') known.cursors[known.cursors.length % 100] = cursor
    }
    learn(await readAll(program.client))

    const generator = new RequestGenerator(document, seed, known)
    const check = new AnswerCheck(document)
    const port = Number(new URL(program.address).port)
    const statuses = new Map<string, number>()
    const faults = new Map<string, string>()
    const succeeded = new Set<string>()
    const count = (what: string): void => void statuses.set(what, (statuses.get(what) ?? 0) + 1)
    const blame = (what: string, tell: () => string, answer: RawAnswer | null): void => {
      count(`FAULT ${what}`)
      if (!faults.has(what))
        faults.set(what, `${what}\n  ${tell()}\n  ${answer?.body.toString().slice(0, 600) ?? 'no answer'}`)
    }

    const ask = async (wire: Wire, request: FuzzRequest, n: number | string): Promise<void> => {
      const isHead = request.method === 'HEAD'
      const told = (): string => `request ${n} of FUZZ_SEED=${seed}: ${toCurl(program.address, request)}`
      const answer = await wire.exchange(toBytes(request), { isHead, isAlone: request.isMeasuredWrong }).catch(noAnswer)
      const operation = check.operationOf(request)
      const name = operation ? `${operation.method} ${operation.path}` : 'no operation'
      count(`${request.kind} ${answer?.status ?? 'closed'}`)
      if (!answer) {
        if (!request.isMeasuredWrong) blame(`${name}: no answer`, told, null)
        return
      }
      const fault = check.faultOf(operation, answer, !isHead)
      if (fault) blame(`${name}: ${fault}`, told, answer)
      if (answer.ms > slowMs) blame(`${name}: slow`, () => `${Math.round(answer.ms)} ms ${told()}`, answer)
      const text = answer.body.toString()
      if (text.includes(canary)) blame(`${name}: tells what another account has`, told, answer)
      const isGood = answer.status >= 200 && answer.status < 300
      if (isGood) succeeded.add(name)
      if (isGood && known.foreign.some((id) => request.target.split('?')[0]?.includes(id)))
        blame(`${name}: reaches what another account has`, told, answer)
      if (isGood && text !== '' && answer.headers.get('content-type')?.startsWith('application/json'))
        learn(JSON.parse(text), name)
    }

    const warmUp = requestsCount / 10
    let made = 0
    const onWires = (work: (wire: Wire) => Promise<void>): Promise<unknown> =>
      Promise.all(
        Array.from({ length: workersCount }, async () => {
          const wire = new Wire(port)
          await work(wire)
          wire.close()
        }),
      )
    const sendUntil = (end: number): Promise<unknown> =>
      onWires(async (wire) => {
        while (made < end) await ask(wire, generator.at(made), made++)
      })
    await sendUntil(warmUp)
    const heapBefore = await readHeap()
    await sendUntil(requestsCount)

    const parameters = generator.parameters().values()
    await onWires(async (wire) => {
      for (const request of parameters) await ask(wire, request, 'of the parameters')
    })
    const wire = new Wire(port)
    for (const request of generator.pages()) {
      const answer = await wire.exchange(toBytes(request)).catch(noAnswer)
      count(`page ${answer?.status ?? 'closed'}`)
      if (!answer || answer.status >= 500)
        blame(`page: ${answer?.status ?? 'no answer'}`, () => toCurl(program.address, request), answer)
    }
    for (let n = 0; n < garbageCount; n++) {
      const bytes = generator.garbage(n)
      const answer = await wire.exchange(bytes, { isAlone: true })
      count(`garbage ${answer?.status ?? 'closed'}`)
      const told = (): string => bytes.toString('latin1').slice(0, 300)
      // Node.js itself refuses requests without Host; HEAD has no body.
      const hasBody = answer !== null && answer.status >= 400 && answer.body.length > 0
      if (answer && answer.status >= 500) blame(`garbage: ${answer.status}`, told, answer)
      if (answer && hasBody && !answer.headers.get('content-type')?.startsWith('application/problem+json'))
        blame(`garbage: ${answer.status} is no problem document`, told, answer)
    }
    const heapAfter = await readHeap()

    if (process.env['FUZZ_REPORT']) {
      const never = readOperations(document).filter(({ method, path }) => !succeeded.has(`${method} ${path}`))
      console.log(
        [...statuses]
          .map((entry) => entry.join(': '))
          .toSorted()
          .join('\n'),
        { heapBefore, heapAfter },
      )
      console.log(`never a success: ${never.map(({ method, path }) => `${method} ${path}`).join(', ')}`)
    }
    // One text, which failures show whole, with the program's log.
    const told = program.stderr.split('\n').filter((line) => line.includes('"request failed"'))
    expect([...faults.values(), ...told].join('\n\n')).toBe('')
    expect(heapAfter).toBeLessThan(heapBefore * 1.5 + 64 * 2 ** 20)
    expect(await readAll(other)).toEqual(theirs)
    expect(await program.client.call('GET', '/healthz')).toMatchObject({ status: 200 })
  },
)
