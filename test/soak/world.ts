/** What a round of the soak is made of: a database, two processes of the program, two carriers, a client's server, and a client. */
import { join } from 'node:path'
import { openPool, type Db } from '../../server/ground/db/db.ts'
import { CarrierProcess, ourNumber, setUpCarrier, type Phones } from '../carrier.ts'
import { Client } from '../client.ts'
import { findPorts, signalProcess, startDurable, startProgram, type Program } from '../harness.ts'
import { Load } from '../load.ts'
import { DatabaseProxy } from '../proxy.ts'
import { Receiver } from '../receiver.ts'
import { SmppLoad } from './smpp-load.ts'

/** A process of the program with its own way to the database. */
export interface Node {
  program: Program
  proxy: DatabaseProxy
  /** False while a fault has it. */
  isUp: boolean
  /** How much all its processes before this one have logged. */
  loggedBefore: number
}

export interface World {
  random: () => number
  nodes: [Node, Node]
  /** They share the messages, and each takes what the other refuses, or while that is away. */
  carriers: [CarrierProcess, CarrierProcess]
  receiver: Receiver
  /** Asks either process. */
  client: Client
  db: Db
  load: Load
  smppLoad: SmppLoad
  /** Texts that were typed on phones. */
  replies: string[]
  /** Broadcasts that were ordered: their campaigns, and of how many contacts. */
  broadcasts: { campaign: string; contacts: number; isCanceled: boolean }[]
  /** Ids of messages that were taken back in time; `calledOff`: also too late, or maybe so. */
  taken: string[]
  calledOff: string[]
  /** Batches: their texts, and the ids that they were answered with, if they were. */
  batches: { texts: string[]; ids: string[] }[]
  /** Files of contacts, each of a campaign of its own, and how many of their rows are whose first, come again, and are no contacts. */
  imports: { id: string; campaign: string; created: number; duplicate: number; failed: number }[]
  /** Messages whose texts go: those to a number that is erased, or whose texts were not to be kept. By the first words of their texts. */
  gone: { erasure: string | null; number: string; ids: Map<string, string> }[]
  /** People who have opted out. */
  out: string[]
  openedAt: Date
  /** The receiver may have missed events, because its webhook was disabled: also older ones, whose posts waited. */
  hasMissed: boolean
  /** What went wrong by itself, such as a process that ended unasked. */
  faults: string[]
  /** @throws what the processes left, such as a number in a log. */
  close(): Promise<void>
}

/** What befalls a world. */
export type Fault = (world: World) => Promise<void>

// Of the carrier's well-known recipients those that always bring a receipt, three of them before the response.
const endings = ['1001', '1002', '1003', '1004', '1005', '0002', '0005', '0012']

// Short ones: most faults are over before the usual ones end.
const timers = { response_timeout_seconds: 5, enquire_link_seconds: 2, enquire_timeout_seconds: 2 }

interface SmppCredential {
  system_id: string
  password: string
}

