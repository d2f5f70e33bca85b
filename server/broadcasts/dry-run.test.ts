import { expect, it } from 'vitest'
import { errorsOf } from '../accounts/testing.ts'
import { createTestDatabase } from '../ground/db/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { newId, parseId } from '../ground/base/ids.ts'
import { listStops, releaseStops } from '../guards/stops.ts'
import { passTurnOfHour } from '../guards/testing.ts'
import { until } from '../../test/until.ts'
import { openBroadcastTest } from './testing.ts'

const { db, sql } = await createTestDatabase()
const test = await openBroadcastTest(db)

it('a dry run counts the messages, names the recipients who would get none, and sends nothing', async () => {
  const campaign = await test.newCampaign()
  await sql`insert into contacts (account_id, id, campaign_id, phone_number, first_name)
    select ${test.ledger.accountId}, (lpad(to_hex(1700000000000 + i), 12, '0') || '70008000' || lpad(to_hex(i), 12, '0'))::uuid, ${parseId('cmp', campaign)}, (15551000000 + i)::text,
      case when i % 10 <> 0 then 'Ann ' || i end
    from generate_series(1, 30) i`
  await test.optOut('15551000001')
  const url = `/v1/campaigns/${campaign}/send`
  const order = { message: 'Hello {{ first_name }}', dry_run: true }
  const { status, body } = await test.call('POST', url, order, undefined, { 'idempotency-key': newId() })
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({
      object: 'dry_run',
      recipients: 30,
      messages: 26,
      segments: 26,
      segments_max: 1,
      encodings: { 'GSM-7': 26, 'UCS-2': 0 },
      skipped: { missing_variable: 3, recipient_opted_out: 1 },
      sample: 'Hello Ann 2',
    }),
  ])
  expect((body['skips'] as unknown[])[1]).toMatchObject({
    phone_number: '15551000010',
    reason: 'missing_variable',
    detail: 'The contact has no first_name.',
  })
  const dated = { ...order, message: '{{ first_name | date: "%d" }} {{ city }}' }
  const { skips } = (await test.call('POST', url, dated)).body as { skips: { detail: string }[] }
  expect(skips.map((skip) => skip.detail)).toContain('The contact has no city. Its first_name is not a date.')
  const headers = { ...test.account.headers, accept: 'text/csv' }
  const file = await test.app.inject({ method: 'POST', url, headers, payload: order })
  expect(file.headers['content-type']).toBe('text/csv; charset=utf-8')
  const lines = file.payload.trim().split('\n')
  expect(lines.map((line) => line.split(',').slice(1, 3))).toEqual([
    ['phone_number', 'reason'],
    ['15551000001', 'recipient_opted_out'],
    ['15551000010', 'missing_variable'],
    ['15551000020', 'missing_variable'],
    ['15551000030', 'missing_variable'],
  ])
  expect(await test.ledger.count('broadcasts', 'true')).toBe(0)
  expect(await test.ledger.count('messages', 'true')).toBe(0)
})

it('a dry run tells what names outside GSM-7 cost', async () => {
  const campaign = await test.newCampaign()
  await sql`insert into contacts (account_id, id, campaign_id, phone_number, first_name)
    select ${test.ledger.accountId}, gen_random_uuid(), ${parseId('cmp', campaign)}, (15551100000 + i)::text,
      (array['Ann', 'Łukasz', 'Şeyma', 'Łada'])[1 + i % 4]
    from generate_series(0, 7) i`
  const order = { message: `Hello {{ first_name }}${', we moved'.repeat(10)}`, dry_run: true }
  const { body } = await test.call('POST', `/v1/campaigns/${campaign}/send`, order)
  expect(body).toMatchObject({
    segments: 14,
    encodings: { 'GSM-7': 2, 'UCS-2': 6 },
    ucs2_extra: { segments: 6, cost: [], characters: ['Ł', 'Ş'] },
  })
})

