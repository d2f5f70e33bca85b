import { expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { openCampaignTest } from '../campaigns/testing.ts'
import { expandPiece } from './recipients.ts'
import { findBroadcast } from './store.ts'

const { db, sql } = await createTestDatabase()
const test = await openCampaignTest(db)

it('recipients’ local time is in the contact’s own zone, else the campaign’s, else the number’s', async () => {
  const numbers = {
    newYork: '12125551234',
    tollFree: '18005551234',
    satellite: '881612345678',
    elsewhere: '12125551235',
  }
  const places: Record<string, string>[] = []
  for (const fields of [{}, { timezone: 'Asia/Tokyo' }]) {
    const campaign = await test.newCampaign(fields)
    for (const phone_number of Object.values(numbers)) {
      const timezone = phone_number === numbers.elsewhere ? { timezone: 'Europe/Berlin' } : {}
      await test.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number, ...timezone })
    }
    const times = await timesOf(campaign)
    places.push(Object.fromEntries(Object.entries(numbers).map(([place, number]) => [place, times[number] ?? ''])))
  }
  // A number without a known region waits for the last clock of its country, so that it is early nowhere.
  expect(places).toEqual([
    { newYork: '14:00', tollFree: '19:00', satellite: '09:00', elsewhere: '08:00' },
    { newYork: '00:00', tollFree: '00:00', satellite: '00:00', elsewhere: '08:00' },
  ])
})

/** Nine o'clock on a winter day on each number's clock, in UTC. */
async function timesOf(campaign: string): Promise<Record<string, string>> {
  const now = new Date()
  // Ahead, and by less than a year.
  const day = now.getUTCMonth() === 0 ? `${now.getUTCFullYear()}-02-15` : `${now.getUTCFullYear() + 1}-01-15`
  const body = { message: 'Hello', send_at_local: `${day}T09:00` }
  const headers = { 'idempotency-key': newId() }
  const order = await test.call('POST', `/v1/campaigns/${campaign}/send`, body, undefined, headers)
  const id = parseId('brc', String(order.body['id'])) ?? ''
  const row = await findBroadcast(db, test.account.accountId, id)
  if (!row) throw new Error(JSON.stringify(order.body))
  await inTransaction(db, (tx) => expandPiece(tx, row, 100))
  const rows = await sql<{
    number: string
    time: string
  }>`select phone_number as number, to_char(due_at, 'HH24:MI') as time
    from recipients
    join contacts on id = contact_id
    where broadcast_id = ${id}`
  return Object.fromEntries(rows.map(({ number, time }) => [number, time]))
}
