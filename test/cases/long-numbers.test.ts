/** Kind K: numbers unknown to the plans are sent to the ranges that the operator allows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { Phones } from '../carrier.ts'
import { openAccount, type Account } from '../shared-program.ts'
import { until, waitFor } from '../until.ts'

let account: Account
const file = readFileSync(join(import.meta.dirname, 'inputs/long-numbers.csv'), 'utf8')
const machine = '371300000000123'

beforeAll(async () => {
  account = await openAccount()
  await account.client.waitForBound()
})

test('a machine’s number is imported and sent', async () => {
  const { client, phonesPort } = account
  const phones = new Phones(phonesPort)
  const { id } = await client.expect<{ id: string }>('POST', '/v1/campaigns', { name: 'Meters' })
  const made = await client.expect<{ id: string }>('POST', `/v1/campaigns/${id}/contacts/import`, file, {
    'content-type': 'text/csv',
  })
  const over = await waitFor('the import is over', async () => {
    const one = await client.get<{ completed_at: string | null; counts: unknown }>(`/v1/imports/${made.id}`)
    return one.completed_at ? one : null
  })
  expect(over).toMatchObject({ counts: { created: 1, failed: 0 } })
  const sent = await client.send({ to: `+${machine}`, message: 'Read yourself' })
  expect(sent).toMatchObject({ to: machine, warnings: [{ code: 'unassigned_range' }] })
  await until('it arrives', async () => (await phones.texts(machine)).length === 1)
})

test('elsewhere a wrong length is still refused, and the reason names the setting', async () => {
  const refused = await account.client.call('POST', '/v1/messages/send', { to: '+3584000000001234', message: 'Hi' })
  expect(refused.status).toBe(422)
  const far = await account.client.call('POST', '/v1/messages/send', { to: '+336000000001234', message: 'Hi' })
  expect(JSON.stringify(far.body)).toContain('HELIOGRAM_ANY_LENGTH_COUNTRIES')
})
