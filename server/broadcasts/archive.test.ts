import { expect, it } from 'vitest'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, untilBlocked } from '../ground/db/testing.ts'
import { parseId } from '../ground/base/ids.ts'
import { openCampaignTest, type CampaignTest } from '../campaigns/testing.ts'

const { db } = await createTestDatabase()
const test = await openCampaignTest(db)

it('of an order and an archive at the same moment, one is refused', async () => {
  for (let round = 0; round < 10; round++) {
    const campaign = await test.newCampaign()
    const work: ReturnType<CampaignTest['call']>[] = []
    await inTransaction(db, async (tx) => {
      await tx.query('select from campaigns where id = $1 for update', [parseId('cmp', campaign)])
      work.push(call(campaign, 'archive'), call(campaign, 'send', { message: 'Hello', send_at: inAnHour() }))
      await untilBlocked(db, 2)
    })
    const [archived, sent] = await Promise.all(work)
    const { rowCount } = await db.query('select from broadcasts where campaign_id = $1', [parseId('cmp', campaign)])
    const { status } = (await test.call('GET', `/v1/campaigns/${campaign}`)).body
    expect([
      [200, 409, undefined, 'campaign_closed', 'archived', 0],
      [409, 202, 'campaign_busy', undefined, 'scheduled', 1],
    ]).toContainEqual([archived?.status, sent?.status, archived?.body['code'], sent?.body['code'], status, rowCount])
  }
})

it('an archived campaign is reported as closed, by a dry run and by an order', async () => {
  const campaign = await test.newCampaign()
  await test.call('POST', `/v1/campaigns/${campaign}/archive`)
  for (const body of [{ message: 'Hello', dry_run: true }, { message: 'Hello' }, { dry_run: 'perhaps' }])
    expect(await call(campaign, 'send', body)).toMatchObject({ status: 409, body: { code: 'campaign_closed' } })
})

it('a repeated archive changes nothing and adds no entry to the audit log', async () => {
  const campaign = await test.newCampaign()
  const first = await test.call('POST', `/v1/campaigns/${campaign}/archive`)
  expect(await test.call('POST', `/v1/campaigns/${campaign}/archive`)).toMatchObject({ status: 200, body: first.body })
  const { rowCount } = await db.query(`select from audit_events where action = 'campaign.archived' and target = $1`, [
    campaign,
  ])
  expect(rowCount).toBe(1)
})

const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString()
const call = (campaign: string, verb: string, body?: object): ReturnType<CampaignTest['call']> =>
  test.call('POST', `/v1/campaigns/${campaign}/${verb}`, body, undefined, { 'idempotency-key': `${campaign}-${verb}` })