it('a dry run skips people whose text would show nothing', async () => {
  const campaign = await test.newCampaign()
  await sql`insert into contacts (account_id, id, campaign_id, phone_number, first_name)
    select ${test.ledger.accountId}, gen_random_uuid(), ${parseId('cmp', campaign)}, (15551000100 + i)::text, name
    from unnest(array['Ann', chr(10240), chr(8203)]) with ordinality as names (name, i)`
  const order = { message: '{{ first_name | default: "\u200b" }}', dry_run: true }
  const { body } = await test.call('POST', `/v1/campaigns/${campaign}/send`, order)
  expect(body).toMatchObject({ recipients: 3, messages: 1, skipped: { too_short: 2 } })
})

it('a dry run reports whom guards would skip, with the same counts as the broadcast and the campaign’s stats', async () => {
  await passTurnOfHour()
  const campaign = await test.newCampaign()
  for (const phone_number of ['15551001000', '447400123456', '491711234567', '33612345678'])
    await test.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number })
  await test.optOut('33612345678')
  await test.setGuards({ allowed_countries: ['US', 'GB', 'FR'], dedupe_window: 3600 })
  const broadcaster = test.newBroadcaster()
  const send = async (more: object = {}): Promise<Record<string, unknown>> =>
    (await test.order(more, { campaign })).body
  const sendToAll = async (): Promise<Record<string, unknown>> => {
    const { id } = await send()
    await until('it has turned to all', async () => {
      broadcaster.wake()
      return 'recipient_opted_out' in Object((await test.read(id))['skipped'])
    })
    return test.read(id)
  }
  // The country of the number, as the contact shows it.
  expect(await send({ message: '{{ country }}', dry_run: true })).toMatchObject({ messages: 2, sample: 'US' })
  const first = { messages: 2, skipped: { destination_not_allowed: 1, recipient_opted_out: 1 } }
  expect(await send({ dry_run: true })).toMatchObject({ recipients: 4, ...first })
  expect(await sendToAll()).toMatchObject(first)
  await sql`update broadcasts set status = 'completed'; update campaigns set status = 'completed'`

  // Real messages make duplicates; a dry run does not.
  const again = { messages: 0, skipped: { ...first.skipped, duplicate_message: 2 } }
  expect(await send({ dry_run: true })).toMatchObject({ recipients: 4, ...again })
  expect(await sendToAll()).toMatchObject(again)
  const { body } = await test.call('GET', `/v1/campaigns/${campaign}`)
  const skipped = { opted_out: 2, duplicate: 2, invalid: 2, quiet_hours: 0 }
  expect(body['stats']).toMatchObject({ recipients: 8, queued: 2, skipped })

  for (const { id, endsAt } of await listStops(db, test.ledger.accountId, 9, null))
    await inTransaction(db, (tx) =>
      releaseStops(
        tx,
        test.ledger.context,
        test.ledger.accountId,
        { id },
        { by: 'usr_1', reason: 'so', until: endsAt, raisedBy: null },
      ),
    )
  expect(await send({ dry_run: true })).toMatchObject({ messages: 3, skipped: { recipient_opted_out: 1 } })
  await broadcaster.close()
})

it('a dry run reports all faults of an order at once, even if its schema refuses something', async () => {
  const url = `/v1/campaigns/${await test.newCampaign()}/send`
  const faultsOf = async (order: unknown): Promise<unknown> => errorsOf((await test.call('POST', url, order)).body)
  const wrong = { send_at_local: '2026-02-30T09:00', from: '15550009999', max_rate: 0, audience: { tags: [] } }
  expect(await faultsOf({ ...wrong, template: 'sael', variables: { x: 1 }, dry_run: true })).toEqual([
    '#/audience/tags too_short',
    '#/from sender_not_found',
    '#/max_rate out_of_range',
    '#/send_at_local invalid_format',
    '#/template template_not_found',
    '#/variables/x unknown_field',
  ])
  // If the text is refused, no further fault of it is reported.
  expect(await faultsOf({ message: 7, variables: { x: 1 }, from: '!' })).toEqual([
    '#/from invalid_sender',
    '#/message invalid_type',
  ])
  expect(await faultsOf([])).toEqual(['# invalid_type'])
})
