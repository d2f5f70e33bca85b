import { beforeEach, expect, it } from 'vitest'
import type { TestAccount } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, showId } from '../ground/base/ids.ts'
import { until } from '../../test/until.ts'
import { openBroadcastTest } from './testing.ts'

let campaign: string

const { db, sql } = await createTestDatabase()
const test = await openBroadcastTest(db)
await test.setGuards({ recipients_above: 2 })
beforeEach(async () => {
  campaign = await test.newCampaign()
})

it('approval is not required for a test that grows', async () => {
  const id = await orderThatGrows(await test.newKey('test'))
  expect(await test.read(id)).toMatchObject({ status: 'sending', recipients: 3 })
})

it('a broadcast that has grown is not approved, and its recipients no longer wait', async () => {
  const id = await orderThatGrows(test.account)
  const reject = `/v1/broadcasts/${String(id)}/reject`
  expect(await test.call('POST', reject, { reason: 'so' }, await test.newKey('live'))).toMatchObject({
    status: 200,
    body: { status: 'rejected', recipients: 3, remaining: 0 },
  })
  const { stats } = (await test.call('GET', `/v1/campaigns/${campaign}`)).body
  expect(stats).toMatchObject({ recipients: 3, queued: 0, canceled: 3 })
})

it('a user whom the requester has invited since cannot approve', async () => {
  const id = await orderThatGrows(test.account)
  const approver = await test.newKey('live')
  const [userId, email] = [newId(), `${newId()}@example.com`]
  const insert = (invitedBy: string) =>
    sql`insert into invitations (account_id, id, email, role, code_hash, invited_by, expires_at, accepted_at)
      values (${test.ledger.accountId}, ${newId()}, ${email}, 'owner', ${Buffer.from(newId())}, ${invitedBy}, now(), now())`
  await sql`insert into users (account_id, id, email, password_hash, role)
    values (${test.ledger.accountId}, ${userId}, ${email}, '', 'owner')`
  await sql`insert into key_makers (account_id, target, actor_kind, actor_id)
    values (${test.ledger.accountId}, ${showId('key', approver.keyId)}, 'user', ${userId})`
  await insert(test.account.keyId)
  const decide = () =>
    test.call('POST', `/v1/broadcasts/${String(id)}/reject`, { reason: 'so' }, approver, { 'idempotency-key': newId() })
  expect(await decide()).toMatchObject({ status: 403, body: { code: 'own_broadcast' } })
  await sql`update users set created_at = now() - interval '1 hour' where id = ${userId}`
  expect(await decide()).toMatchObject({ status: 200 })
})

const addContact = (phone_number: string): Promise<unknown> =>
  test.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number })

/** Orders for later, to two contacts, then adds a third and makes it due. Returns the id once all are recipients. */
async function orderThatGrows(who: TestAccount): Promise<unknown> {
  await addContact('15551001000')
  await addContact('15551001001')
  const order = { message: 'Hello', send_at: new Date(Date.now() + 60_000).toISOString() }
  const { body } = await test.order(order, { campaign, who })
  expect(body['status']).toBe('scheduled')
  await addContact('15551001002')
  await sql`update broadcasts set send_at = now() where status = 'scheduled'`
  const broadcaster = test.newBroadcaster()
  broadcaster.wake()
  await until('all are recipients', async () => (await test.read(body['id']))['expanded'] === true)
  await broadcaster.close()
  return body['id']
}
