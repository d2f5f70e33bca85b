/**
 * Fills a development database: npm run seed -- --messages 100000 [--contacts 10000] [--yes]
 *
 * Campaigns, contacts and messages of the first account, over the last seven days, written straight into the tables. Nothing is ever sent or
 * posted: queued messages are in a paused lane, and there are no events. No message is in `sending`, which requires an intent.
 */
import { countSegments } from '../smpp/index.ts'
import type { Db, Tx } from '../server/ground/db/db.ts'
import { inTransaction } from '../server/ground/db/db.ts'
import { hostsOf } from '../server/ground/db/hosts.ts'
import { ensurePartitions } from '../server/ground/db/partitions.ts'
import { newId } from '../server/ground/base/ids.ts'
import { recountCounters } from '../server/usage/recount.ts'
import { readOptions, readSettings, readWhole } from './options.ts'
import { reachDatabase } from './reach.ts'
import { insertMessages, statusesInTurn, type Seed } from './seed-messages.ts'

const usage = `npm run seed [-- --messages 10000] [--contacts 1000] [--yes]
Fills a development database. --yes: also one on another machine, or with a real carrier.`
const options = readOptions(usage, {
  messages: { type: 'string', default: '10000' },
  contacts: { type: 'string', default: '1000' },
  yes: { type: 'boolean', default: false },
})

const dayMs = 86_400_000
const days = 7
const batchMax = 5000
// A lane that is never claimed, so that seeds cannot be sent to a carrier by accident.
const pausedRun = '00000000-0000-7000-8000-00000005eed0'
// Endings with a meaning to the simulator (see its README).
const fates = /00\d\d$/

const campaignNames = ['Appointment reminders', 'Delivery updates', 'Spring offers', 'Sign-in codes', 'Waiting list']
const firstNames = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Claude', 'Hedy', 'Guglielmo', 'Radia', 'Tim']
const lastNames = ['Okafor', 'Lindqvist', 'Moreau', 'Tanaka', 'Silva', 'Kowalski', 'Haddad', 'Novak', 'Reyes', 'Weber']
const texts = [
  'Your parcel arrives today between 2 and 4 pm.',
  'Your code is 482913. It expires in ten minutes.',
  'Reminder: your appointment is tomorrow at 9:30. Reply YES to confirm.',
  'Votre commande est prête – à bientôt !',
  'We have moved your booking to Friday evening, as you asked. The table is for four, by the window; if you would rather have ' +
    'another day, answer this message with the day and the hour, and we will see what we can do.',
].map((text) => ({ text, ...countSegments(text) }))

const local = ['', 'localhost', '127.0.0.1', '[::1]']

await run()

async function run(): Promise<void> {
  const messages = readWhole(usage, 'messages', options.messages, 0, 1e8)
  const contacts = readWhole(usage, 'contacts', options.contacts, 1, 1e7)
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
    const people = await insertPeople(db, accountId, contacts)
    await insertAll(db, accountId, people, messages)
    for (const table of ['messages', 'outcomes', 'submissions', 'carrier_ids', 'contacts'])
      await db.query(`analyze ${table}`)
    const seconds = (performance.now() - startedAt) / 1000
    console.log(`Wrote ${contacts} contacts and ${messages} messages to ${where} in ${seconds.toFixed(1)} s.`)
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

interface Person {
  id: string
  campaignId: string
  number: string
}

async function insertPeople(db: Db, accountId: string, count: number): Promise<Person[]> {
  const campaigns = campaignNames.map((name) => ({ id: newId(), name }))
  const { rows } = await db.query<{ first: string | null }>(
    `select max(phone_number) as first from contacts where account_id = $1 and phone_number like '1555_______'`,
    [accountId],
  )
  let number = Number(rows[0]?.first ?? '15551000000')
  const people = Array.from({ length: count }, (_, i): Person => {
    do number++
    while (fates.test(String(number)))
    return { id: newId(), campaignId: campaigns[i % campaigns.length]?.id ?? '', number: String(number) }
  })
  await inTransaction(db, async (tx) => {
    await tx.query(
      `insert into campaigns (account_id, id, name, tags)
       select $1, id, name, '{seed}' from unnest($2::uuid[], $3::text[]) as c (id, name)`,
      [accountId, campaigns.map((one) => one.id), campaigns.map((one) => one.name)],
    )
    for (let at = 0; at < people.length; at += batchMax)
      await insertContacts(tx, accountId, people.slice(at, at + batchMax))
    await tx.query(
      `update campaigns c
       set contacts_count = (select count(*) from contacts t where t.account_id = c.account_id and t.campaign_id = c.id)
       where account_id = $1 and id = any ($2::uuid[])`,
      [accountId, campaigns.map((one) => one.id)],
    )
  })
  return people
}

async function insertContacts(tx: Tx, accountId: string, people: Person[]): Promise<void> {
  await tx.query(
    `insert into contacts (account_id, id, campaign_id, phone_number, first_name, last_name, country, tags)
     select $1, id, campaign_id, phone_number, first_name, last_name, 'US', '{seed}'
     from unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::text[])
       as p (id, campaign_id, phone_number, first_name, last_name)`,
    [
      accountId,
      people.map((one) => one.id),
      people.map((one) => one.campaignId),
      people.map((one) => one.number),
      people.map((_, i) => firstNames[i % firstNames.length]),
      people.map((_, i) => lastNames[Math.floor(i / firstNames.length) % lastNames.length]),
    ],
  )
}

async function insertAll(db: Db, accountId: string, people: Person[], count: number): Promise<void> {
  const now = Date.now()
  // The program makes partitions from yesterday on; these messages are older.
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  await ensurePartitions(db, log, now - (days - 1) * dayMs)
  await ensurePartitions(db, log, now)
  const { rows } = await db.query<{ laneId: string; linkId: string | null; carrierId: string | null }>(
    `with lane as (
       insert into lanes (id, account_id, run_id, type, is_paused)
       values ($1, $2, $3, 'marketing', true)
       on conflict (account_id, run_id, type) do update set is_paused = true
       returning id
     )
     select lane.id as "laneId", l.id as "linkId", l.carrier_id as "carrierId"
     from lane
     left join (select id, carrier_id from links order by id limit 1) l on true`,
    [newId(), accountId, pausedRun],
  )
  const [target] = rows
  if (!target) throw new Error('no lane was made')
  const statuses = statusesInTurn()
  for (let at = 0; at < count; at += batchMax) {
    const seeds = Array.from({ length: Math.min(batchMax, count - at) }, (_, i): Seed => {
      const n = at + i
      const person = people[n % people.length]
      const createdAt = Math.floor(now - days * dayMs * (1 - (n + 1) / count) * 0.99) - 60_000
      const text = texts[n % texts.length]
      const status = statuses(n)
      return {
        id: idAt(createdAt),
        createdAt: new Date(createdAt),
        status,
        number: person?.number ?? '15551000001',
        campaignId: person?.campaignId ?? null,
        contactId: person?.id ?? null,
        body: text?.text ?? '',
        encoding: text?.encoding ?? 'GSM-7',
        characters: text?.characters ?? 0,
        segments: text?.segments ?? 1,
      }
    })
    await inTransaction(db, (tx) => insertMessages(tx, { accountId, ...target }, seeds))
    if (process.stdout.isTTY) process.stdout.write(`\r${at + seeds.length} messages\r`)
  }
  await recountCounters(db)
}

/** An id of the past: `newId` only goes up, and this process has made current ids. */
function idAt(ms: number): string {
  const hex = ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}${newId().slice(13)}`
}
