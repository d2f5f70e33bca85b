/** A round of the soak: a database, two processes of the program, two carriers, a client's server, and a client. */
import { join } from 'node:path'
import { openPool, type Db } from '../../server/ground/db/db.ts'
import { CarrierProcess, ourNumber, setUpCarrier, type Phones } from '../carrier.ts'
import { Client } from '../client.ts'
import { findPorts, signalProcess, startDurable, startProgram, type Program } from '../harness.ts'
import { Load } from '../load.ts'
import { DatabaseProxy } from '../proxy.ts'
import { Receiver } from '../receiver.ts'
import { SmppLoad } from './smpp-load.ts'

/** A process of the program with its own connection to the database. */
export interface Node {
  program: Program
  proxy: DatabaseProxy
  isUp: boolean
  loggedBefore: number
}

export interface World {
  random: () => number
  nodes: [Node, Node]
  /** They share the messages, and each replaces the other after a refusal or during an outage. */
  carriers: [CarrierProcess, CarrierProcess]
  receiver: Receiver
  client: Client
  db: Db
  load: Load
  smppLoad: SmppLoad
  replies: string[]
  /** Started broadcasts: their campaigns and numbers of contacts. */
  broadcasts: { campaign: string; contacts: number; isCanceled: boolean }[]
  /** Ids of messages canceled in time; `calledOff`: maybe too late. */
  taken: string[]
  calledOff: string[]
  /** Texts of batches, and their ids if the response came. */
  batches: { texts: string[]; ids: string[] }[]
  /** Contact files, each for its own campaign, with their counts of new, repeated and invalid rows. */
  imports: { id: string; campaign: string; created: number; duplicate: number; failed: number }[]
  /** Messages whose texts are removed: to an erased number, or not to be kept. By the first words of their texts. */
  gone: { erasure: string | null; number: string; ids: Map<string, string> }[]
  out: string[]
  openedAt: Date
  /** The receiver may have missed events, also older ones with pending posts, because its webhook was disabled. */
  hasMissed: boolean
  faults: string[]
  /** @throws what the processes left, such as a number in a log */
  close(): Promise<void>
}

export type Fault = (world: World) => Promise<void>

// Well-known recipients that always bring a receipt, three of them before the response.
const endings = ['1001', '1002', '1003', '1004', '1005', '0002', '0005', '0012']

// Short: most faults end before the default timers.
const timers = { response_timeout_seconds: 5, enquire_link_seconds: 2, enquire_timeout_seconds: 2 }

interface SmppCredential {
  system_id: string
  password: string
}

/** Starts everything, empty, and the load at `rate` messages a second. */
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

export const isAlive = ({ program }: Node): boolean => signalProcess(program.pid, 0)
