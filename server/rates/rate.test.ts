import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { buildTestApp, createTestAccount, testVault, type TestAccount } from '../accounts/testing.ts'
import { createTestDatabase, type TestDatabase } from '../ground/db/testing.ts'
import type { App } from '../ground/http/http.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { rateRoutes } from './http.ts'
import { compileRates, noRates, type Rate } from './rate.ts'
import { findRates, readRates } from './store.ts'

const rate = (destination: string, amount: number, from = 0, carrierId = 'a'): Rate & { carrierId: string } => ({
  carrierId,
  destination,
  effectiveFrom: new Date(from),
  price: { amount, currency: 'USD' },
})

describe('a look-up', () => {
  const rateOf = compileRates([
    rate('*', 9),
    rate('GB', 5),
    rate('4477', 3),
    rate('447700', 2),
    rate('GB', 6, 1000),
    rate('GB', 7, 2000),
    rate('DE', 1, 0, 'b'),
  ])
  it.each([
    ['a', '447700900001', 'GB', 0, 2],
    ['a', '447799900001', 'GB', 0, 3],
    ['a', '441799900001', 'GB', 0, 5],
    ['a', '441799900001', 'GB', 999, 5],
    ['a', '441799900001', 'GB', 1000, 6],
    ['a', '441799900001', 'GB', 5000, 7],
    ['a', '15551230001', 'US', 0, 9],
    ['a', '88213000001', null, 0, 9],
    ['b', '4915112345678', 'DE', 0, 1],
    ['b', '15551230001', 'US', 0, null],
    ['c', '15551230001', 'US', 0, null],
  ] as const)('at %s to %s (%s) at %i finds %j', (carrier, to, country, at, amount) => {
    expect(rateOf(carrier, to, country, at)?.amount ?? null).toBe(amount)
  })

  it('skips a row that has not begun', () => {
    expect(compileRates([rate('44', 1, 5000), rate('GB', 2)])('a', '447700900001', 'GB', 4999)?.amount).toBe(2)
  })

  it('finds the longest prefix, like a search through all of them', () => {
    const prefixes = fc.uniqueArray(fc.stringMatching(/^[1-4][1-4]{0,5}$/), { maxLength: 30 })
    fc.assert(
      fc.property(prefixes, fc.stringMatching(/^[1-4]{7,9}$/), (all, to) => {
        const longest = all.filter((one) => to.startsWith(one)).sort((a, b) => b.length - a.length)[0]
        const found = compileRates(all.map((one, i) => rate(one, i)))('a', to, null, 0)
        expect(found?.amount).toBe(longest === undefined ? undefined : all.indexOf(longest))
      }),
    )
  })

  it('is not made if there are no cards', () => {
    expect(compileRates([])).toBe(noRates)
  })
})

