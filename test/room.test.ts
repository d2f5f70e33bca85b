/** One folder and one line add a room: every loop over rooms finds it. */
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createTestAccount } from '../server/accounts/testing.ts'
import { newId } from '../server/ground/base/ids.ts'
import { createTestDatabase } from '../server/ground/db/testing.ts'

const root = join(import.meta.dirname, '..')

const files: Record<string, string> = {
  'server/ground/db/migrations/9000_visitors.sql': `
    create table visitors (account_id uuid, number text, seen_at timestamptz, primary key (account_id, number));`,
  'server/visitors/room.ts': `
    import type { Room } from '../events/face.ts'
    import type { Db } from '../ground/db/db.ts'
    import type { App } from '../ground/http/http.ts'
    import { problems } from '../ground/http/http.ts'

    export const room = {
      routes(app: App, { db }: { db: Db }) {
        app.get(
          '/v1/visitors',
          { schema: { operationId: 'listVisitors', response: problems() }, config: { scope: 'contacts:read' } },
          async () => (await db.query('select number from visitors')).rows,
        )
      },
      sweeps: {
        jobs: ({ db }: { db: Db }) => [
          { name: 'visitors', everyMs: 1000, run: () => db.query("update visitors set number = '4' where number = '3'") },
        ],
      },
      erase: [
        {
          name: 'visitors',
          async run(tx, { accountId, number }) {
            const gone = await tx.query('delete from visitors where account_id = $1 and number = $2', [accountId, number])
            return { next: null, erased: { visitors: gone.rowCount ?? 0 } }
          },
        },
      ],
      retain: [{ table: 'visitors', column: 'seen_at', age: '10 days' }],
      destroy: ['visitors'],
    } satisfies Room`,
  'run.ts': `
    import { DataKeys } from './server/ground/sealing/data-keys.ts'
    import { openVault } from './server/ground/sealing/vault.ts'
    import { openPool } from './server/ground/db/db.ts'
    import { migrate } from './server/ground/db/migrate.ts'
    import { Subscriptions } from './server/events/events.ts'
    import { buildApp } from './server/program/app.ts'
    import { findTables } from './server/program/commands/backup/tables.ts'
    import { registerRoutes, sweepsOf } from './server/program/rooms.ts'

    const connection = JSON.parse(process.argv[2])
    const log = { info() {}, warn: console.error, error: console.error }
    const migrated = await migrate(connection, { log, isDisposable: true })
    const db = openPool(connection, { name: 'test', max: 3 })
    const absent = { version: 'v1' } as never
    const app = await buildApp({ publicUrl: 'http://localhost', ...absent }, (app) => registerRoutes(app, absent))
    const isDescribed = '/v1/visitors' in app.swagger().paths
    const isInBackups = (await findTables(db)).some(({ name }) => name === 'visitors')
    const vault = openVault(Buffer.alloc(32, 7))
    const sweeps = sweepsOf('jobs', {
      db, vault, log, keys: new DataKeys(vault), contactSeals: {}, reasons: {}, receiptTimeoutHours: 72, wake() {},
      outbox: { nodeId: null, offer() {} }, subscriptions: new Subscriptions(db),
    })
    const left = {}
    await db.query("insert into visitors select id, n, now() - make_interval(days => case n when '2' then 20 else 0 end) from accounts, unnest(array['1', '2', '3']) n")
    for (const name of ['visitors', 'retention', 'erasures', 'closed accounts']) {
      await sweeps.find((sweep) => sweep.name === name).run(() => false)
      left[name] = (await db.query('select number from visitors order by 1')).rows.map(({ number }) => number)
    }
    await db.end()
    await app.close()
    console.log(JSON.stringify({ migrated, isDescribed, isInBackups, left }))`,
}

test('a room that is added by a folder and a line has its routes, sweeps, erasure, retention and end of account', async () => {
  const database = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'heliogram-room-'))
  try {
    await cp(join(root, 'server'), join(folder, 'server'), {
      recursive: true,
      filter: (path) => !/\.test\.ts$|node_modules$/.test(path),
    })
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
    for (const name of ['docs', 'sdk', 'console']) await symlink(join(root, name), join(folder, name))
    await mkdir(join(folder, 'server/visitors'))
    for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text)
    const list = join(folder, 'server/program/rooms.ts')
    const text = await readFile(list, 'utf8')
    const added = text.replace('const all = [', "import { room as visitors } from '../visitors/room.ts'\n$& visitors,")
    await writeFile(list, added)

    const { accountId } = await createTestAccount(database.db)
    await database.db.query(
      `insert into erasures (account_id, id, number, settles_at) values ($1, $2, '1', now() - interval '1 minute')`,
      [accountId, newId()],
    )
    await database.db.query(
      `update accounts set status = 'closed', closed_at = now() - interval '1 hour', wound_up_at = now(), destroy_at = now(), close_webhooks = 'stop'
       where id = $1`,
      [accountId],
    )
    const words = ['run.ts', JSON.stringify(database.connection)]
    const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: folder })
    expect(JSON.parse(stdout)).toEqual({
      migrated: ['9000_visitors'],
      isDescribed: true,
      isInBackups: true,
      left: { visitors: ['1', '2', '4'], retention: ['1', '4'], erasures: ['4'], 'closed accounts': [] },
    })
  } finally {
    await rm(folder, { recursive: true })
    await database.close()
  }
})
