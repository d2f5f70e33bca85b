/** Kind A: one phone has several spellings, and is one person at every interface. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { Phones } from '../carrier.ts'
import { openAccount, type Account } from '../shared-program.ts'
import { until, waitFor } from '../until.ts'

let account: Account
let phones: Phones

const input = (name: string): string => readFileSync(join(import.meta.dirname, 'inputs', name), 'utf8')
const sourceOf = (name: string): string => (JSON.parse(input(name)) as { source: string }).source

beforeAll(async () => {
  account = await openAccount()
  phones = new Phones(account.phonesPort)
  await account.client.waitForBound()
})

const status = async (method: string, path: string, body?: unknown): Promise<number> =>
  (await account.client.call(method, path, body)).status

async function checked(numbers: string[]): Promise<[string, boolean][]> {
  const { data } = await account.client.expect<{ data: { number: string; opted_out: boolean }[] }>(
    'POST',
    '/v1/opt-outs/check',
    { numbers },
  )
  return data.map((one) => [one.number, one.opted_out])
}

async function importFile(campaign: string, text: string): Promise<{ counts: Record<string, number> }> {
  const { id } = await account.client.expect<{ id: string }>(
    'POST',
    `/v1/campaigns/${campaign}/contacts/import`,
    text,
    {
      'content-type': 'text/csv',
    },
  )
  return waitFor('the import is over', async () => {
    const one = await account.client.get<{ completed_at: string | null; counts: Record<string, number> }>(
      `/v1/imports/${id}`,
    )
    return one.completed_at ? one : null
  })
}

/** STOP comes in one form; the person is opted out under all, once per list, and revoked and erased under any. */
async function expectOnePerson(current: string, old: string, from: string): Promise<void> {
  const { client } = account
  await phones.reply(from, account.number, 'STOP')
  await until(`STOP from ${from} is stored`, async () => (await status('GET', `/v1/opt-outs/${current}`)) === 200)
  expect(await checked([current, `+${current}`, old, `+${old}`])).toEqual([
    [current, true],
    [current, true],
    [current, true],
    [current, true],
  ])
  for (const to of [current, `+${current}`, old, `+${old}`]) {
    const send = await client.call('POST', '/v1/messages/send', { to, message: 'Sale', type: 'marketing' })
    expect(send.body, to).toMatchObject({ code: 'recipient_opted_out' })
  }
  for (const form of [current, old]) {
    expect(await client.get<{ data: unknown[] }>(`/v1/opt-outs?number=${form}`), form).toMatchObject({
      data: [{ number: current }],
    })
    expect(await client.get<{ data: unknown[] }>(`/v1/conversations?their_number=${form}`), form).toMatchObject({
      data: [{ their_number: current }],
    })
    expect((await client.listMessages(`direction=inbound&from=${form}`)).length, form).toBeGreaterThan(0)
    expect(await status('GET', `/v1/opt-outs/${form}`), form).toBe(200)
    expect(await status('DELETE', `/v1/opt-outs/${form}?reason=asked`), form).toBe(204)
    expect(await status('POST', '/v1/opt-outs', { number: form }), form).toBe(201)
    expect(await status('POST', '/v1/opt-outs', { number: form === old ? current : old }), form).toBe(200)
  }
  expect(await status('POST', `/v1/opt-outs/${old}/forget`)).toBe(200)
  expect(await checked([current, old])).toEqual([
    [current, true],
    [current, true],
  ])
  // START in the other form comes from the same person.
  await phones.reply(from === old ? current : old, account.number, 'START')
  await until(`START lets ${current} in`, async () => (await checked([old]))[0]?.[1] === false)
  const { to } = await client.send({ to: old, message: 'Welcome back' })
  expect(to).toBe(current)
}

