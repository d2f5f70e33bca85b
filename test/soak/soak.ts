/**
 * npm run soak: rounds of a whole world with random faults, after each of which the books of client, ledger, carrier and receiver must agree
 * (conservation.ts). `--help` lists the options.
 */
import { readOptions, readWhole, refuse } from '../../scripts/options.ts'
import type { Db } from '../../server/ground/db/db.ts'
import { parseId } from '../../server/ground/base/ids.ts'
import { checkConservation, summarise } from '../conservation.ts'
import { seededRandom } from '../load.ts'
import { until } from '../until.ts'
import { gatherEvidence } from '../evidence.ts'
import { checkData, settleData, withoutGone } from './data.ts'
import { lanes, runLane, tend } from './faults.ts'
import { inspect } from './inspect.ts'
import { bothOf, isAlive, openWorld, type World } from './world.ts'

const help = `npm run soak [-- options]
Each round starts a database, two processes, a carrier and a client's server, lets everything fail by chance under load, and
compares what each of them knows in the end. Ends with 1 where they do not agree.
  --rounds N    worlds, one after the other (5)
  --seconds N   how long things fail in each (60)
  --rate N      messages a second (150)
  --seed N      what chance begins with; each round adds one. The first line says it, to repeat a round (random)
  --faults LIST only these lanes, of: ${Object.keys(lanes).join(', ')} (all)
`

const values = readOptions(help, {
  rounds: { type: 'string', default: '5' },
  seconds: { type: 'string', default: '60' },
  rate: { type: 'string', default: '150' },
  seed: { type: 'string', default: String(Math.floor(Math.random() * 1e9)) },
  faults: { type: 'string', default: Object.keys(lanes).join() },
})

const read = (name: 'rounds' | 'seconds' | 'rate' | 'seed'): number => readWhole(help, name, values[name], 1, 1e9)
const [rounds, seconds, rate, firstSeed] = [read('rounds'), read('seconds'), read('rate'), read('seed')]
const chosen = values.faults
  .split(',')
  .map(
    (name) =>
      lanes[name] ?? refuse(`--faults: there is no "${name}"; there are ${Object.keys(lanes).join(', ')}.`, help),
  )
let current: World | null = null
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => {
    console.log(`${signal}: what was begun is closed; once more ends it at once.`)
    void (current?.close() ?? Promise.resolve()).catch(console.error).finally(() => process.exit(1))
  })
let violated = 0
for (let round = 0; round < rounds; round++) violated += (await runRound(firstSeed + round)) ? 0 : 1
console.log(violated === 0 ? `${rounds} rounds, all books agree.` : `${violated} of ${rounds} rounds broke a law.`)
process.exitCode = violated === 0 ? 0 : 1

/** One world from start to books; returns whether they agree. */
async function runRound(seed: number): Promise<boolean> {
  const startedAt = performance.now()
  const world = await openWorld({ random: seededRandom(seed), rate })
  current = world
  const counts = new Map<string, number>()
  const befall = async (): Promise<string[]> => {
    const end = performance.now() + seconds * 1000
    const say = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)
    const isOver = (): boolean => performance.now() > end
    let isSettled = false
    const tending = tend(world, () => isSettled)
    await Promise.all(chosen.map((lane) => runLane(world, lane, isOver, say)))
    const violations = await settle(world).catch((error: unknown) => [`no rest: ${String(error)}`])
    isSettled = true
    await tending
    return [...violations, ...(await inspect(world, violations))]
  }
  let violations: string[]
  try {
    violations = await befall()
  } finally {
    await world.close().catch((error: unknown) => world.faults.push(String(error)))
  }
  violations.push(...world.faults)
  console.log(
    `seed ${seed}: ${world.load.accepted} accepted, ${world.smppLoad.accepted} over SMPP, ${world.broadcasts.length} broadcasts, ` +
      `${[...counts].map(([name, count]) => `${count} ${name}`).join(', ')}; ` +
      `${violations.length === 0 ? 'all agree' : 'BROKEN'} (${((performance.now() - startedAt) / 1000).toFixed(0)} s)`,
  )
  for (const violation of violations) console.log(`  ${violation}`)
  return violations.length === 0
}

