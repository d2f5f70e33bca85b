/** Kind K: numbers unknown to the plans are sent to the ranges that the operator allows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Phones } from '../carrier.ts'
import { startProgram, type Program } from '../harness.ts'
import { until, waitFor } from '../until.ts'

let program: Program
const file = readFileSync(join(import.meta.dirname, 'inputs/long-numbers.csv'), 'utf8')
const machine = '371300000000123'

beforeAll(async () => {
  program = await startProgram({ env: { HELIOGRAM_ANY_LENGTH_COUNTRIES: 'LV, SE' } })
  await program.client.waitForBound()
})
afterAll(() => program?.remove())

test('a machine’s number is imported and sent', async () => {
  const { client } = program
  const phones = new Phones(Number(/Simulated phones +http:\/\/127\.0\.0\.1:(\d+)/.exec(program.stdout)?.[1]))
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
  const refused = await program.client.call('POST', '/v1/messages/send', { to: '+3584000000001234', message: 'Hi' })
  expect(refused.status).toBe(422)
  const far = await program.client.call('POST', '/v1/messages/send', { to: '+336000000001234', message: 'Hi' })
  expect(JSON.stringify(far.body)).toContain('HELIOGRAM_ANY_LENGTH_COUNTRIES')
})
