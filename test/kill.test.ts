/** kill -9 of the service at random moments under load: no accepted message is lost, no held one is submitted twice, and repetitions are marked. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { CarrierProcess, ourNumber, setUpCarrier } from './carrier.ts'
import { checkConservation, summarise, type Evidence } from './conservation.ts'
import { startProgram, type Program } from './harness.ts'
import { Load, seededRandom } from './load.ts'
import { Receiver } from './receiver.ts'
import { until } from './until.ts'
import { gatherEvidence, seed } from './evidence.ts'

const random = seededRandom(seed)
const kills = 3

let carrier: CarrierProcess
let program: Program
let receiver: Receiver
let db: Db
let evidence: Evidence

/** Fates of receipts: most delivered, some undelivered, before the response, three times. */
const endings = ['1001', '1002', '1003', '1004', '1005', '0002', '0005', '0012']

beforeAll(async () => {
  const latencies = ['--response-latency', '1-40', '--receipt-latency', '50-400', '--reply-latency', '0']
  carrier = await CarrierProcess.start(latencies)
  program = await startProgram({
    env: { HELIOGRAM_CARRIER_URL: carrier.url, HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', HELIOGRAM_LOG: 'warn' },
  })
  await setUpCarrier(program.client)
  receiver = await Receiver.start(program.client)
  db = openPool(await program.connection(), { name: 'journey', max: 1 })
})

afterAll(async () => {
  await db?.end()
  await receiver?.close()
  await program?.remove()
  await carrier?.close()
})

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

test(`after ${kills} kills under load, client, ledger, carrier and receiver agree (SEED=${seed})`, async () => {
  // Mostly different people: a receipt is matched by number.
  const recipient = (n: number): string => `1555${String(n % 1000).padStart(3, '0')}${endings[n % endings.length]}`
  const onUnknown = (n: number): 'hold' | 'resend' => (n % 2 === 0 ? 'hold' : 'resend')
  const load = new Load({ client: program.client, rate: 300, recipient, random, onUnknown })
  const typed: string[] = []
  for (let kill = 0; kill < kills; kill++) {
    const before = load.accepted
    const { submits } = await carrier.phones.stats()
    await until('messages are accepted', () => load.accepted > before + 50)
    await until('the carrier gets them', async () => (await carrier.phones.stats()).submits > submits + 50)
    const reply = `r${kill} on my way`
    typed.push(reply)
    await carrier.phones.reply('15552001001', ourNumber, reply)
    await pause(random() * 1000)
    await program.kill9()
    await program.restart()
  }
  const last = load.accepted
  await until('messages are accepted', () => load.accepted > last + 50)
  evidence = await gatherEvidence({ load, db, carrier, receiver }, typed)
  const unconfirmed = evidence.ledger.messages.filter((message) => message.status === 'unconfirmed')
  const unanswered = load.requests.filter((request) => request.id === null).length
  const { submissions, messages } = evidence.ledger
  const unknown = submissions.filter((one) => one.wasUnknown).length
  const adopted = submissions.filter((one) => one.isAdopted).length
  console.log(
    `SEED=${seed}: ${load.accepted} accepted, ${unanswered} requests without an answer, ${unknown} tries unknown, ${adopted} adopted, ` +
      `${messages.filter((message) => message.possibleDuplicate).length} sent again, ${unconfirmed.length} unconfirmed, ` +
      `${evidence.carrier.length} submits`,
  )
  expect(summarise(checkConservation(evidence))).toEqual([])
  expect(load.accepted).toBeGreaterThan(100 * kills)
  expect(unanswered).toBeGreaterThan(0)
  expect(unconfirmed.filter((message) => message.errorCode !== 'outcome_unknown')).toEqual([])
  expect(adopted).toBeGreaterThan(0)
  expect(load.impolite).toEqual([])
  expect(receiver.refused).toEqual([])
}, 300_000)

test.for<[law: string, what: string, spoil: (evidence: Evidence) => void]>([
  ['L1', 'a message is gone from the ledger', ({ ledger }) => void ledger.messages.splice(firstOutbound(ledger), 1)],
  [
    'L2',
    'a key has two messages',
    ({ requests }) => void requests.push({ ...requestWithId(requests, 0), id: requestWithId(requests, 1).id }),
  ],
  [
    'L5',
    'the carrier got what nobody sent',
    ({ carrier }) => void carrier.push({ ...firstOf(carrier), text: 'stranger' }),
  ],
  ['L7', 'the carrier got a held segment twice', (evidence) => void evidence.carrier.push(submitOf(evidence, 'hold'))],
  [
    'L8',
    'a segment went out twice after an answer',
    (evidence) => void evidence.carrier.push(submitOf(evidence, 'resend')),
  ],
  [
    'L8',
    'a message was sent again and does not say so',
    (evidence) => {
      evidence.carrier.push(submitOf(evidence, 'resend'))
      for (const submission of evidence.ledger.submissions) submission.wasUnknown = true
      for (const message of evidence.ledger.messages) message.possibleDuplicate = false
    },
  ],
  ['L9', 'the carrier never got a delivered message', ({ carrier }) => void carrier.shift()],
  ['L10', 'a message is still queued', ({ ledger }) => void (firstDelivered(ledger).status = 'queued')],
  ['L11', 'a receipt that was answered is gone', ({ ledger }) => void ledger.receipts.pop()],
  ['L12', 'a reply that was answered is gone', ({ replies }) => void replies.push('lost')],
  [
    'L13',
    'a message is undelivered against its receipt',
    ({ ledger }) => void (firstDelivered(ledger).status = 'undelivered'),
  ],
  ['L14', 'a message has two events', ({ ledger }) => void ledger.events.push(firstOf(ledger.events))],
  ['L16', 'a message is not counted', ({ ledger }) => void ledger.counterFaults.push('one sent, none counted')],
  ['L15', 'an event never arrived', ({ received }) => void (received as Set<string>).delete(firstOf([...received]))],
])('the checker notices when %s is broken: %s', ([law, , spoil]) => {
  const doctored = structuredClone(evidence)
  spoil(doctored)
  expect(checkConservation(doctored).filter((violation) => violation.startsWith(`${law}:`))).not.toEqual([])
})

function firstOf<T>(items: readonly T[]): T {
  const [first] = items
  if (first === undefined) throw new Error('there is nothing to spoil')
  return first
}

function requestWithId(requests: Evidence['requests'], n: number): Evidence['requests'][number] {
  const answered = requests.filter((request) => request.id !== null)
  return firstOf(answered.slice(n))
}

function submitOf({ carrier, ledger }: Evidence, policy: 'hold' | 'resend'): Evidence['carrier'][number] {
  const words = new Set(
    ledger.messages
      .filter((message) => message.onUnknown === policy && message.status === 'delivered')
      .map((message) => message.text.split(' ')[0]),
  )
  return firstOf(carrier.filter((entry) => entry.status === 'ROK' && words.has(entry.text.split(' ')[0])))
}

const firstDelivered = (ledger: Evidence['ledger']): Evidence['ledger']['messages'][number] =>
  firstOf(ledger.messages.filter((message) => message.status === 'delivered'))

const firstOutbound = (ledger: Evidence['ledger']): number =>
  ledger.messages.findIndex((message) => message.direction === 'outbound' && message.status === 'delivered')
