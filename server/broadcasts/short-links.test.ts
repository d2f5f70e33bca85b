import { errorsOf } from '../accounts/testing.ts'
import { expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { parseId } from '../ground/base/ids.ts'
import { countClicks } from '../short-links/store.ts'
import { inTransaction } from '../ground/db/db.ts'
import { until } from '../../test/until.ts'
import { openCampaignTest } from '../campaigns/testing.ts'
import { openBroadcastTest } from './testing.ts'

const shortUrl = 'https://go.example.com'
const contacts = 700
const message = 'Hi {{ first_name }}: https://shop.example/{{ first_name }}.'

const { db, sql } = await createTestDatabase()
const test = await openBroadcastTest(db, { shortUrl })
test.start()

/** Returns the public and the database id. */
async function openCampaign(fields: object): Promise<{ id: string; uuid: string }> {
  const id = await test.newCampaign(fields)
  const uuid = parseId('cmp', id) ?? ''
  await sql`insert into contacts (account_id, id, campaign_id, phone_number, first_name)
    select ${test.account.accountId}, gen_random_uuid(), ${uuid}, (15551000000 + i)::text, 'Ann' || i
    from generate_series(1, ${contacts}) i`
  return { id, uuid }
}

it('a broadcast gives every recipient their own codes, and the campaign their clicks', async () => {
  const { id, uuid } = await openCampaign({ shorten_urls: true })
  const dry = await test.call('POST', `/v1/campaigns/${id}/send`, { message, dry_run: true })
  expect(dry.body).toMatchObject({ messages: contacts, segments: contacts })
  expect(dry.body['sample']).toMatch(/^Hi Ann\d+: https:\/\/go\.example\.com\/\w{10}\.$/)
  const key = { 'idempotency-key': 'links' }
  expect((await test.call('POST', `/v1/campaigns/${id}/send`, { message }, undefined, key)).status).toBe(202)
  await until(
    'all have a message',
    async () => (await test.ledger.count('messages', 'campaign_id = $1', [uuid])) === contacts,
  )
  const { rows } = await db.query<{ code: string }>(
    `select s.code
     from short_links s
     join messages m on m.account_id = s.account_id and m.id = s.message_id
     where s.campaign_id = $1
       and m.body ~ ('^Hi Ann[0-9]+: https://go.example.com/' || s.code || '\\.$')
       and s.url = 'https://shop.example/' || (regexp_match(m.body, 'Ann[0-9]+'))[1]`,
    [uuid],
  )
  expect(new Set(rows.map(({ code }) => code)).size).toBe(contacts)
  const clicks = rows.slice(0, 10).map(({ code }) => ({ code, people: 2, bots: 1 }))
  expect(await inTransaction(db, (tx) => countClicks(tx, clicks))).toHaveLength(10)
  expect(await inTransaction(db, (tx) => countClicks(tx, clicks))).toHaveLength(0)
  expect((await test.call('GET', `/v1/campaigns/${id}`)).body).toMatchObject({
    shorten_urls: true,
    stats: { clicks: 40 },
  })
})

it('a broadcast sends addresses unchanged if short links were not requested', async () => {
  const { id, uuid } = await openCampaign({})
  const body = { message, shorten_urls: false }
  await test.call('POST', `/v1/campaigns/${id}/send`, body, undefined, { 'idempotency-key': 'none' })
  await until(
    'all have a message',
    async () => (await test.ledger.count('messages', 'campaign_id = $1', [uuid])) === contacts,
  )
  expect(await test.ledger.count('messages', `campaign_id = $1 and body like '%https://shop.example/%'`, [uuid])).toBe(
    contacts,
  )
  expect(await test.ledger.count('short_links', 'campaign_id = $1', [uuid])).toBe(0)
})

it('a broadcast is refused, like a campaign, if there is no address for short links', async () => {
  const without = await openCampaignTest(db)
  const campaign = await without.newCampaign()
  for (const answer of [
    await without.call('POST', '/v1/campaigns', { name: 'Links', shorten_urls: true }),
    await without.call('POST', `/v1/campaigns/${campaign}/send`, { message, shorten_urls: true, dry_run: true }),
  ])
    expect(errorsOf(answer.body)).toEqual(['#/shorten_urls invalid_value'])
})
