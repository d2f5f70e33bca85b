import { openAuthenticator, type Authenticator } from '../accounts/authenticate.ts'
import type { Db, Connection } from '../ground/db/db.ts'
import { atEnd, createTestDatabase, type TestDatabase } from '../ground/db/testing.ts'
import { parseId } from '../ground/base/ids.ts'
import type { ContactSeals } from '../ground/sealing/contact-fields.ts'
import { openCampaignTest, type CampaignTest } from '../campaigns/testing.ts'
import { testKeyFile, testVault } from '../accounts/testing.ts'
import { createRowReader } from './row.ts'
import { rowSchema } from './row-schema.ts'
import { runImport, type RunContext, type RunResult } from './run.ts'
import { startImports, type Imports } from './start.ts'
import { writeRows, type ImportKey } from './write.ts'
import { patienceMs } from '../../test/until.ts'

export interface Shown {
  id: string
  status: string
  counts: Record<string, number | null>
  mapping: Record<string, string | null> | null
  failure: { code: string } | null
  [name: string]: unknown
}

export interface ImportTest extends CampaignTest {
  /** Of the application. */
  authenticator: Authenticator
  context: RunContext
  subscribed: Set<string>
  /** The queue in use; a test may replace it. */
  imports: Imports
  upload(
    campaign: string,
    type: string,
    payload: string | Buffer,
    query?: string,
    headers?: object,
  ): Promise<{ status: number; body: Record<string, unknown> }>
  /** Uploads without running the import. */
  hold(campaign: string, payload: string | Buffer, type?: string): Promise<{ id: string; key: ImportKey }>
  /** Uploads, and waits until the import ends. */
  run(campaign: string, type: string, payload: string | Buffer, query?: string): Promise<Shown>
  /** Runs an import in the test's thread. */
  runHere(key: ImportKey, signal: AbortSignal): Promise<RunResult>
  read(id: string): Promise<Shown>
  finished(id: string, limitMs?: number): Promise<Shown>
  errors(id: string): Promise<Record<string, unknown>[]>
  badRows(id: string): Promise<string>
  contacts(campaign: string): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

/** With a database of its own, which it closes. */
export interface OwnImportTest extends ImportTest, Pick<TestDatabase, 'db' | 'sql' | 'connection'> {}

export const zero = { created: 0, updated: 0, skipped: 0, duplicate: 0, opted_out: 0, failed: 0, hidden: 0 }

export const readRow = createRowReader(rowSchema)

export const numberOf = (n: number): string => `1555${String(1_000_000 + n)}`

/** Waits until a value is right, and fails with the last value. */
export async function until<T>(
  read: () => Promise<T> | T,
  isRight: (value: T) => boolean,
  limitMs = patienceMs,
): Promise<T> {
  const endMs = performance.now() + limitMs
  for (;;) {
    const value = await read()
    if (isRight(value)) return value
    if (performance.now() > endMs) throw new Error(`still ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Creates a database and the application over it, until the end. */
export async function createImportTest(): Promise<OwnImportTest> {
  const { db, sql, connection } = await createTestDatabase()
  const test = await openImportTest(db, connection)
  atEnd(() => test.close())
  return Object.assign(test, { db, sql, connection })
}

/** Builds the application with a queue that runs the uploaded imports. */
export async function openImportTest(db: Db, connection: Connection, contactSeals?: ContactSeals): Promise<ImportTest> {
  const subscribed = new Set<string>()
  const outbox = { nodeId: null, offer: () => {} }
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const context = {
    db,
    vault: testVault,
    outbox,
    subscriptions: { wants: (id: string) => subscribed.has(id) },
    log,
    ...(contactSeals && { contactSeals }),
  }
  let held = 0
  const current: Imports = {
    get uploads() {
      return test.imports.uploads
    },
    openStride: () => test.imports.openStride(),
    enqueue: (tx, key) => (held > 0 ? Promise.resolve() : test.imports.enqueue(tx, key)),
    close: () => test.imports.close(),
  }
  const authenticator = openAuthenticator(db)
  const base = await openCampaignTest(db, { ...context, imports: current }, undefined, authenticator)
  const { app, account } = base
  const get = async (url: string): Promise<Record<string, unknown>> => (await base.call('GET', url)).body
  const test: ImportTest = {
    ...base,
    authenticator,
    context,
    subscribed,
    imports: await startImports({
      ...context,
      connection,
      keyFile: testKeyFile,
      isSealing: contactSeals?.isSealing ?? false,
      isRunning: true,
    }),
    upload: async (campaign, type, payload, query = '', headers = {}) => {
      const answer = await app.inject({
        method: 'POST',
        url: `/v1/campaigns/${campaign}/contacts/import${query}`,
        headers: { ...account.headers, 'content-type': type, ...headers },
        payload,
      })
      const body = answer.json<Record<string, unknown>>()
      if (answer.statusCode === 202 && answer.headers.location !== `/v1/imports/${String(body['id'])}`)
        throw new Error(`Location is ${String(answer.headers.location)}`)
      return { status: answer.statusCode, body }
    },
    hold: async (campaign, payload, type = 'text/csv') => {
      held++
      const { body } = await test.upload(campaign, type, payload)
      held--
      const id = String(body['id'])
      return { id, key: { accountId: account.accountId, importId: String(parseId('imp', id)) } }
    },
    run: async (campaign, type, payload, query = '') => {
      const { status, body } = await test.upload(campaign, type, payload, query)
      if (status !== 202) throw new Error(JSON.stringify(body))
      return test.finished(String(body['id']))
    },
    runHere: (key, signal) =>
      runImport(context, key, signal, (one, stop) => writeRows({ ...context, readRow }, one, stop)),
    read: async (id) => (await get(`/v1/imports/${id}`)) as unknown as Shown,
    finished: (id, limitMs) =>
      until(
        () => test.read(id),
        (one) => !['queued', 'processing'].includes(one.status),
        limitMs,
      ),
    errors: async (id) => (await get(`/v1/imports/${id}/errors`))['data'] as Record<string, unknown>[],
    badRows: async (id) => {
      const headers = { ...account.headers, accept: 'text/csv' }
      return (await app.inject({ url: `/v1/imports/${id}/errors`, headers })).body
    },
    contacts: async (campaign) => {
      const { rows } = await db.query<Record<string, unknown>>(
        'select phone_number, first_name, attributes, tags from contacts where campaign_id = $1 order by phone_number',
        [parseId('cmp', campaign)],
      )
      return rows
    },
    close: async () => {
      await app.close()
      await test.imports.close()
    },
  }
  return test
}
