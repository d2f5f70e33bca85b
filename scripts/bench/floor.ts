/**
 * What PostgreSQL alone takes for the rows of a broadcast's message: each kind with the plainest statement there is, a thousand at a time, from
 * a table that is there already. No program that keeps these rows can be faster, whatever else it does.
 */
import { openPool } from '../../server/ground/db/db.ts'
import { migrate } from '../../server/ground/db/migrate.ts'
import { dayOf, ensurePartitions } from '../../server/ground/db/partitions.ts'
import { newId } from '../../server/ground/base/ids.ts'
import { startDatabase } from './database.ts'
import { readCpuSeconds } from './product.ts'

const total = 100_000
const size = 1000
const quiet = { info: () => {}, warn: console.warn, error: console.error }

/** Prints the CPU of each kind of row, in microseconds a message, and their sum. */
export async function measureFloor(): Promise<void> {
  const database = await startDatabase()
  const connection = { connectionString: await database.createDatabase('floor') }
  await migrate(connection, { log: quiet })
  const db = openPool(connection, { name: 'floor', max: 1 })
  await ensurePartitions(db, quiet)
  const newIds = (): string[] => Array.from({ length: total }, () => newId())
  const ids = newIds()
  const day = dayOf(ids)
  await db.query(
    `create table batch as
     select * from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[]) with ordinality as b (id, event_id, attempt_id, contact_id, n)`,
    [ids, newIds(), newIds(), newIds()],
  )
  await db.query('create index on batch (n)')
  await db.query('analyze batch')
  const [account, one] = [newId(), newId()]
  let sum = 0
  for (const [kind, text] of Object.entries(statementsOf(day, `'${account}'::uuid`, `'${one}'::uuid`))) {
    // Else a change of a thousand rows would read them all.
    await db.query(`analyze messages${day}, outbox`)
    const before = readCpuSeconds([database.pid])
    for (let from = 1; from <= total; from += size)
      await db.query({ name: kind, text, values: [from, from + size - 1] })
    const us = ((readCpuSeconds([database.pid]) - before) * 1e6) / total
    sum += us
    console.log(`${kind.padEnd(28)} ${us.toFixed(1).padStart(5)} µs`)
  }
  console.log(`${'all of them'.padEnd(28)} ${sum.toFixed(1).padStart(5)} µs of PostgreSQL's CPU a message`)
  await db.end()
  await database.stop()
}

/** In the order in which a message has them. `one` stands for a broadcast, a campaign, a carrier, a link and an endpoint. */
function statementsOf(day: string, account: string, one: string): Record<string, string> {
  const [now, due] = ['now()', `'2026-01-01Z'::timestamptz`]
  const batch = 'from batch b where b.n between $1 and $2'
  const ofBatch = `from batch b where b.n between $1 and $2 and m.account_id = ${account} and m.id = b.id`
  return {
    'the recipient': `insert into recipients (account_id, broadcast_id, contact_id) select ${account}, ${one}, b.contact_id ${batch}`,
    'the message': `
      insert into messages${day} (account_id, id, type, status, their_number, our_number, body, encoding, characters, segments, campaign_id,
        contact_id, expires_at, created_at, updated_at, queued_at, carrier_id, link_id, attempts, node_id, country)
      select ${account}, b.id, 'marketing', 'sending', (15550000000 + b.n)::text, '15557654321', 'Hello number ' || b.n || ', the sale begins today', 'GSM-7',
        40, 1, ${one}, b.contact_id, ${now}, ${now}, ${now}, ${now}, ${one}, ${one}, 1, ${one}, 'US' ${batch}`,
    'that it is sent': `
      update messages${day} m set status = 'sent', previous_status = 'sending', sequence = 2, updated_at = ${now}, sent_at = ${now},
        provider_message_id = (1000000000 + b.n)::text ${ofBatch}`,
    "the carrier's id of it": `
      insert into carrier_ids (link_id, carrier_message_id, account_id, message_id, segment, segments)
      select ${one}, (1000000000 + b.n)::text, ${account}, b.id, 1, 1 ${batch}`,
    'that it is delivered': `
      update messages${day} m set status = 'delivered', previous_status = 'sent', sequence = 3, updated_at = ${now}, completed_at = ${now},
        receipt_stat = 'DELIVRD', receipt_err = '000', segments_delivered = 1 ${ofBatch}`,
    'its event': `
      insert into events${day} (account_id, id, type, message_id, sequence, previous_status)
      select ${account}, b.event_id, 'message.delivered', b.id, 3, 'sent' ${batch}`,
    'the post that is due': `
      insert into outbox (endpoint_id, due_at, event_id, account_id, message_id, sequence)
      select ${one}, ${due}, b.event_id, ${account}, b.id, 3 ${batch}`,
    'that it is posted': `
      delete from outbox where ctid = any (array(
        select (select ctid from outbox where endpoint_id = ${one} and due_at = ${due} and event_id = b.event_id) ${batch}))`,
    'the attempt': `
      insert into attempts${day} (account_id, id, endpoint_id, event_id, try, outcome, status_code, duration_ms, url)
      select ${account}, b.attempt_id, ${one}, b.event_id, 1, 'ok', 200, 5, 'https://example.com/heliogram' ${batch}`,
  }
}
