import { errorsOf } from '../accounts/testing.ts'
import { beforeEach, expect, it } from 'vitest'
import { createTestDatabase } from '../ground/db/testing.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { openLedgerTest, type LedgerTest } from '../messages/testing.ts'
import { until } from '../../test/until.ts'
import { Broadcaster } from '../broadcasts/send.ts'
import { templateRoutes } from '../templates/http.ts'
import { templatePreviewRoute } from '../contacts/template-preview-http.ts'
import { openCampaignTest, type CampaignTest } from './testing.ts'

let test: CampaignTest
let ledger: LedgerTest

const { db, sql } = await createTestDatabase()
beforeEach(async () => {
  test = await openCampaignTest(db)
  ledger = await openLedgerTest(db, { accountId: test.account.accountId })
})

it('a campaign overrides its account’s quiet hours, and can drop its own', async () => {
  const quiet_hours = { enabled: true, start: '20:00', end: '10:00' }
  const made = await test.call('POST', '/v1/campaigns', { name: 'Autumn', quiet_hours })
  expect(made).toMatchObject({ status: 201, body: { quiet_hours } })
  const url = `/v1/campaigns/${String(made.body['id'])}`
  expect(await test.call('GET', url)).toMatchObject({ body: { quiet_hours } })
  expect(await test.call('PATCH', url, { quiet_hours: { enabled: false } })).toMatchObject({
    status: 200,
    body: { quiet_hours: { enabled: false } },
  })
  expect(await test.call('PATCH', url, { quiet_hours: null, pace: 5 })).toMatchObject({
    status: 200,
    body: { quiet_hours: null, pace: 5 },
  })
})

it('contradictory quiet hours are refused with the other faults of a campaign', async () => {
  const id = await test.newCampaign()
  const faults: [object, string[]][] = [
    [{ start: '20:00' }, ['#/quiet_hours invalid_value']],
    [{ start: '20:00', end: '20:00' }, ['#/quiet_hours/end invalid_value']],
    [{ fallback_timezone: 'Mars/Base' }, ['#/quiet_hours/fallback_timezone invalid_value']],
  ]
  for (const [quiet_hours, errors] of faults) {
    const created = await test.call('POST', '/v1/campaigns', { name: 'x', timezone: 'Nowhere', quiet_hours })
    expect(errorsOf(created.body)).toEqual([...errors, '#/timezone invalid_value'])
    const changed = await test.call('PATCH', `/v1/campaigns/${id}`, { quiet_hours })
    expect(errorsOf(changed.body)).toEqual(errors)
  }
  const { status, body } = await test.call('POST', '/v1/campaigns', { name: 'x', quiet_hours: 'night' })
  expect([status, errorsOf(body).length]).toEqual([422, 1])
})

it('the preview of a template for a contact reports that its message would wait', async () => {
  const previews = await openCampaignTest(db, { acceptor: ledger.acceptor }, (app, context) => {
    const own = { ...context, acceptor: ledger.acceptor }
    templateRoutes(app, own)
    templatePreviewRoute(app, own)
  })
  const end = inHours(5)
  const campaign = await previews.newCampaign({
    type: 'marketing',
    quiet_hours: { enabled: true, start: inHours(-1), end },
  })
  await previews.call('POST', '/v1/templates', { name: 'autumn', body: 'Sale!' })
  const contacts = { day: '15551001001', night: '15551001002' }
  for (const [name, phone_number] of Object.entries(contacts))
    await previews.call('POST', `/v1/campaigns/${campaign}/contacts`, {
      phone_number,
      timezone: name === 'night' ? 'UTC' : 'Etc/GMT-12',
    })
  await ledger.context.quietHours.refresh()
  const preview = async (contact: string): Promise<unknown> => {
    const { body } = await previews.call('POST', '/v1/templates/autumn/preview', { campaign, contact })
    return body['warnings']
  }
  const hold = expect.objectContaining({ code: 'quiet_hours_hold', until: expect.stringContaining(`T${end}`) })
  expect(await preview(contacts.night)).toContainEqual(hold)
  expect(await preview(contacts.day)).not.toContainEqual(expect.objectContaining({ code: 'quiet_hours_hold' }))
})

it('a broadcast makes all its messages at once, and those in quiet hours wait', async () => {
  const campaign = await test.newCampaign({ quiet_hours: { enabled: true, start: inHours(-1), end: inHours(5) } })
  for (let i = 0; i < 20; i++)
    await sql`insert into contacts (account_id, id, campaign_id, phone_number, timezone)
      values (${test.account.accountId}, ${newId()}, ${parseId('cmp', campaign)}, ${`1555100${1000 + i}`}, ${i < 5 ? 'Etc/GMT-12' : 'UTC'})`
  await ledger.context.quietHours.refresh()
  ledger.ownLinks.room = 100
  const key = { 'idempotency-key': 'night' }
  await test.call('POST', `/v1/campaigns/${campaign}/send`, { message: 'Hello' }, undefined, key)
  const errors: unknown[] = []
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => void errors.push(fields) }
  const broadcaster = new Broadcaster({ ...ledger.context, log, acceptor: ledger.acceptor })
  broadcaster.start()
  try {
    await until(
      'all have a message',
      async () => (await ledger.count('messages', 'account_id = $1', [test.account.accountId])) === 20,
    )
  } finally {
    await broadcaster.close()
  }
  expect(errors).toEqual([])
  expect(ledger.ownLinks.taken).toHaveLength(5)
  expect(await ledger.count('delayed', 'account_id = $1 and held_at is not null', [test.account.accountId])).toBe(15)
  expect(await test.call('GET', `/v1/campaigns/${campaign}`)).toMatchObject({
    body: { status: 'sending', stats: { recipients: 20, queued: 20, failed: 0 } },
  })
})

const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
