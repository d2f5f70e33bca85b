/** What a process keeps in memory of what its routes change: read anew before an answer tells of the change, so that the next request meets it. */
import type { RouteOptions } from 'fastify'
import { isUnavailable } from './db/failure.ts'
import type { App } from './http.ts'

interface Refreshed {
  /** Reads what is committed by now. */
  refresh(): Promise<void>
}

/** The tables; other processes read them again within a second or two. */
export interface Kept {
  guards: Refreshed
  quietHours: Refreshed
  /** Rules, carriers, prices, senders, and what campaigns say of senders. */
  routing: Refreshed
  /** What carriers' codes mean. */
  reasons: Refreshed
  /** Which events somebody wants. */
  subscriptions: Refreshed
}

/** By the first word of what the audit log calls a change. */
const changedBy: Record<string, readonly (keyof Kept)[]> = {
  account: ['guards', 'quietHours'],
  settings: ['guards', 'quietHours', 'routing'],
  campaign: ['quietHours', 'routing'],
  sender: ['routing'],
  route: ['routing'],
  routes: ['routing'],
  rates: ['routing'],
  carrier: ['routing', 'reasons'],
  link: ['reasons'],
  mappings: ['reasons'],
  webhook: ['subscriptions'],
  twilio_credential: ['subscriptions'],
}

/** Has every route registered after it answer when this process knows what it has changed (`idempotent`). */
export function refreshKept(app: App, kept: () => Kept): void {
  app.addHook('onRoute', ({ config }: RouteOptions) => {
    const names = changedBy[config?.audit?.split('.')[0] ?? '']
    if (config && names) config.applied = () => refreshAll(names.map((name) => kept()[name]))
  })
}

/** Where the database went away meanwhile, it is read as soon as that is there again. */
async function refreshAll(all: readonly Refreshed[]): Promise<void> {
  await Promise.all(all.map((one) => one.refresh())).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error
  })
}
