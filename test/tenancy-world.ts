/** Every route of the program on a test database, without background work; statements can be recorded. */
import { AccountTables } from '../server/ground/audit/account-tables.ts'
import type { AppContext } from '../server/program/app.ts'
import { buildTestApp } from '../server/accounts/testing.ts'
import { StatusMaps } from '../server/mappings/mapping.ts'
import { createQueueReader } from '../server/live/queue.ts'
import { openPool, type Db } from '../server/ground/db/db.ts'
import { openWall } from '../server/ground/db/scoped.ts'
import type { TestDatabase } from '../server/ground/db/testing.ts'
import { openAuthenticator } from '../server/accounts/authenticate.ts'
import { Stride } from '../server/imports/stride.ts'
import type { App, Scope, TestKeyUse } from '../server/ground/http/http.ts'
import { openLedgerTest, silent, type LedgerTest } from '../server/messages/testing.ts'
import { ShortLinks } from '../server/short-links/clicks.ts'
import { registerRoutes, type RoutesContext } from '../server/program/rooms.ts'
import { guardDestinations } from '../server/post/destination.ts'
import { Watch } from '../server/webhooks/watch.ts'

export interface KnownRoute {
  name: string
  method: string
  url: string
  scope: Scope | null
  /** Its action in the audit log; null: none. */
  audit: string | null
  /** Why a test key may call it; null: it may not, or it changes nothing. */
  testKeys: TestKeyUse | null
  /** It ignores Idempotency-Key. */
  isKeyless: boolean
}

export interface World {
  app: App
  /** Separate from the application: not recorded. */
  db: Db
  ledger: LedgerTest
  routes: KnownRoute[]
  statements: Set<string>
  isRecording: boolean
  close(): Promise<void>
}

export async function openWorld(database: TestDatabase, options: Partial<AppContext> = {}): Promise<World> {
  const statements = new Set<string>()
  const world = { statements, isRecording: false }
  const db = openPool(database.connection, { name: 'test', max: 3 })
  // A pool runs its own statements through its clients too.
  db.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown
    client.query = ((...args: unknown[]) => {
      const [first] = args
      if (world.isRecording) statements.add(typeof first === 'string' ? first : (first as { text: string }).text)
      return query(...args)
    }) as typeof client.query
  })
  const ledger = await openLedgerTest(db)
  const authenticator = openAuthenticator(db)
  const rule = { allowedCidrs: ['127.0.0.0/8'], ports: [9] }
  const context: RoutesContext = {
    ...ledger.context,
    db: await openWall(db, silent),
    version: '0.0.0',
    publicUrl: 'https://sms.example.com',
    authenticator,
    acceptor: ledger.acceptor,
    ownLinks: ledger.ownLinks,
    destinations: guardDestinations(rule),
    imports: {
      uploads: db,
      openStride: () => new Stride(),
      enqueue: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
    refuseUrl: () => null,
    receiving: { ...ledger.context, log: silent, ledger: ledger.ledger, wake: () => {} },
    refusals: new Map(),
    wakeBroadcasts: () => {},
    watch: new Watch({ db, log: silent }),
    caches: {
      accounts: new AccountTables(db, [ledger.context.guards, ledger.context.quietHours, ledger.subscriptions]),
      routing: ledger.routing,
      reasons: new StatusMaps(db),
    },
    isWritable: () => true,
    metricsToken: null,
    pools: {},
    readQueue: createQueueReader(db),
    running: () => new Map(),
    disk: null,
    openFiles: { counts: null },
    shortUrl: 'https://s.example.com',
    shortLinks: new ShortLinks({ db, outbox: ledger.outbox, subscriptions: ledger.subscriptions, log: silent }),
  }
  const routes: KnownRoute[] = []
  const app = await buildTestApp(
    db,
    (one) => {
      one.addHook('onRoute', ({ method, url, config }) => {
        for (const verb of [method].flat())
          routes.push({
            name: `${verb} ${url}`,
            method: verb,
            url,
            scope: config?.scope ?? null,
            audit: config?.audit ?? null,
            testKeys: config?.testKeys ?? null,
            isKeyless: config?.isKeyless ?? false,
          })
      })
      return registerRoutes(one, context)
    },
    { authenticator, publicUrl: context.publicUrl, ...options },
  )
  return Object.assign(world, {
    app,
    db: database.db,
    ledger,
    routes,
    async close() {
      await app.close()
      await ledger.ledger.close()
      await db.end()
    },
  })
}
