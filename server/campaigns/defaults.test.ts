/** Defaults that messages and broadcasts inherit from a campaign: a pool instead of a sender, and a text. */
import { errorsOf, type Answer } from '../accounts/testing.ts'
import { beforeEach, describe, expect, it } from 'vitest'
import { poolRoutes } from '../senders/pool-http.ts'
import { savePool } from '../senders/pool-store.ts'
import { inTransaction } from '../ground/db/db.ts'
import { createTestDatabase, forEachTest } from '../ground/db/testing.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { templateRoutes } from '../templates/http.ts'
import { insertTemplate } from '../templates/store.ts'
import { newSender, openCampaignTest } from './testing.ts'

const mine = '15557650001'

const { db } = await createTestDatabase()
const test = forEachTest(db, (own) =>
  openCampaignTest(own, {}, (app, context) => {
    templateRoutes(app, context)
    poolRoutes(app, context)
  }),
)
beforeEach(async () => {
  await newSender(db, test.account.accountId, mine)
})

describe('the sender pool of a campaign', () => {
  it('is shown, changed and removed; a sender replaces it, and it replaces a sender', async () => {
    const pool = await newPool()
    const { status, body } = await create({ sender_pool: pool })
    expect([status, body['sender_pool'], body['from']]).toEqual([201, pool, null])
    const id = String(body['id'])
    expect((await test.call('GET', `/v1/campaigns/${id}`)).body).toMatchObject({ sender_pool: pool })
    expect((await test.call('GET', '/v1/campaigns')).body).toMatchObject({ data: [{ sender_pool: pool }] })
    expect((await patch(id, { from: mine })).body).toMatchObject({ from: mine, sender_pool: null })
    expect((await patch(id, { sender_pool: pool })).body).toMatchObject({ from: null, sender_pool: pool })
    expect((await patch(id, { from: null })).body).toMatchObject({ from: null, sender_pool: pool })
    expect((await patch(id, { sender_pool: null, from: mine })).body).toMatchObject({ from: mine, sender_pool: null })
    expect((await patch(id, { name: 'y' })).body).toMatchObject({ from: mine, sender_pool: null })
  })

  it('must be the account’s, and excludes a sender', async () => {
    const pool = await newPool()
    const theirs = await newPool(test.other.accountId)
    for (const sender_pool of [theirs, showId('pol', newId()), 'pol_none'])
      expect(errorsOf((await create({ sender_pool, timezone: 'x' })).body)).toEqual([
        expect.stringMatching(/^#\/sender_pool (pool_not_found|invalid_value)$/),
        '#/timezone invalid_value',
      ])
    expect(errorsOf((await create({ sender_pool: theirs })).body)).toEqual(['#/sender_pool pool_not_found'])
    expect(errorsOf((await create({ sender_pool: pool, from: mine })).body)).toEqual(['#/sender_pool invalid_value'])
    const id = await test.newCampaign({ sender_pool: pool })
    expect(errorsOf((await patch(id, { sender_pool: theirs, type: 'spam' })).body)).toEqual([
      '#/sender_pool pool_not_found',
      '#/type invalid_value',
    ])
    expect(errorsOf((await patch(id, { sender_pool: pool, from: mine })).body)).toEqual(['#/sender_pool invalid_value'])
  })

  it('is not deleted while an open campaign or an active broadcast uses it; a closed campaign drops it', async () => {
    const pool = await newPool()
    const remove = (): Promise<Answer> => test.call('DELETE', `/v1/sender-pools/${pool}`)
    const id = await test.newCampaign({ sender_pool: pool })
    expect(await remove()).toMatchObject({
      status: 409,
      body: { code: 'pool_in_use', detail: expect.stringContaining(id) as string },
    })
    await test.call('POST', `/v1/campaigns/${id}/archive`)
    const other = await test.newCampaign({ message: 'Hello' })
    const order = { sender_pool: pool, send_at: new Date(Date.now() + 3_600_000).toISOString() }
    const key = { 'idempotency-key': 'pool' }
    expect((await test.call('POST', `/v1/campaigns/${other}/send`, order, undefined, key)).status).toBe(202)
    expect((await remove()).body).toMatchObject({ detail: expect.stringContaining(other) as string })
    await test.call('POST', `/v1/campaigns/${other}/cancel`)
    expect((await remove()).status).toBe(204)
    expect((await test.call('GET', `/v1/campaigns/${id}`)).body).toMatchObject({ sender_pool: null })
  })

  it('is not deleted while it is being assigned to a campaign', async () => {
    const pool = await newPool()
    const { accountId } = test.account
    let removing: Promise<Answer> | undefined
    await inTransaction(db, async (tx) => {
      await tx.query('select 1 from sender_pools where id = $1 for key share', [parseId('pol', pool)])
      removing = test.call('DELETE', `/v1/sender-pools/${pool}`)
      await tx.query(`insert into campaigns (account_id, id, name, pool_id) values ($1, $2, 'x', $3)`, [
        accountId,
        newId(),
        parseId('pol', pool),
      ])
    })
    expect((await removing)?.status).toBe(409)
  })
})

describe('the text of a campaign', () => {
  it('is a message or a template, which replace each other, with values', async () => {
    const template = await newTemplate('sale', '{{ first_name }}: {{ percent }} off')
    const { status, body } = await create({ template: 'sale', variables: { percent: 20 } })
    expect([status, body['template'], body['message'], body['variables']]).toEqual([
      201,
      template,
      null,
      { percent: 20 },
    ])
    const id = String(body['id'])
    const message = 'Only {{ percent }}'
    expect((await patch(id, { message })).body).toMatchObject({ message, template: null, variables: { percent: 20 } })
    expect((await patch(id, { template })).body).toMatchObject({ message: null, template })
    expect((await patch(id, { name: 'y' })).body).toMatchObject({ message: null, template, variables: { percent: 20 } })
    expect((await patch(id, { variables: {} })).body).toMatchObject({ template, variables: {} })
    expect((await patch(id, { variables: { percent: 5 }, message })).body).toMatchObject({ variables: { percent: 5 } })
    expect((await patch(id, { template: null })).body).toMatchObject({ message, template: null })
    expect((await patch(id, { message: null })).body).toMatchObject({ message: null, template: null, variables: {} })
    expect((await create({})).body).toMatchObject({ message: null, template: null, variables: {}, sender_pool: null })
  })

  it('is checked like a broadcast’s, all at once', async () => {
    await newTemplate('theirs', 'x', test.other.accountId)
    await newTemplate('mine', 'Hello {{ first_name }}')
    expect(errorsOf((await create({ message: 'Hello {{ first_name', type: 'spam' })).body)).toEqual([
      '#/message invalid_template',
      '#/type invalid_value',
    ])
    expect(errorsOf((await create({ message: 'x'.repeat(1601) })).body)).toEqual(['#/message too_long'])
    expect(errorsOf((await create({ message: '' })).body)).toEqual(['#/message too_short'])
    expect(errorsOf((await create({ template: 'theirs', timezone: 'x' })).body)).toEqual([
      '#/template template_not_found',
      '#/timezone invalid_value',
    ])
    expect(errorsOf((await create({ template: 'mine', message: 'x' })).body)).toEqual(['#/template invalid_value'])
    expect(errorsOf((await create({ template: 'mine', variables: { 'a/b': 1 } })).body)).toEqual([
      '#/variables/a~1b unknown_field',
    ])
    expect(errorsOf((await create({ variables: { a: 1 } })).body)).toEqual(['#/variables unknown_field'])
    const id = await test.newCampaign({ message: 'x' })
    expect(errorsOf((await patch(id, { variables: { a: 1 }, timezone: 'x' })).body)).toEqual([
      '#/timezone invalid_value',
      '#/variables/a unknown_field',
    ])
    expect((await patch(id, { template: 'mine', variables: { first_name: 'you' } })).status).toBe(200)
  })

  it('keeps its template from deletion while the campaign is open; a closed one drops it', async () => {
    const template = await newTemplate('sale', 'x')
    const id = await test.newCampaign({ template })
    const remove = (): Promise<Answer> => test.call('DELETE', '/v1/templates/sale')
    expect(await remove()).toMatchObject({
      status: 409,
      body: { code: 'template_in_use', detail: expect.stringContaining(id) as string },
    })
    expect((await test.call('PATCH', '/v1/templates/sale', { name: 'spring' })).status).toBe(200)
    expect((await test.call('GET', `/v1/campaigns/${id}`)).body).toMatchObject({ template })
    const { body: archived } = await test.call('POST', `/v1/campaigns/${id}/archive`)
    const { updated_at } = (await test.call('GET', `/v1/campaigns/${id}`)).body
    expect(archived).toMatchObject({ status: 'archived', updated_at })
    expect((await test.call('DELETE', `/v1/templates/${template}`)).status).toBe(204)
    expect((await test.call('GET', `/v1/campaigns/${id}`)).body).toMatchObject({ template: null })
  })

  it('is used by a broadcast without a text, whose own values precede the campaign’s', async () => {
    await newTemplate('sale', '{{ percent }} off till {{ day }}')
    const id = await test.newCampaign({ template: 'sale', variables: { percent: '20 %', day: 'Friday' } })
    const added = await test.call('POST', `/v1/campaigns/${id}/contacts`, { phone_number: '15551230001' })
    expect(added).toMatchObject({ status: 201 })
    const sample = async (fields: object): Promise<unknown> => {
      const { body } = await test.call('POST', `/v1/campaigns/${id}/send`, { dry_run: true, ...fields })
      return body['sample'] ?? errorsOf(body)
    }
    expect(await sample({})).toBe('20 % off till Friday')
    expect(await sample({ variables: { day: 'Sunday' } })).toBe('20 % off till Sunday')
    // Null counts as missing: in an order, and in a campaign, where the contact's value then applies.
    expect(await sample({ variables: { day: null } })).toBe('20 % off till Friday')
    expect(await sample({ message: 'To {{ phone_number }}', variables: { phone_number: null } })).toBe('To 15551230001')
    const mild = await test.newCampaign({ message: 'To {{ phone_number }}', variables: { phone_number: null } })
    await test.call('POST', `/v1/campaigns/${mild}/contacts`, { phone_number: '15551230001' })
    expect((await test.call('POST', `/v1/campaigns/${mild}/send`, { dry_run: true })).body).toMatchObject({
      sample: 'To 15551230001',
    })
    expect(await sample({ variables: { dya: 'Sunday' } })).toEqual(['#/variables/dya unknown_field'])
    expect(await sample({ message: 'Other {{ day | default: "day" }}' })).toBe('Other day')
    await test.call('PATCH', '/v1/templates/sale', { body: 'Now {{ percent }}' })
    expect(await sample({})).toBe('Now 20 %')
    await patch(id, { message: 'Own' })
    expect(await sample({})).toBe('Own')
    await patch(id, { message: null })
    expect(await sample({ send_at: '2020-01-01T00:00:00.000Z' })).toEqual([
      '#/message required',
      '#/send_at out_of_range',
    ])
    expect((await test.call('POST', `/v1/campaigns/${id}/send`, { dry_run: true }, test.other)).status).toBe(404)
  })

  it('is that of the moment of the order, also for a repeated order', async () => {
    const id = await test.newCampaign({ message: 'First' })
    const send = (): Promise<Answer> =>
      test.call('POST', `/v1/campaigns/${id}/send`, {}, undefined, { 'idempotency-key': 'text' })
    const first = await send()
    expect([first.status, first.body['message']]).toEqual([202, 'First'])
    await patch(id, { message: null })
    const again = await send()
    expect([again.status, again.body, again.headers['idempotency-replayed']]).toEqual([202, first.body, 'true'])
  })
})

/** A pool without members; returns its public id. */
async function newPool(accountId = test.account.accountId): Promise<string> {
  const id = newId()
  await inTransaction(db, (tx) => savePool(tx, { accountId, id, name: id, strategy: 'sticky', members: [] }))
  return showId('pol', id)
}

async function newTemplate(name: string, body: string, accountId = test.account.accountId): Promise<string> {
  const id = newId()
  const texts = { body, language: 'en', languages: { de: 'Hallo {{ first_name }}' } }
  await inTransaction(db, (tx) => insertTemplate(tx, accountId, { id, name, ...texts }))
  return showId('tpl', id)
}

const create = (fields: object): Promise<Answer> => test.call('POST', '/v1/campaigns', { name: 'x', ...fields })
const patch = (id: string, fields: object): Promise<Answer> => test.call('PATCH', `/v1/campaigns/${id}`, fields)
