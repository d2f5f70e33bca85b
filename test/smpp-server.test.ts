/** SMPP clients: Kannel, a foreign implementation, binds, submits, and gets receipts and replies, through kills and changes of its credential. */
import { connectSession } from '@heliogram/smpp'
import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Phones } from './carrier.ts'
import { findPorts, startProgram, type Program } from './harness.ts'
import { Kannel } from './kannel.ts'
import { until } from './until.ts'

interface Credential {
  id: string
  system_id: string
  password: string
  sessions: number
}

let port: number
let program: Program
let phones: Phones
let kannel: Kannel
let credential: Credential
let ours: string

beforeAll(async () => {
  port = (await findPorts(1))[0] ?? 0
  program = await startProgram({ env: { HELIOGRAM_SMPP_SERVER_PORT: String(port) } })
  const { client } = program
  phones = new Phones(Number(/Simulated phones +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.stdout)?.[1]))
  credential = await client.expect<Credential>('POST', '/v1/smpp-credentials', {
    name: 'Kannel',
    receives_replies: true,
  })
  const senders = await client.get<{ data: { number: string; default: boolean }[] }>('/v1/senders')
  ours = senders.data.find((sender) => sender.default)?.number ?? ''
  await client.waitForBound()
  kannel = await Kannel.start({ port, systemId: credential.system_id, password: credential.password })
})

afterAll(async () => {
  await kannel?.close()
  await program?.remove()
})

const showCredential = (): Promise<Credential> => program.client.get(`/v1/smpp-credentials/${credential.id}`)

test('Kannel binds with the API’s values', async () => {
  expect(await showCredential()).toMatchObject({ sessions: 1, last_bound_at: expect.any(String) })
})

test('Kannel’s submits arrive, and its receipts return', async () => {
  const numbers = Array.from({ length: 20 }, (_, i) => `1555160${1000 + i}`)
  await Promise.all(numbers.map((to) => kannel.send(to, ours, to, `For ${to}`)))
  await until('all are delivered, as Kannel sees it', () => numbers.every((to) => kannel.hasReceipt(to, '1')))
  for (const to of numbers) {
    expect(await phones.texts(to)).toEqual([`For ${to}`])
    expect(await program.client.listMessages(`to=${to}`)).toMatchObject([{ status: 'delivered', from: ours }])
  }
  await kannel.send('nobody', ours, '15551600002', 'To nobody')
  await until('the failure is told', () => kannel.hasReceipt('nobody', '2'))
  await kannel.send('stranger', '15550000001', '15551600009', 'From somebody else')
  await until('the refusal is told', () => kannel.hasReceipt('stranger', '16'))
  expect(await program.client.listMessages('to=15551600009')).toEqual([])
})

test('a long text in parts is one message, and arrives complete', async () => {
  const text = 'Grüße aus Köln, wo der Dom steht: Привет. '.repeat(5).trim()
  await kannel.send('long', ours, '15551601101', text)
  await until('it is delivered', () => kannel.hasReceipt('long', '1'))
  expect(await phones.texts('15551601101')).toEqual([text])
  expect(await program.client.listMessages('to=15551601101')).toMatchObject([{ segments: 4, message: text }])
})

test('replies reach Kannel, short and long', async () => {
  const long = 'A long answer, which needs more than one segment. '.repeat(5).trim()
  await phones.reply('15551601201', ours, 'Yes, at six')
  await phones.reply('15551601202', ours, long)
  const came = (from: string): string =>
    kannel.replies
      .filter((reply) => reply.from.endsWith(from))
      .map(({ text }) => text)
      .join('')
  await until('the short one came', () => came('15551601201') === 'Yes, at six')
  await until('the long one came', () => came('15551601202') === long)
  expect(kannel.replies[0]?.to.endsWith(ours)).toBe(true)
})

test('above its pace Kannel is throttled, and still sends everything, once', async () => {
  await program.client.expect('PATCH', `/v1/smpp-credentials/${credential.id}`, { pace: 4 })
  const numbers = Array.from({ length: 20 }, (_, i) => `1555161${1300 + i}`)
  await Promise.all(numbers.map((to) => kannel.send(to, ours, to, `For ${to}`)))
  await until('all are delivered', () => numbers.every((to) => kannel.hasReceipt(to, '1')))
  for (const to of numbers) expect(await phones.texts(to)).toHaveLength(1)
  await program.client.expect('PATCH', `/v1/smpp-credentials/${credential.id}`, { pace: 100 })
})