/** Brings a world without faults to rest, and compares its books. */
async function settle(world: World): Promise<string[]> {
  const { carriers, nodes, load, smppLoad, receiver, replies, db, client } = world
  for (const { phones } of carriers) await phones.control({ reset: true })
  await until(
    'both processes run',
    async () => nodes.every(isAlive) && (await countBeating(db)) === nodes.length,
    60_000,
  )
  await client.waitForBound(90_000)
  // With more load than a slow machine can do, a broadcast would not end.
  await Promise.all([load.finish(), smppLoad.finish(db)])
  for (const { campaign } of world.broadcasts)
    await until(
      `the broadcast of ${campaign} is over`,
      async () => ['completed', 'canceled'].includes((await broadcastOf(world, campaign))?.status ?? ''),
      120_000,
    )
  await replay(world)
  await settleData(world)
  const all = await gatherEvidence({ load, db, carrier: bothOf(world), receiver }, replies)
  await smppLoad.untilTold(db)
  const evidence = { ...withoutGone(all, world), calledOff: world.calledOff }
  const violations = [...summarise(checkConservation(evidence)), ...(await checkData(world, all))]
  for (const { campaign, contacts, isCanceled } of world.broadcasts) {
    const { status, recipients, messages } = (await broadcastOf(world, campaign)) ?? {}
    if (status === 'canceled' ? !isCanceled : recipients !== contacts || messages !== contacts)
      violations.push(`${campaign} is ${status}: ${contacts} contacts, ${recipients} recipients, ${messages} messages`)
  }
  const idsOf = new Map(evidence.ledger.messages.map(({ id, text }) => [text, id]))
  for (const { texts, ids } of world.batches) {
    const missing = ids.filter((id, i) => idsOf.get(texts[i] ?? '') !== parseId('msg', id))
    if (missing.length > 0)
      violations.push(
        `${missing.length} of ${texts.length} messages of a batch are not as it was answered: ${missing[0]}`,
      )
  }
  for (const id of world.taken) {
    const message = evidence.ledger.messages.find((one) => one.id === parseId('msg', id))
    const isAtCarrier = evidence.carrier.some(({ text }) => text.split(' ')[0] === message?.text.split(' ')[0])
    if (message?.status !== 'canceled' || isAtCarrier)
      violations.push(`${id} was taken back, is ${message?.status}, and ${isAtCarrier ? '' : 'not '}at the carrier`)
  }
  violations.push(...summarise(smppLoad.check(evidence.ledger)), ...load.impolite, ...receiver.refused)
  return violations
}

/** Unfenced processes with a recent heartbeat: one that was frozen for long is alive, but about to end itself. */
async function countBeating(db: Db): Promise<number> {
  const { rowCount } = await db.query(
    `select from nodes n join heartbeats h on h.node_id = n.id
     where n.fenced_at is null and h.seen_at > now() - interval '3 seconds'`,
  )
  return rowCount ?? 0
}

/** Replays events that the receiver missed; waits for this replay and earlier ones. */
async function replay({ client, openedAt, hasMissed }: World): Promise<void> {
  if (!hasMissed) return
  const { data } = await client.get<{ data: { id: string }[] }>('/v1/webhooks')
  const path = `/v1/webhooks/${data[0]?.id}`
  await client.expect('PATCH', path, { enabled: true })
  const areOver = async (): Promise<boolean> =>
    (await client.get<{ data: { status: string }[] }>(`${path}/replays`)).data.every(
      ({ status }) => status !== 'running',
    )
  await until('the replays of the round are over', areOver, 90_000)
  await client.expect('POST', `${path}/replay`, { since: openedAt.toISOString() })
  await until('all was replayed', areOver, 90_000)
}

interface Broadcast {
  status: string
  recipients: number
  messages: number
}

async function broadcastOf({ client }: World, campaign: string): Promise<Broadcast | undefined> {
  return (await client.get<{ data: Broadcast[] }>(`/v1/campaigns/${campaign}/broadcasts`)).data[0]
}
