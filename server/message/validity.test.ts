import { expect, it } from 'vitest'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { claimMessages } from '../queue/claim.ts'
import { expireMessages } from '../queue/due.ts'
import type { MessageRow } from './message.ts'
import { openLedgerTest } from '../messages/testing.ts'

const { db } = await createTestDatabase()
const test = forEachTest(db, openLedgerTest)

const noId = '00000000-0000-0000-0000-000000000000'

it('a validity ends messages that waited too long in the queue, and keeps the carrier’s last reason', async () => {
  const [old, fresh] = [await test.send({ validitySeconds: 1 }), await test.send()]
  await test.sql`update messages set error_code = 'throttled', error_raw = '0x00000058' where id = ${old.id}`
  await test.sql`update queue set expires_at = now() where message_id = ${old.id}`
  expect(await expireMessages(test.context)).toBe(1)
  const ended = { status: 'expired', errorCode: 'expired_in_queue', errorRaw: '0x00000058' }
  expect(await test.message(old.id)).toMatchObject(ended)
  expect((await test.message(fresh.id)).status).toBe('queued')
  expect(await test.eventsOf(old.id)).toEqual(['message.failed'])
  expect(await expireMessages(test.context)).toBe(0)
})

it('a default validity does not end messages while a broadcast is paused', async () => {
  const orders = [
    { asked: null, ofCampaign: null },
    { asked: 36_000, ofCampaign: null },
    { asked: null, ofCampaign: 36_000 },
  ]
  const rows: MessageRow[] = []
  for (const { asked, ofCampaign } of orders) {
    const campaignId = newId()
    await test.sql`with campaign as (insert into campaigns (account_id, id, name, validity_period)
      values (${test.accountId}, ${campaignId}, 'One', ${ofCampaign}))
      insert into broadcasts (account_id, id, campaign_id, status, body, is_test, send_at, timezone)
      values (${test.accountId}, ${newId()}, ${campaignId}, 'paused', ${asked ? { validity_period: asked } : {}}, false, now(), 'UTC')`
    rows.push(await test.send({ campaignId, validitySeconds: asked }))
  }
  // Single sends keep their own validity, regardless of their campaign's broadcast.
  const singles = [
    { campaignId: rows[0]?.campaignId ?? '', validitySeconds: 60 },
    { campaignId: rows[0]?.campaignId ?? '', validitySeconds: 39_600 },
    { campaignId: rows[1]?.campaignId ?? '' },
  ]
  for (const single of singles) rows.push(await test.send(single))
  await test.sql`update campaigns set status = 'paused'`
  const pass = `created_at = created_at - interval '11 hours', expires_at = expires_at - interval '11 hours'`
  // A night and a day.
  for (let i = 0; i < 2; i++) {
    await test.db.query(
      `with m as (update messages set ${pass}) update queue set expires_at = now() - interval '1 hour'`,
    )
    await expireMessages(test.context)
  }
  const statuses = await Promise.all(rows.map(async ({ id }) => (await test.message(id)).status))
  expect(statuses).toEqual(['queued', 'expired', 'expired', 'expired', 'expired', 'queued'])
  expect(await test.count('queue', `expires_at > now() + interval '9 hours'`)).toBe(2)
  await test.sql`update campaigns set status = 'sending'`
  const lanes = await test.db.query<{ id: string }>('select id from lanes where account_id = $1', [test.accountId])
  const links = [{ id: test.linkId, carrierId: test.carrierId }]
  const { handovers } = await claimMessages(test.context, test.nodeId, links, lanes.rows[0]?.id ?? '', noId, 10)
  expect(handovers).toMatchObject([{ id: rows[0]?.id }, { id: rows[5]?.id }])
})
