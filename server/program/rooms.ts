/** The rooms, the upper first, and the loops over what they register. */
import type { RouteOptions } from 'fastify'
import type { Cache, Change, Room, SweepingProcess } from '../events/face.ts'
import type { Sweep } from '../ground/base/sweeps.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import type { App } from '../ground/http/http.ts'
import { endStopsOf } from '../guards/http.ts'
import { forgetUsed, readUsed } from '../guards/windows.ts'
import { showOptOutSettings } from '../opt-outs/keyword-settings.ts'
import { setDefaultSender } from '../senders/store.ts'
import { guardTestKeys } from './test-keys.ts'
import { room as summary } from '../summary/room.ts'
import { room as routes } from '../routes/room.ts'
import { room as broadcasts } from '../broadcasts/room.ts'
import { room as senders } from '../senders/room.ts'
import { room as rates } from '../rates/room.ts'
import { room as mappings } from '../mappings/room.ts'
import { room as imports } from '../imports/room.ts'
import { room as carriers } from '../carriers/room.ts'
import { room as contacts } from '../contacts/room.ts'
import { room as httpCarriers } from '../http-carriers/room.ts'
import { room as campaigns } from '../campaigns/room.ts'
import { room as privacy } from '../privacy/room.ts'
import { room as doctor } from '../doctor/room.ts'
import { room as inbound } from '../inbound/room.ts'
import { room as conversations } from '../conversations/room.ts'
import { room as optOuts } from '../opt-outs/room.ts'
import { room as smppServer } from '../smpp-server/room.ts'
import { room as twilio } from '../twilio/room.ts'
import { room as messages } from '../messages/room.ts'
import { room as live } from '../live/room.ts'
import { room as links } from '../links/room.ts'
import { room as webhooks } from '../webhooks/room.ts'
import { room as templates } from '../templates/room.ts'
import { room as ledger } from '../ledger/room.ts'
import { room as queue } from '../queue/room.ts'
import { room as quietHours } from '../quiet-hours/room.ts'
import { room as shortLinks } from '../short-links/room.ts'
import { room as guards } from '../guards/room.ts'
import { room as auditLog } from '../audit-log/room.ts'
import { room as accounts } from '../accounts/room.ts'
import { room as usage } from '../usage/room.ts'
import { room as program } from './room.ts'

/**
 * The order of `test/architecture.test.ts`. It decides the order of erasure and closing: an upper room makes work for the lower ones, so
 * its broadcasts and imports end before messages are canceled, and webhooks end last, because the others record events.
 */
const all = [
  program,
  summary,
  routes,
  broadcasts,
  senders,
  rates,
  mappings,
  imports,
  carriers,
  contacts,
  httpCarriers,
  campaigns,
  privacy,
  doctor,
  inbound,
  conversations,
  optOuts,
  smppServer,
  twilio,
  messages,
  live,
  links,
  webhooks,
  templates,
  ledger,
  queue,
  quietHours,
  shortLinks,
  guards,
  auditLog,
  accounts,
  usage,
] as const

type Registered<K extends PropertyKey, R = (typeof all)[number]> = R extends Record<K, infer F> ? F : never
type LastOf<F> = F extends (...given: infer A) => unknown
  ? A extends [...unknown[], infer C]
    ? (context: C) => void
    : never
  : never
/** The merged contexts of a kind of function. */
type Merged<F> = LastOf<F> extends (context: infer C) => void ? C : never
type ContextOf<P extends SweepingProcess> = Merged<Registered<P, Registered<'sweeps'>>>

interface Contexts {
  routes: Merged<Registered<'routes'>>
  every: ContextOf<'every'>
  links: ContextOf<'links'>
  jobs: ContextOf<'jobs'>
}

export type RoutesContext = Omit<Contexts['routes'], 'settings'> & {
  apiPerSecond?: number
  caches: Caches
}

const rooms: readonly Room<Contexts>[] = all

export function sweepsOf<P extends SweepingProcess>(process: P, context: Omit<Contexts[P], 'rooms'>): Sweep[] {
  const given = { ...context, rooms } as unknown as Contexts[P]
  return rooms.flatMap(({ sweeps }) => sweeps?.[process]?.(given) ?? [])
}

export async function registerRoutes(app: App, context: RoutesContext): Promise<void> {
  const { version, apiPerSecond = 100, subscriptions, texts } = context
  const settings = {
    version,
    apiPerSecond,
    encryptsContent: texts?.isSealing ?? false,
    optOut: showOptOutSettings,
    setDefaultSender,
    endStops: endStopsOf(subscriptions),
    readUsed,
    forgetUsed,
  }
  guardTestKeys(app, context.db)
  refreshCaches(app, () => context.caches)
  let tag: string | undefined
  app.addHook('onRoute', ({ schema }: RouteOptions) => {
    if (schema && tag !== undefined) schema.tags ??= [tag]
  })
  for (const room of rooms) {
    tag = room.tag
    await room.routes?.(app, { ...context, settings })
  }
  tag = undefined
}

interface Refreshed {
  /** Reads committed data; only that of an account, if the table can. */
  refresh(accountId?: string): Promise<void>
}

/** Other processes read them again within a second or two. */
type Caches = Readonly<Record<Cache, Refreshed>>

/** Routes registered after it respond only after this process has read their changes (`idempotent`). */
function refreshCaches(app: App, caches: () => Caches): void {
  const changes: Record<string, Change> = Object.assign({}, ...rooms.map((room) => room.changes))
  app.addHook('onRoute', ({ config }: RouteOptions) => {
    const change = changes[config?.audit?.split('.')[0] ?? '']
    if (!config || !change) return
    config.applied = ({ accountId }) => {
      const changed = change.isOfCaller ? accountId : undefined
      return refreshAll(change.caches.map((name) => caches()[name].refresh(changed)))
    }
  })
}

/** If the database is down, the tables are read later. */
async function refreshAll(all: readonly Promise<void>[]): Promise<void> {
  await Promise.all(all).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error
  })
}