test('after a kill -9 Kannel binds again, and every answered message has its receipt', async () => {
  const numbers = Array.from({ length: 30 }, (_, i) => `1555162${1400 + i}`)
  await Promise.all(numbers.map((to) => kannel.send(to, ours, to, `For ${to}`)))
  await until('some are answered', () => numbers.filter((to) => kannel.hasReceipt(to, '8')).length >= 5)
  await program.kill9()
  const answered = numbers.filter((to) => kannel.hasReceipt(to, '8'))
  await program.restart()
  phones = new Phones(Number(/Simulated phones +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.stdout)?.[1]))
  await until('Kannel is bound again', () => kannel.isBound())
  // Unanswered submits are unconfirmed, and no receipt is invented for them.
  const isOver = async (to: string): Promise<boolean> => {
    const messages = await program.client.listMessages(`to=${to}`)
    const unconfirmed = messages.some(({ status }) => status === 'unconfirmed' || status === 'sent')
    return kannel.hasReceipt(to, '1') || kannel.hasReceipt(to, '2') || unconfirmed
  }
  for (const to of numbers) await until(`the message to ${to} is told of`, () => isOver(to))
  for (const to of numbers) {
    const messages = await program.client.listMessages(`to=${to}`)
    if (messages.some(({ status }) => status === 'delivered'))
      await until(`the receipt of the message to ${to} is there`, () => kannel.hasReceipt(to, '1'))
  }
  for (const to of answered) expect((await program.client.listMessages(`to=${to}`)).length).toBeGreaterThan(0)
})

test('a rotated password ends the session within five seconds', async () => {
  expect((await showCredential()).sessions).toBe(1)
  await program.client.expect('POST', `/v1/smpp-credentials/${credential.id}/rotate-password`)
  await until('the session is over', async () => (await showCredential()).sessions === 0)
  expect(program.stderr).not.toContain('"level":50')
})

test('with a certificate the port uses TLS, and with a wrong one the start says so', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'heliogram-tls-'))
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', [...request, ...name, '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' })
  const made = await program.client.expect<Credential>('POST', '/v1/smpp-credentials', { name: 'TLS' })
  await program.stop()
  const settings = { HELIOGRAM_SMPP_SERVER_TLS_CERT: certFile, HELIOGRAM_SMPP_SERVER_TLS_KEY: keyFile }
  await program.restart(settings)
  const session = connectSession<null>({
    host: '127.0.0.1',
    port,
    tls: { servername: 'localhost', ca: await readFile(certFile) },
    windowMax: 1,
    bind: { mode: 'transceiver', system_id: made.system_id, password: made.password },
  })
  await session.whenBound()
  await session.unbind(1000)
  await program.stop()
  const refused = async (wrong: Record<string, string>): Promise<string> => {
    const earlier = program.stderr.length
    await expect(program.restart({ ...settings, ...wrong })).rejects.toThrow()
    return program.stderr.slice(earlier)
  }
  const swapped = await refused({
    HELIOGRAM_SMPP_SERVER_TLS_CERT: keyFile,
    HELIOGRAM_SMPP_SERVER_TLS_KEY: certFile,
  })
  expect(swapped).toContain(`HELIOGRAM_SMPP_SERVER_TLS_CERT cannot be used: ${keyFile} must be a certificate in PEM (`)
  expect(swapped).toContain(`HELIOGRAM_SMPP_SERVER_TLS_KEY cannot be used: ${certFile} must be a private key in PEM, `)
  const other = join(folder, 'other.pem')
  execFileSync('openssl', [...request, ...name, '-keyout', other, '-out', '/dev/null'], { stdio: 'ignore' })
  expect(await refused({ HELIOGRAM_SMPP_SERVER_TLS_KEY: other })).toContain(
    `${other} is not the private key of the certificate in ${certFile}.`,
  )
  await rm(folder, { recursive: true })
})
