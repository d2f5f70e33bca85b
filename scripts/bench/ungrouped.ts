/**
 * Removes group commit from Heliogram: loaded before it (`node --import`), this module replaces the writer of accepted messages. Each request
 * becomes one plain INSERT in its own transaction. HTTP, authentication, limits, validation, routing and the response are the program's; queue,
 * opt-outs, keys and counts, which its own statement includes, are left out.
 */
import { registerHooks } from 'node:module'
import { Pool } from 'pg'
import { rowOf } from '../../server/accept/accepted.ts'
import type { Planned } from '../../server/message/draft.ts'
import { nothingWritten, type Written } from '../../server/accept/write.ts'
import { plainInsert, plainPoolSize } from './plain-table.ts'

export { addWritten, nothingWritten } from '../../server/accept/write.ts'

const self = import.meta.url
const accept = new URL('../../server/accept/accept.ts', self).href
const replaced = ['../../server/ground/base/batch.ts', '../../server/accept/write.ts'].map(
  (path) => new URL(path, self).href,
)

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context)
    return replaced.includes(found.url) && context.parentURL === accept ? { ...found, url: self } : found
  },
})

export class Batcher<In, Out> {
  readonly length = 0
  readonly flushingMs = 0
  readonly #flush: (items: In[]) => Promise<Out[]>

  constructor(flush: (items: In[]) => Promise<Out[]>) {
    this.#flush = flush
  }

  async push(item: In): Promise<Out> {
    const [out] = await this.#flush([item])
    return out as Out
  }
}

let pool: Pool | undefined

function openPool(): Pool {
  const connectionString = process.env['DATABASE_URL'] ?? ''
  const opened = new Pool({ connectionString, max: plainPoolSize, allowExitOnIdle: true })
  return opened.on('error', () => {})
}

export async function writeDrafts(_db: unknown, _context: unknown, planned: Planned[]): Promise<Written> {
  pool ??= openPool()
  const written = nothingWritten()
  for (const one of planned) {
    const row = rowOf(one, {
      places: null,
      refusal: null,
      lacksHash: false,
      isNew: true,
      type: one.draft.type ?? 'transactional',
      expiresAt: new Date(one.at.getTime() + 36_000_000),
      onUnknown: 'hold',
    })
    const sender = row.ourNumber ?? '15557654321'
    const values = [
      row.accountId,
      row.id,
      row.theirNumber,
      sender,
      row.body,
      row.characters,
      row.expiresAt,
      row.createdAt,
    ]
    await pool.query({ name: 'insert', text: plainInsert, values })
    written.results.push({ kind: 'accepted', row, estimatedSendAt: row.createdAt })
  }
  return written
}