describe('a card', () => {
  let database: TestDatabase
  let app: App
  let operator: TestAccount
  let carrier: string

  beforeAll(async () => {
    database = await createTestDatabase()
    const { db } = database
    app = await buildTestApp(db, (app) => rateRoutes(app, { db, vault: testVault }))
    operator = await createTestAccount(db)
    const id = newId()
    carrier = showId('car', id)
    await db.query(`insert into carriers (id, name, kind, settings) values ($1, 'test', 'smpp', '{}')`, [id])
  })
  afterAll(async () => {
    await app.close()
    await database.close()
  })

  const call = async (method: 'GET' | 'PUT' | 'POST', body?: object | string, more = '', headers = {}) => {
    const answer = await app.inject({
      method,
      url: `/v1/carriers/${carrier}/rates${more}`,
      headers: {
        ...operator.headers,
        ...(body !== undefined && { 'content-type': typeof body === 'string' ? 'text/csv' : 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: body }),
    })
    return { status: answer.statusCode, text: answer.body, body: answer.body.startsWith('{') ? answer.json() : null }
  }

  it('is replaced as a whole, in JSON or CSV, and read back in both', async () => {
    const json = await call('PUT', {
      rates: [
        { country: 'GB', amount: '0.031', currency: 'EUR' },
        { prefix: '+4477', amount: '0.0295', currency: 'EUR', effective_from: '2026-01-01T00:00:00Z' },
        // Older than any message: always.
        { amount: '0.1', currency: 'EUR', effective_from: '0000-01-01' },
      ],
    })
    expect(json.body).toEqual({
      object: 'rate_card',
      carrier,
      data: [
        { country: null, prefix: null, amount: '0.10000', currency: 'EUR', effective_from: null },
        {
          country: null,
          prefix: '4477',
          amount: '0.02950',
          currency: 'EUR',
          effective_from: '2026-01-01T00:00:00.000Z',
        },
        { country: 'GB', prefix: null, amount: '0.03100', currency: 'EUR', effective_from: null },
      ],
    })
    const file = await call('GET', undefined, '', { accept: 'text/csv' })
    expect(file.text.split('\n')[0]).toBe('country,prefix,amount,currency,effective_from')
    expect((await call('PUT', file.text)).body).toEqual(json.body)
    const semicolons = await call('PUT', 'Country;Amount;Currency\nus;0.0079;USD\n*;0.05;USD\n')
    expect(semicolons.body).toMatchObject({ data: [{ country: null }, { country: 'US', amount: '0.00790' }] })
    expect((await call('GET')).body).toEqual(semicolons.body)
    expect(new Set((await readRates(database.db)).map(({ price }) => price.amount))).toEqual(new Set([7900, 50_000]))
  })

  it('of many rates is written completely, and the audit log has their number', async () => {
    const amounts = (amount: string): string =>
      Array.from({ length: 12_000 }, (_, i) => `\n${440_000 + i},${amount},USD`).join('')
    const put = (rows: string): Promise<unknown> => call('PUT', `prefix,amount,currency${rows}`)
    const events = async (): Promise<unknown[]> => {
      const rows = await database.sql<{ before: { data: unknown }; after: { data: unknown } }>`select before, after
        from audit_events order by seq desc limit 2`
      return rows.map(({ before, after }) => [before.data, after.data])
    }
    await put('\n44,0.01,USD')
    await put(amounts('0.02'))
    expect((await readRates(database.db)).length).toBe(12_000)
    await put(amounts('0.03'))
    const [last, first] = (await events()) as [[{ sha256: string }, { sha256: string }], unknown[]]
    const many = { omitted: '12000 rates', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }
    expect(first).toEqual([[expect.objectContaining({ prefix: '44', amount: '0.01000' })], many])
    expect(last).toEqual([many, many])
    expect(last[0].sha256).not.toBe(last[1].sha256)
  })

  it('reports all its faults at once, and stays unchanged', async () => {
    const before = await call('GET')
    const wrong = await call('PUT', {
      rates: [
        { country: 'XX', amount: '-1', currency: 'usd' },
        { prefix: '0044', amount: '1', currency: 'USD' },
        { amount: 1, currency: 'USD', price: '1' },
        { country: 'GB', amount: '1', currency: 'USD' },
        { country: 'gb', amount: '2', currency: 'USD' },
        { country: 'DE', amount: '1', currency: 'EUR', effective_from: 'soon' },
        { country: 'FR', amount: '1', currency: 'EUR' },
        7,
        { country: 'DE', amount: '1', currency: 'USD', effective_from: '2026-02-30' },
      ],
    })
    const errors = (wrong.body as { errors: { pointer: string; code: string }[] }).errors
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
      '#/rates/0/amount invalid_format',
      '#/rates/0/currency invalid_format',
      '#/rates/0/country invalid_value',
      '#/rates/1/prefix invalid_format',
      '#/rates/2/amount invalid_type',
      '#/rates/2/price unknown_field',
      '#/rates/4 invalid_value',
      '#/rates/5/effective_from invalid_format',
      '#/rates/6/currency invalid_value',
      '#/rates/7 invalid_type',
      '#/rates/8/effective_from invalid_format',
    ])
    const lines = await call('PUT', 'country,amount,currency\nGB,1,USD\nXX,1,USD\n')
    expect(lines.body).toMatchObject({ errors: [{ detail: expect.stringContaining('(line 3)') as string }] })
    expect((await call('PUT', {})).body).toMatchObject({ errors: [{ pointer: '#/rates', code: 'required' }] })
    const beside = await call('PUT', { rates: [{ amount: '-1', currency: 'USD' }], card: 1 })
    expect(beside.body).toMatchObject({ errors: [{ pointer: '#/card' }, { pointer: '#/rates/0/amount' }] })
    expect((await call('GET')).body).toEqual(before.body)
  })

  it('gives a number’s price, or none', async () => {
    await call('PUT', { rates: [{ country: 'US', amount: '0.0079', currency: 'USD' }] })
    expect((await call('POST', { to: '+15551230001' }, '/test')).body).toEqual({
      object: 'rate_test',
      to: '15551230001',
      country: 'US',
      price: { amount: '0.00790', currency: 'USD' },
    })
    expect((await call('POST', { to: '447700900001' }, '/test')).body).toMatchObject({ price: null })
    expect((await call('POST', { to: '1' }, '/test')).status).toBe(422)
    expect((await call('PUT', { rates: [] })).body).toMatchObject({ data: [] })
  })

  it('is read for one number only as far as an answer needs', async () => {
    const id = parseId('car', carrier) ?? ''
    const prefixes = Array.from({ length: 3000 }, (_, i) => ({ prefix: `1${i}`, amount: '0.01', currency: 'USD' }))
    await call('PUT', {
      rates: [
        ...prefixes,
        { country: 'US', amount: '0.02', currency: 'USD' },
        { country: 'GB', amount: '0.03', currency: 'USD' },
        { amount: '0.04', currency: 'USD' },
      ],
    })
    const destinationsOf = async (to: string, country: string | null, carrierId?: string): Promise<string[]> =>
      (await findRates(database.db, to, country, carrierId)).map(({ destination }) => destination).sort()
    expect(await destinationsOf('15551230001', 'US', id)).toEqual(['*', '15', '155', '1555', 'US'])
    expect(await destinationsOf('447700900001', 'GB')).toEqual(['*', 'GB'])
    expect(await destinationsOf('88213000001', null)).toEqual(['*'])
    expect(await destinationsOf('15551230001', 'US', newId())).toEqual([])
    const read = vi.spyOn(database.db, 'query')
    expect((await call('POST', { to: '15551230001' }, '/test')).body).toMatchObject({ price: { amount: '0.01000' } })
    const results = await Promise.all(read.mock.results.map(({ value }) => value as Promise<{ rows: unknown[] }>))
    read.mockRestore()
    expect(Math.max(...results.map(({ rows }) => rows.length))).toBe(5)
  })

  it('is deleted with its carrier', async () => {
    await call('PUT', { rates: [{ amount: '1', currency: 'USD' }] })
    await database.sql`delete from carriers`
    expect(await readRates(database.db)).toEqual([])
  })
})