/** Starts everything, empty, and the load with it: `rate` messages a second. */
export async function openWorld({ random, rate }: { random: () => number; rate: number }): Promise<World> {
  const openedAt = new Date()
  const closing: (() => Promise<unknown>)[] = []
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).toReversed()) await end()
  }
  try {
    const server = await startDurable()
    closing.push(() => server.close())
    const startCarrier = async (): Promise<CarrierProcess> => {
      const carrier = await CarrierProcess.start(['--response-latency', '1-40', '--receipt-latency', '50-400'])
      closing.push(() => carrier.close())
      return carrier
    }
    const carriers: [CarrierProcess, CarrierProcess] = [await startCarrier(), await startCarrier()]
    const nodes: Node[] = []
    const smppPorts = await findPorts(2)
    for (const smppPort of smppPorts) {
      const proxy = await DatabaseProxy.start(server.url)
      closing.push(() => proxy.close())
      const [first] = nodes
      const program = await startProgram({
        env: {
          DATABASE_URL: proxy.url,
          HELIOGRAM_CARRIER_URL: carriers[0].url,
          HELIOGRAM_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
          HELIOGRAM_LOG: 'warn',
          HELIOGRAM_SMPP_SERVER_PORT: String(smppPort),
          HELIOGRAM_KEY_FILE: first && join(first.program.dataFolder, 'key'),
        },
      })
      closing.push(() => program.remove())
      if (first) program.client.key = first.program.client.key
      else await setUpCarrier(program.client, timers)
      nodes.push({ program, proxy, isUp: true, loggedBefore: 0 })
    }
    const [one, other] = nodes
    if (!one || !other) throw new Error('two processes were to be started')
    // A session for each of them.
    await one.program.client.expect('PATCH', `/v1/carriers/${(await one.program.client.carrier()).id}`, {
      settings: { sessions: 2 },
    })
    await addCarrier(one.program.client, carriers[1])
    const address = (): string => {
      const up = nodes.filter((node) => node.isUp)
      return (up[Math.floor(random() * up.length)] ?? one).program.address
    }
    const client = new Client(address, one.program.client.key)
    const receiver = await Receiver.start(client)
    closing.push(() => receiver.close())
    const db = openPool({ connectionString: server.url }, { name: 'soak', max: 2 })
    closing.push(() => db.end())
    const recipient = (n: number): string => `1555${String(n % 1000).padStart(3, '0')}${endings[n % endings.length]}`
    const onUnknown = (n: number): 'hold' | 'resend' => (n % 2 === 0 ? 'hold' : 'resend')
    const load = new Load({ client, rate, recipient, random, onUnknown })
    closing.push(() => load.finish())
    const smppClient = { name: 'Soak', pace: 10_000 }
    const credential = await client.expect<SmppCredential>('POST', '/v1/smpp-credentials', smppClient)
    const smppLoad = new SmppLoad({ ports: smppPorts, credential, rate: rate / 5, recipient, random })
    closing.push(async () => smppLoad.close())
    return {
      random,
      nodes: [one, other],
      carriers,
      receiver,
      client,
      db,
      load,
      smppLoad,
      replies: [],
      broadcasts: [],
      taken: [],
      calledOff: [],
      batches: [],
      imports: [],
      gone: [],
      out: [],
      openedAt,
      hasMissed: false,
      faults: [],
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function addCarrier(client: Client, { smppPort }: CarrierProcess): Promise<void> {
  const { id } = await client.expect<{ id: string }>('POST', '/v1/carriers', {
    name: 'Second',
    kind: 'smpp',
    pace: 2000,
    settings: { host: '127.0.0.1', port: smppPort, system_id: 'heliogram', window: 200, sessions: 2, ...timers },
    password: 'secret',
  })
  await client.expect('POST', '/v1/senders', { number: ourNumber, carrier: id })
  const first = await client.carrier()
  await client.expect('POST', '/v1/routes', {
    name: 'Both',
    match: {},
    carriers: [{ carrier: first.id }, { carrier: id }],
  })
}

/** Both carriers, as one witness. */
export function bothOf({ carriers: [first, second] }: World): { phones: Pick<Phones, 'stats' | 'ledger'> } {
  return {
    phones: {
      async stats() {
        const [one, other] = [await first.phones.stats(), await second.phones.stats()]
        const sum = (name: 'held' | 'receiptsDue' | 'receiptsAnswered' | 'repliesTyped' | 'repliesAnswered'): number =>
          one[name] + other[name]
        return {
          ...one,
          held: sum('held'),
          receiptsDue: sum('receiptsDue'),
          receiptsAnswered: sum('receiptsAnswered'),
          repliesTyped: sum('repliesTyped'),
          repliesAnswered: sum('repliesAnswered'),
        }
      },
      ledger: async () => [...(await first.phones.ledger()), ...(await second.phones.ledger())],
    },
  }
}

/** Whether the process of a node is there. */
export const isAlive = ({ program }: Node): boolean => signalProcess(program.pid, 0)
