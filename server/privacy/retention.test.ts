import { expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { room as inbound } from '../inbound/room.ts'
import { room as ledger } from '../ledger/room.ts'
import { forgetExpired } from './retention.ts'
import { room as privacy } from './room.ts'

const limits = { receiptTimeoutHours: 72, messageDays: 400 }
import { openLedgerTest } from '../messages/testing.ts'

const { db, sql } = await createTestDatabase()

it('deletes expired rows in pieces, and keeps the rest', async () => {
  const id = newId()
  const ages = { carrier_ids: [239, 241], receipts: [719, 721], reply_hashes: [24, 26], idempotency_keys: [9599, 9601] }
  for (const [age, n] of [
    [0, 3],
    [1, 6000],
  ] as const) {
    const at = (table: keyof typeof ages): string => `now() - interval '${ages[table][age] ?? 0} hours'`
    const series = `generate_series(1, ${n}) as i`
    await db.query(
      `insert into carrier_ids (link_id, carrier_message_id, account_id, message_id, segment, segments, at)
       select $1, ${age} || '.' || i, $1, $1, 1, 1, ${at('carrier_ids')} from ${series}`,
      [id],
    )
    await db.query(
      `insert into receipts (link_id, raw_id, state, match_id, stat, received_at)
       select $1, ${age} || '.' || i, 'delivered', '', '', ${at('receipts')} from ${series}`,
      [id],
    )
    await db.query(
      `insert into reply_hashes (link_id, hash, received_at)
       select $1, convert_to(${age} || '.' || i, 'utf8'), ${at('reply_hashes')} from ${series}`,
      [id],
    )
    await db.query(
      `insert into idempotency_keys (account_id, operation, key, fingerprint, created_at)
       select $1, 'x', ${age} || '.' || i, '', ${at('idempotency_keys')} from ${series}`,
      [id],
    )
  }
  await forgetExpired({ db, rooms: [ledger, inbound, privacy] }, limits)
  for (const table of Object.keys(ages)) {
    const { rows } = await db.query<{ count: number }>(`select count(*) from ${table}`)
    expect([table, rows[0]?.count]).toEqual([table, 3])
  }
})

it('keeps the count of receipts that never matched a message', async () => {
  const { linkId } = await openLedgerTest(db)
  for (const n of [6000, 10]) {
    await sql`insert into receipts (link_id, raw_id, state, match_id, stat, received_at, message_id)
      select ${linkId}, i::text, 'delivered', '', '', now() - interval '31 days', case when i % 2 = 0 then ${linkId}::uuid end
      from generate_series(1, ${n}) i`
    await forgetExpired({ db, rooms: [ledger, inbound, privacy] }, limits)
  }
  const rows = await sql`select link_id as "linkId", count from forgotten_receipts`
  expect(rows).toEqual([{ linkId, count: 3005 }])
})
