/** What a process keeps in memory of what its routes change: read anew before an answer tells of the change, so that the next request meets it. */
import type { RouteOptions } from 'fastify'
import { isUnavailable } from '../ground/db/failure.ts'
import type { App } from '../ground/http/http.ts'

interface Refreshed {
  /** Reads what is committed by now; of one account alone, where that is all that has changed and the table can. */
  refresh(accountId?: string): Promise<void>
}

/** The tables; other processes read them again within a second or two. */
export interface Caches {
  /** What accounts say of guards and of quiet hours, and which events they want. */
  accounts: Refreshed
  /** Rules, carriers, prices, senders, pools, and what campaigns say of senders. */
  routing: Refreshed
  /** What carriers' codes mean. */
  reasons: Refreshed
}

/** By the first word of what the audit log calls a change. */
const changedBy: Record<string, readonly (keyof Caches)[]> = {
  account: ['accounts'],
  settings: ['accounts', 'routing'],
  campaign: ['accounts', 'routing'],
  sender: ['routing'],
  sender_pool: ['routing'],
  route: ['routing'],
  routes: ['routing'],
  rates: ['routing'],
  carrier: ['routing', 'reasons'],
  link: ['reasons'],
  mappings: ['reasons'],
  webhook: ['accounts'],
  twilio_credential: ['accounts'],
}

/** Changes of the caller's own account, which no other one feels. A sender may be given to an account below. */
const ofCaller: ReadonlySet<string> = new Set(['settings', 'campaign', 'sender_pool'])

/** Has every route registered after it answer when this process knows what it has changed (`idempotent`). */
export function refreshCaches(app: App, caches: () => Caches): void {
  app.addHook('onRoute', ({ config }: RouteOptions) => {
    const [resource = ''] = config?.audit?.split('.') ?? []
    const names = changedBy[resource]
    if (!config || !names) return
    config.applied = ({ accountId }) => {
      const changed = ofCaller.has(resource) ? accountId : undefined
      return refreshAll(names.map((name) => caches()[name].refresh(changed)))
    }
  })
}

/** Where the database went away meanwhile, it is read as soon as that is there again. */
async function refreshAll(all: readonly Promise<void>[]): Promise<void> {
  await Promise.all(all).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error
  })
}
