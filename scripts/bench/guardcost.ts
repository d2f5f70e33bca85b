/** CPU of the guard's own functions, call by call in this process: with warm caches, thus the least that they cost. */
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import Fastify, { type FastifyReply } from 'fastify'
import { openAuthenticator } from '../../server/accounts/authenticate.ts'
import { openPool } from '../../server/ground/db/db.ts'
import { openDoor, refuseStranger, takeRequest } from '../../server/program/door/door.ts'
import { headersOf } from '../../server/program/guard.ts'
import { quantile } from './tally.ts'

const rounds = 15
const calls = 50_000
// The loop must not come to its limit, where it would measure refusals.
const perSecond = 100_000_000

/** Microseconds a call. */
export interface GuardCost {
  authenticate: number
  /** Taking a request from the bucket and setting its two fields. */
  take: number
  /** What the two fields add to writing the head. */
  write: number
}

/** Measures with the key of a service, in its database. */
export async function measureGuard(url: string, key: string): Promise<GuardCost> {
  const db = openPool({ connectionString: url }, { name: 'guard', max: 1 })
  try {
    const door = openDoor({ perSecond })
    const authenticator = openAuthenticator(db, (ip) => refuseStranger(door, ip))
    const ip = '127.0.0.1'
    const authorization = `Bearer ${key}`
    const newReply = await findReplies()
    const common = { ...headersOf('http://localhost'), 'cache-control': 'no-store', 'x-request-id': 'req_' }
    const limited = newReply()
    const caller = await authenticator.authenticate(authorization, ip)
    takeRequest(door, caller, limited.headers(common))
    const plainHead = { ...common }
    const limitedHead = { ...limited.getHeaders() } as Record<string, string>
    const message = new IncomingMessage(new Socket())

    const costs: GuardCost[] = []
    for (let round = -2; round < rounds; round++) {
      // A caller is remembered for seconds: long enough for a round.
      authenticator.forget()
      await authenticator.authenticate(authorization, ip)
      const authenticate = usOf(() => {
        if (authenticator.authenticate(authorization, ip) instanceof Promise) throw new Error('the key was forgotten')
      })
      const prepare = usOf(() => void newReply().headers(common))
      const prepareAndTake = usOf(() => {
        if (takeRequest(door, caller, newReply().headers(common)) !== null) throw new Error('the limit was reached')
      })
      const writePlain = usOf(() => void new ServerResponse(message).writeHead(202, plainHead))
      const writeLimited = usOf(() => void new ServerResponse(message).writeHead(202, limitedHead))
      // The first rounds are for the compiler.
      if (round >= 0) costs.push({ authenticate, take: prepareAndTake - prepare, write: writeLimited - writePlain })
    }
    const median = (part: keyof GuardCost): number =>
      quantile(
        costs.map((cost) => cost[part]),
        0.5,
      )
    return { authenticate: median('authenticate'), take: median('take'), write: median('write') }
  } finally {
    await db.end()
  }
}

/** Fastify's replies of a route, as it makes one for each request. */
async function findReplies(): Promise<() => FastifyReply> {
  const app = Fastify()
  let found: FastifyReply | null = null
  app.get('/', (_request, reply) => {
    found = reply
    return ''
  })
  await app.inject('/')
  await app.close()
  const { raw, request, log, constructor } = found as unknown as FastifyReply
  const Reply = constructor as new (...parts: unknown[]) => FastifyReply
  return () => new Reply(raw, request, log)
}

/** CPU of a call, collection of its garbage included. */
function usOf(call: () => void): number {
  const before = process.cpuUsage()
  for (let i = 0; i < calls; i++) call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}