test('a Mexican phone with and without the 1 is one contact, one opt-out and one conversation', async () => {
  const { client } = account
  const { id } = await client.expect<{ id: string }>('POST', '/v1/campaigns', { name: 'Mexico', type: 'marketing' })
  expect(await importFile(id, input('mexico.csv'))).toMatchObject({ counts: { created: 2, failed: 0 } })
  const contacts = await client.get<{ data: { phone_number: string }[] }>(`/v1/campaigns/${id}/contacts`)
  expect(contacts.data.map((one) => one.phone_number).toSorted()).toEqual(['525512345678', '525587654321'])
  const found = await client.get<{ data: unknown[] }>(`/v1/campaigns/${id}/contacts?phone_number=5215587654321`)
  expect(found.data).toHaveLength(1)
  const twice = await client.call('POST', `/v1/campaigns/${id}/contacts`, { phone_number: '5215512345678' })
  expect(twice.body).toMatchObject({ code: 'contact_exists' })
  await phones.reply(sourceOf('mexico.jsonl'), account.number, 'STOP')
  await until('Luz is out', async () => (await checked(['525512345678']))[0]?.[1] === true)
  const dry = await client.expect('POST', `/v1/campaigns/${id}/send`, { message: 'Sale', dry_run: true })
  expect(JSON.stringify(dry)).toContain('recipient_opted_out')
  await client.expect('DELETE', '/v1/opt-outs/5215512345678?reason=test')
  await expectOnePerson('525512345678', '5215512345678', sourceOf('mexico.jsonl'))
})

test('a phone of Benin in its old and its new form is one contact and one person', async () => {
  const { client } = account
  const { id } = await client.expect<{ id: string }>('POST', '/v1/campaigns', { name: 'Benin', type: 'marketing' })
  await importFile(id, input('renumbered.csv'))
  const contacts = await client.get<{ data: { phone_number: string }[] }>(`/v1/campaigns/${id}/contacts`)
  expect(contacts.data.map((one) => one.phone_number)).toEqual(['2290197000001'])
  await expectOnePerson('2290197000001', '22997000001', sourceOf('renumbered.jsonl'))
})

test.each([
  ['Argentina', '5491123456789', '541123456789'],
  ['Brazil', '5511987654321', '551187654321'],
  ['Côte d’Ivoire', '2250707123456', '22507123456'],
  ['Viet Nam', '84331234567', '841631234567'],
])('a phone of %s is one person, in whichever form STOP arrives', async (_country, current, old) => {
  await expectOnePerson(current, old, old)
  await expectOnePerson(current, old, current)
})

test('lists of opt-outs, batches and erasures recognize the phone in every form', async () => {
  const { client } = account
  await client.expect('POST', '/v1/opt-outs/import', 'number\n+5215522222222\n', { 'content-type': 'text/csv' })
  await client.expect('POST', '/v1/opt-outs/import', { opt_outs: [{ number: '551188888888' }] })
  expect(await checked(['525522222222', '5511988888888'])).toEqual([
    ['525522222222', true],
    ['5511988888888', true],
  ])
  const batch = await client.expect(
    'POST',
    '/v1/messages/batch',
    {
      messages: [
        { to: '5215522222222', message: 'Hi' },
        { to: '5215533333333', message: 'Hi' },
      ],
    },
    { 'idempotency-key': 'one-phone' },
  )
  expect(JSON.stringify(batch)).toContain('recipient_opted_out')
  expect(JSON.stringify(batch)).toContain('"525533333333"')
  const [one, two] = await Promise.all([
    client.expect<{ id: string }>('POST', '/v1/erasures', { number: '5215533333333' }),
    client.expect<{ id: string }>('POST', '/v1/erasures', { number: '525533333333' }),
  ])
  expect(one.id).toBe(two.id)
})

test('an old form that may belong to two phones is refused with the likely number', async () => {
  const refused = await account.client.call('POST', '/v1/messages/send', { to: '551178123456', message: 'Hi' })
  expect(refused.body).toMatchObject({
    errors: [{ pointer: '#/to', code: 'invalid_phone_number', suggestion: '5511978123456' }],
  })
})
