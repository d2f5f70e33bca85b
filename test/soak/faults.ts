/** Faults of a soak. Those of a lane run in sequence, those of different lanes concurrently. Each repairs its damage before it ends. */
import { signalProcess, withChildren } from '../harness.ts'
import { until } from '../until.ts'
import { dataFaults } from './data.ts'
import { insist, pause } from './insist.ts'
import { isAlive, type Fault, type Node, type World } from './world.ts'

interface Batch {
  results: { message?: { id: string } }[]
}

export const lanes: Record<string, Record<string, Fault>> = {
  processes: {
    async kill(world) {
      const node = await takeNode(world)
      await node.program.kill9()
      await pause(world.random() * 4000)
      await begin(world, node)
    },
    async stop(world) {
      const node = await takeNode(world)
      const { code, signal, stderr } = await node.program.stop()
      // A process that was frozen for too long may be ending itself.
      if (code !== 0 && !wasFenced(node))
        world.faults.push(`a process that was asked to stop ended with ${code ?? signal}: ${stderr.slice(-1000)}`)
      await begin(world, node)
    },
    // Too short for fencing.
    freeze: (world) => freeze(world, world.random() * 12_000),
    // A fenced process ends itself on waking (`tend`).
    fence: (world) => freeze(world, 17_000 + world.random() * 5000),
  },

  database: {
    async terminate({ db, random }) {
      await db.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where pid <> pg_backend_pid() and backend_type = 'client backend' and random() < $1`,
        [random()],
      )
    },
    // Executed work, whose response is lost.
    async cut({ nodes, random }) {
      await nodes[random() < 0.5 ? 0 : 1].proxy.cut(random() * 200)
    },
    async crash({ db }) {
      const { rows } = await db.query<{ file: string }>(`select pg_read_file('postmaster.pid') as file`)
      const pid = Number.parseInt(rows[0]?.file ?? '', 10)
      signalProcess(pid, 'SIGKILL')
      await until('PostgreSQL runs again', async () => (await db.query('select 1')).rows.length === 1, 60_000)
    },
    async block({ db, random }) {
      const tables = ['messages', 'outbox', 'queue', 'events', 'nodes']
      const blocker = await db.connect()
      try {
        await blocker.query(
          `begin; lock table ${tables[Math.floor(random() * tables.length)]} in access exclusive mode`,
        )
        await pause(random() * 3000)
        await blocker.query('rollback')
      } finally {
        blocker.release()
      }
    },
  },

  carrier: {
    async deed({ carriers, random }) {
      const { phones } = carriers[random() < 0.5 ? 0 : 1]
      const deeds = ['drop', 'reset', 'half_open', 'unbind', 'partial_pdu', 'garbage', 'length_zero', 'stray_response']
      await phones.control({ do: deeds[Math.floor(random() * deeds.length)] })
    },
    // Without faults that refuse accepted submits, which cannot be accounted for.
    async submits({ carriers, random }) {
      const { phones } = carriers[random() < 0.5 ? 0 : 1]
      const answers = ['silent', 'drop', 'unbind', 'nack', 'silent_taken', 'drop_taken', 'RTHROTTLED', 'RSYSERR']
      const submit = answers[Math.floor(random() * answers.length)]
      await phones.control({ submit, submitTimes: 1 + Math.floor(random() * 20) })
      await pause(1000)
      await phones.control({ submit: 'accept', submitTimes: 0 })
    },
    async throttle({ carriers, random }) {
      const { phones } = carriers[random() < 0.5 ? 0 : 1]
      await phones.control({ throttleRatio: 0.3 * random() })
      await pause(random() * 4000)
      await phones.control({ throttleRatio: 0 })
    },
    async still({ carriers, random }) {
      const { phones } = carriers[random() < 0.5 ? 0 : 1]
      await phones.control({ isPaused: true })
      // Also beyond the response timer.
      await pause(random() * 8000)
      await phones.control({ isPaused: false })
    },
    // An unheard answer to a reply looks like a person who repeats it, so replies come only from the first carrier.
    async receipts({ carriers: [, { phones }], random }) {
      await phones.control({ isHoldingReceipts: true })
      await pause(random() * 4000)
      await phones.control({ isHoldingReceipts: false, deliver: 'deaf', deliverTimes: 1 + Math.floor(random() * 50) })
    },
    async answers({ carriers, random }) {
      const { phones } = carriers[random() < 0.5 ? 0 : 1]
      await phones.control({ deliver: 'drop', deliverTimes: 1 + Math.floor(random() * 3) })
    },
    async away({ carriers, random }) {
      const { phones } = carriers[random() < 0.5 ? 0 : 1]
      await phones.control({ connect: random() < 0.5 ? 'drop' : 'half_open', do: 'drop' })
      await pause(random() * 5000)
      await phones.control({ connect: 'accept' })
    },
    async binds({ carriers, random }) {
      const { phones } = carriers[random() < 0.5 ? 0 : 1]
      const answers = ['silent', 'nack', 'drop', 'RBINDFAIL', 'RALYBND']
      const bind = answers[Math.floor(random() * answers.length)]
      await phones.control({ bind, bindTimes: 2, do: 'drop' })
      await pause(2000)
      await phones.control({ bind: 'accept', bindTimes: 0 })
    },
  },

  clients: {
    async leave({ smppLoad, random }) {
      smppLoad.leave(random() < 0.5)
    },
    async silent({ smppLoad, random }) {
      smppLoad.isAnswering = false
      await pause(random() * 3000)
      smppLoad.isAnswering = true
    },
  },

  callers: {
    // About when it is due.
    async cancel(world) {
      const { load, random, taken } = world
      const ms = 1000 + random() * 3000
      const id = await load.send({ send_at: new Date(Date.now() + ms).toISOString() })
      if (id !== null) world.calledOff.push(id)
      await pause(ms * 2 * random())
      const { status } = await insist<{ status: string | number }>(
        world,
        'POST',
        `/v1/messages/${id}/cancel`,
        {},
        [200, 409],
      )
      if (id !== null && status === 'canceled') taken.push(id)
    },
    // Repeated with its key, a partly written batch continues.
    async batch(world) {
      const { random, batches } = world
      const [n, size] = [batches.length, 2 + Math.floor(random() * 800)]
      const messages = Array.from({ length: size }, (_, i) => ({
        to: `1555202${1000 + i}`,
        message: `x${n}i${i} of a batch`,
      }))
      const batch = { texts: messages.map(({ message }) => message), ids: [] as string[] }
      batches.push(batch)
      const answer = await insist<Batch>(
        world,
        'POST',
        '/v1/messages/batch',
        { messages, ...(random() < 0.3 && { atomic: true }) },
        [202],
        `batch-${n}`,
      )
      batch.ids = answer.results.map(({ message }) => message?.id ?? '')
    },
    async optOut(world) {
      const { load, random, taken, out, faults } = world
      const to = `1606201${1000 + out.length}`
      out.push(to)
      const at = Date.now() + random() * 5000
      const send_at = new Date(at).toISOString()
      const ids = await Promise.all([load.send({ to, send_at }), load.send({ to, send_at }), load.send({ to })])
      world.calledOff.push(...ids.flatMap((id) => id ?? []))
      await insist(world, 'POST', '/v1/opt-outs', { number: to }, [200, 201])
      // Queued ones were not due yet.
      if (Date.now() < at) taken.push(...ids.slice(0, 2).flatMap((id) => id ?? []))
      if ((await load.send({ to })) !== null) faults.push(`a message to ${to}, who had opted out, was taken`)
    },
    async mute(world) {
      const { data } = await insist<{ data: { id: string }[] }>(world, 'GET', '/v1/webhooks', undefined, [200])
      const path = `/v1/webhooks/${data[0]?.id}`
      const since = new Date()
      world.hasMissed = true
      await insist(world, 'PATCH', path, { enabled: false }, [200])
      await pause(world.random() * 3000)
      await insist(world, 'PATCH', path, { enabled: true }, [200])
      await insist(world, 'POST', `${path}/replay`, { since: since.toISOString() }, [202, 422])
    },
  },

  people: {
    async reply(world) {
      for (let left = 1 + world.random() * 20; left > 0; left--) {
        const text = `r${world.replies.length} on my way`
        world.replies.push(text)
        await world.carriers[0].phones.reply('15552001001', '15557654321', text)
        await pause(world.random() * 300)
      }
    },
    async broadcast(world) {
      const { client, broadcasts, random } = world
      const n = broadcasts.length
      const contacts = 100 + Math.floor(random() * 900)
      const broadcast = { campaign: `sale-${n}`, contacts, isCanceled: false }
      broadcasts.push(broadcast)
      const rows = Array.from({ length: contacts }, (_, i) => ({
        phone_number: `+1555${300 + (n % 600)}${1000 + i}`,
        attributes: { word: `b${n}c${i}` },
      }))
      const path = `/v1/campaigns/sale-${n}`
      await insist(world, 'POST', '/v1/campaigns', { name: `Sale ${n}`, key: `sale-${n}` }, [201, 409])
      const { id } = await insist<{ id: string }>(world, 'POST', `${path}/contacts/import`, { contacts: rows }, [202])
      let job: { status: string } | null = null
      const isThere = async (): Promise<boolean> => {
        job = await client.get<{ status: string }>(`/v1/imports/${id}`)
        return job.status === 'completed'
      }
      await until(`the contacts of ${path} are there`, isThere, 120_000).catch((error: unknown) => {
        throw new Error(`${String(error)}, but ${JSON.stringify(job)}`, { cause: error })
      })
      const order = { message: '{{ word }} is invited', ...(random() < 0.3 && { max_rate: 6000 }) }
      await insist(world, 'POST', `${path}/send`, order, [202], `sale-${n}`)
      const chance = random()
      if (chance < 0.4) return
      await pause(random() * 1000)
      if (chance < 0.6) {
        broadcast.isCanceled = true
        await insist(world, 'POST', `${path}/cancel`, {}, [200])
        return
      }
      await insist(world, 'POST', `${path}/pause`, {}, [200, 409])
      await pause(random() * 3000)
      await insist(world, 'POST', `${path}/resume`, {}, [200, 409])
    },
    async disable(world) {
      const { data } = await insist<{ data: { id: string }[] }>(world, 'GET', '/v1/carriers', undefined, [200])
      const carrier = `/v1/carriers/${data[world.random() < 0.5 ? 0 : 1]?.id}`
      await insist(world, 'PATCH', carrier, { enabled: false }, [200])
      await pause(world.random() * 3000)
      await insist(world, 'PATCH', carrier, { enabled: true, pace: 500 + Math.floor(world.random() * 1500) }, [200])
    },
  },

  data: dataFaults,
}

export async function runLane(
  world: World,
  faults: Record<string, Fault>,
  isOver: () => boolean,
  say: (name: string) => void,
): Promise<void> {
  const all = Object.entries(faults)
  while (!isOver()) {
    await pause(500 + world.random() * 4000)
    const fault = all[Math.floor(world.random() * all.length)]
    if (!fault || isOver()) continue
    const [name, befall] = fault
    say(name)
    await befall(world).catch((error: unknown) => {
      // Concurrent faults may fail: a killed database answers no request.
      if (name === 'broadcast' || name === 'kill') world.faults.push(`${name}: ${String(error)}`)
    })
  }
}

/** One of the two while it is up: a fenced one may be restarting (`tend`). */
async function takeNode({ nodes, random }: World): Promise<Node> {
  const node = nodes[random() < 0.5 ? 0 : 1]
  await until('the process is up', async () => node.isUp, 60_000)
  node.isUp = false
  return node
}

/** Freezes a process, which its watchdog may end; or its machine, including the watchdog. */
async function freeze(world: World, ms: number): Promise<void> {
  const node = await takeNode(world)
  const { pid } = node.program
  const frozen = world.random() < 0.5 ? [pid] : await withChildren(pid)
  for (const one of frozen) signalProcess(one, 'SIGSTOP')
  await pause(ms)
  for (const one of frozen.toReversed()) signalProcess(one, 'SIGCONT')
  await begin(world, node)
}

/** The service manager: restarts processes that ended by themselves, which only fenced ones may, until `isOver`. */
export async function tend(world: World, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await pause(200)
    for (const node of world.nodes) {
      if (!node.isUp || isAlive(node)) continue
      node.isUp = false
      if (!wasFenced(node)) world.faults.push(`a process ended by itself: ${logOf(node).slice(-1000)}`)
      await begin(world, node)
    }
  }
}

const logOf = ({ program, loggedBefore }: Node): string => program.stderr.slice(loggedBefore)
const wasFenced = (node: Node): boolean => logOf(node).includes('fenced by another node')

async function begin(world: World, node: Node): Promise<void> {
  node.loggedBefore = node.program.stderr.length
  // Without the database the start waits or fails; a service manager retries.
  for (let tries = 0; !isAlive(node) && tries < 10; tries++)
    await node.program.restart().catch(async (error: unknown) => {
      if (tries === 9) world.faults.push(`a process did not start: ${String(error)}`)
      await pause(1000)
    })
  node.isUp = true
}
