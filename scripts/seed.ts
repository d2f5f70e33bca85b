/**
 * Fills a development database: npm run seed -- --messages 100000 [--yes]
 *
 * Campaigns, contacts and messages of the first account, over the last seven days, written straight into the tables. Nothing is ever sent or
 * posted: queued messages are in a paused lane, and there are no events.
 */
import type { Db } from '../server/ground/db/db.ts'
import { hostsOf } from '../server/ground/db/hosts.ts'
import { newId } from '../server/ground/base/ids.ts'
import { recountCounters } from '../server/usage/recount.ts'
import { fillMessages } from './fill.ts'
import { readOptions, readSettings, readWhole } from './options.ts'
import { reachDatabase } from './reach.ts'

const usage = `npm run seed [-- --messages 10000] [--yes]
Fills a development database. --yes: also one on another machine, or with a real carrier.`
const options = readOptions(usage, {
  messages: { type: 'string', default: '10000' },
  yes: { type: 'boolean', default: false },
})

// A lane that is never claimed, so that seeds cannot be sent to a carrier by accident.
const pausedRun = '00000000-0000-7000-8000-00000005eed0'

const local = ['', 'localhost', '127.0.0.1', '[::1]']

await run()

async function run(): Promise<void> {
  const messages = readWhole(usage, 'messages', options.messages, 100, 1e8)
  const { databaseUrl } = readSettings()
  const urls = databaseUrl === null ? [] : (hostsOf(databaseUrl)?.map(({ url }) => url) ?? [databaseUrl])
  const away = urls.map((url) => new URL(url).hostname).find((host) => !local.includes(host))
  if (!options.yes && away !== undefined)
    return refuse(`DATABASE_URL names ${away}, another machine. Say --yes if you mean it.`)
  const { db, where, close } = await reachDatabase('seed')
  try {
    if (!options.yes && (await hasRealCarrier(db)))
      return refuse(`The database (${where}) has a real carrier. Say --yes if you mean it.`)
    const accountId = await findAccount(db)
    if (accountId === null) return refuse('There is no account yet. Start Heliogram once (npm start), then seed.')
    const startedAt = performance.now()
    await fillMessages(db, { accountIds: [accountId, accountId, accountId], messages, days: 7 })
    await queue(db, accountId)
    await addContacts(db, accountId)
    await recountCounters(db)
    const seconds = (performance.now() - startedAt) / 1000
    console.log(`Wrote ${messages} messages to ${where} in ${seconds.toFixed(1)} s.`)
  } finally {
    await close()
  }
}

function refuse(reason: string): void {
  console.error(`Nothing was seeded. ${reason}`)
  process.exitCode = 1
}

async function hasRealCarrier(db: Db): Promise<boolean> {
  const { rowCount } = await db.query(`select 1 from carriers where kind <> 'simulator' limit 1`)
  return (rowCount ?? 0) > 0
}

async function findAccount(db: Db): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>('select id from accounts order by created_at limit 1')
  return rows[0]?.id ?? null
}

/** Queues the messages that are nowhere. */
async function queue(db: Db, accountId: string): Promise<void> {
  await db.query(
    `with lane as (
       insert into lanes (id, account_id, run_id, type, is_paused)
       values ($1, $2, $3, 'marketing', true)
       on conflict (account_id, run_id, type) do update set is_paused = true
       returning id
     )
     insert into queue (lane_id, message_id, account_id, segments, expires_at)
     select lane.id, m.id, m.account_id, m.segments, now() + interval '60 days'
     from lane, messages m
     where m.account_id = $2
       and m.status = 'queued'
       and not exists (select from queue q where q.message_id = m.id)
       and not exists (select from delayed d where d.message_id = m.id)`,
    [newId(), accountId, pausedRun],
  )
}

/** The contacts that the messages name. */
async function addContacts(db: Db, accountId: string): Promise<void> {
  await db.query(
    `with added as (
       insert into contacts (account_id, id, campaign_id, phone_number, first_name, last_name, country)
       select distinct on (contact_id) account_id, contact_id, campaign_id, their_number,
         (array['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara'])[1 + their_number::bigint % 5],
         (array['Okafor', 'Lindqvist', 'Moreau', 'Tanaka', 'Silva', 'Kowalski', 'Haddad'])[1 + their_number::bigint % 7], 'US'
       from messages m
       where account_id = $1
         and contact_id is not null
       on conflict do nothing
       returning campaign_id
     )
     update campaigns c
     set contacts_count = contacts_count + (select count(*) from added a where a.campaign_id = c.id)
     where account_id = $1`,
    [accountId],
  )
  await db.query('analyze contacts')
}
