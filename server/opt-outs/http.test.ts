import { describe, expect, it } from 'vitest'
import { createKey } from '../accounts/keys.ts'
import { createTestAccount, testVault } from '../accounts/testing.ts'
import { inTransaction } from '../ground/db/db.ts'
import { untilBlocked } from '../ground/db/testing.ts'
import type { Scope } from '../ground/http/http.ts'
import { firstIdAt, newId, showId } from '../ground/base/ids.ts'
import { hashNumber } from '../message/consent.ts'
import { forgetNumbers, optOut } from './opt-out.ts'
import {
  account,
  add,
  call,
  dataOf,
  database,
  errorsOf,
  openOptOutTests,
  person,
  say,
  test,
  type Answer,
} from './testing.ts'

openOptOutTests()

describe('an opt-out by a caller', () => {
  it('is created once, with its position, and kept with its reason', async () => {
    const made = await add(`+${person}`, 'complaint by mail')
    expect(made).toMatchObject({
      status: 201,
      body: { object: 'opt_out', number: person, source: 'api', reason: 'complaint by mail', message: null },
    })
    expect(await add(person, 'again')).toMatchObject({
      status: 200,
      body: { id: made.body['id'], reason: 'complaint by mail' },
    })
    expect((await call('GET', `/opt-outs/${person}`)).body).toEqual(made.body)
    expect(errorsOf(await add('12'))).toEqual(['#/number invalid_phone_number'])
    expect((await call('GET', '/opt-outs/15551239999')).status).toBe(404)
    const spaced = await call('GET', `/opt-outs/${encodeURIComponent(`+${person.slice(0, 1)} ${person.slice(1)}`)}`)
    expect(spaced).toMatchObject({ status: 404, body: { code: 'not_found' } })
    expect(spaced.body['detail']).toContain(`such as 15551234567; did you mean ${person}?`)
  })

  it('is removed only with a reason, which the ledger keeps', async () => {
    await add(person)
    expect(errorsOf(await call('DELETE', `/opt-outs/${person}`))).toEqual(['?reason required'])
    expect((await call('DELETE', `/opt-outs/${person}?reason=asked+by+phone`)).status).toBe(204)
    expect((await call('DELETE', `/opt-outs/${person}?reason=asked+by+phone`)).status).toBe(404)
    const ledger = await call('GET', `/consent?number=${person}`)
    expect(dataOf(ledger)).toMatchObject([
      { status: 'opted_in', source: 'api', evidence: { reason: 'asked by phone' }, number: person },
      { status: 'opted_out', source: 'api', actor: expect.stringMatching(/^key_/) as string },
    ])
  })

  it('needs the right scope, and belongs to one account', async () => {
    await add(person)
    expect((await call('POST', '/opt-outs', { number: person }, await keyWith('messages:read'))).status).toBe(403)
    const { headers } = await createTestAccount(database.db)
    expect((await call('GET', `/opt-outs/${person}`, undefined, headers)).status).toBe(404)
    expect(dataOf(await call('GET', `/consent?number=${person}`, undefined, headers))).toEqual([])
  })
})

describe('the list', () => {
  it('is filtered by number, source, reason and time, and reports all faults of a filter', async () => {
    await add('15551230001', 'A complaint by MAIL, 100%')
    await add('15551230002', 'complaint')
    await add('15551230003')
    await call('POST', '/opt-outs/import', { opt_outs: [{ number: '15551230004', reason: 'By mail' }] })
    await say('STOP', '15551230005')
    await call('POST', '/opt-outs/15551230003/forget')
    const forgotten = (await call('GET', '/opt-outs/15551230003')).body['id']
    const list = async (query: string): Promise<unknown> =>
      dataOf(await call('GET', `/opt-outs?${query}`)).map(({ id, number }) => (id === forgotten ? id : number))
    expect(await list('number=%2B15551230002')).toEqual(['15551230002'])
    expect(await list('number=15551230003')).toEqual([forgotten])
    expect(await list('number=15551239999')).toEqual([])
    expect(await list('source=reply')).toEqual(['15551230005'])
    expect(await list('source=api')).toEqual([forgotten, '15551230002', '15551230001'])
    expect(await list('reason=MAIL')).toEqual(['15551230004', '15551230001'])
    expect(await list('reason=mail+compl&source=api')).toEqual(['15551230001'])
    expect(await list('reason=100%25')).toEqual(['15551230001'])
    expect(await list('created_after=2020-01-01&number=15551230001')).toEqual(['15551230001'])
    expect(await list('created_before=2020-01-01')).toEqual([])
    const page = await call('GET', '/opt-outs?source=api&reason=complaint&limit=1')
    expect(await list(`source=api&reason=complaint&limit=1&cursor=${String(page.body['next_cursor'])}`)).toEqual([
      '15551230001',
    ])
    const other = await call('GET', `/opt-outs?source=api&limit=1&cursor=${String(page.body['next_cursor'])}`)
    expect(other.body['code']).toBe('invalid_cursor')
    const wrong = await call('GET', '/opt-outs?number=12&source=rumour&created_after=today&reasons=x&limit=0')
    expect(errorsOf(wrong)).toEqual([
      '?reasons unknown_field',
      '?limit out_of_range',
      '?source invalid_value',
      '?created_after invalid_format',
      '?number invalid_phone_number',
    ])
  })

  it('masks numbers from callers who may not read contacts', async () => {
    await add(person)
    await say('STOP ACME', '15551230002')
    const headers = await keyWith('messages:read')
    expect(dataOf(await call('GET', '/opt-outs', undefined, headers))).toMatchObject([{ number: '1555***0001' }])
    expect(dataOf(await call('GET', '/opt-outs/suspected', undefined, headers))).toMatchObject([
      { number: '1555***0002', text: null },
    ])
    expect((await call('GET', '/opt-outs/export', undefined, headers)).status).toBe(403)
  })

  it('forgets a number and keeps the stop', async () => {
    await add(person, 'wants to be deleted')
    expect(await call('POST', `/opt-outs/${person}/forget`)).toMatchObject({
      status: 200,
      body: { number: null, reason: null },
    })
    await database.sql`update opt_outs set created_at = now() - interval '1 hour'`
    await forgetNumbers(database.db)
    expect(dataOf(await call('GET', '/opt-outs'))).toMatchObject([{ number: null }])
    expect((await call('GET', `/opt-outs/${person}`)).body).toMatchObject({ number: null, source: 'api' })
    expect((await add(person)).status).toBe(200)
    expect(dataOf(await call('POST', '/opt-outs/check', { numbers: [person] }))).toMatchObject([{ opted_out: true }])
    expect((await call('POST', '/opt-outs/15551239999/forget')).status).toBe(404)
  })

  it('is queried for many numbers at once', async () => {
    await add(person)
    const answer = await call('POST', '/opt-outs/check', { numbers: [`+${person}`, '15551230002', 'x'] })
    expect(dataOf(answer)).toMatchObject([
      { number: person, valid: true, opted_out: true, since: expect.any(String) as string },
      { number: '15551230002', valid: true, opted_out: false, since: null },
      { number: 'x', valid: false, opted_out: false },
    ])
  })
})

describe('a list in a file', () => {
  it('opts every good row out, and reports faults of the others', async () => {
    await add(person)
    const csv =
      '\uFEFFPhone number;reason\r\n+1 (555) 123-0001;old\r\n0015551230002;"=HYPERLINK(""x"")"\r\n15551230002;\r\nabc;\r\n;nobody\r\n;\r\n'
    const answer = await call('POST', '/opt-outs/import', csv)
    expect(answer).toMatchObject({ status: 200, body: { total: 5, created: 1, existing: 1, duplicate: 1, failed: 2 } })
    expect(answer.body['errors']).toMatchObject([
      { line: 5, value: 'abc', code: 'invalid_phone_number' },
      { line: 6, value: '', code: 'required' },
    ])
    expect((await call('POST', '/opt-outs/import', csv)).body).toMatchObject({ created: 0, existing: 2 })
    expect((await call('GET', `/opt-outs/${person}`)).body).toMatchObject({ source: 'api' })
  })

  it('is exported as it may be imported, without formulas for a spreadsheet', async () => {
    await call('POST', '/opt-outs/import', {
      opt_outs: [{ number: person, reason: '=1+1' }, { number: '15551230002' }],
    })
    const { text } = await call('GET', '/opt-outs/export')
    const lines = text.trim().split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[0]).toBe('number,reason,source,created_at')
    expect(text).toContain(`${person},'=1+1,import,`)
    expect((await call('POST', '/opt-outs/import', text)).body).toMatchObject({ total: 2, existing: 2, failed: 0 })
  })

  it('opts out with any reason: unstorable characters, and one cut within a letter', async () => {
    const long = `${'a'.repeat(499)}😀`
    const csv = `number,reason\n${person},a\0b\n15551230002,${long}b\n`
    expect((await call('POST', '/opt-outs/import', csv)).body).toMatchObject({ created: 2, failed: 0 })
    expect((await call('GET', `/opt-outs/${person}`)).body).toMatchObject({ reason: 'a\uFFFDb' })
    expect((await call('GET', '/opt-outs/15551230002')).body).toMatchObject({ reason: long })
    const body = { opt_outs: [{ number: '15551230003', reason: `${long}b` }, {}] }
    expect((await call('POST', '/opt-outs/import', body)).body).toMatchObject({ created: 1, failed: 1 })
  })

  it('has the delimiter of its first line', async () => {
    const csv = 'reason;number\nasked, twice | by phone;15551230001\n'
    expect((await call('POST', '/opt-outs/import', csv)).body).toMatchObject({ created: 1, failed: 0 })
    expect((await call('GET', `/opt-outs/${person}`)).body).toMatchObject({ reason: 'asked, twice | by phone' })
  })

  it('contains the numbers as they were before spreadsheets and phones wrote them', async () => {
    const cells = ['4915123456789.0', '"447,911,123,456"', '\u202a+447911123457\u202c', "'+447911123458", '4.47E+11']
    cells.push('="447911123459"', '"=""447911123460"""')
    expect((await call('POST', '/opt-outs/import', `number\n${cells.join('\n')}\n`)).body).toMatchObject({
      created: 6,
      errors: [{ line: 6, value: '4.47E+11' }],
    })
    const { text } = await call('GET', '/opt-outs/export')
    const mobiles = [6, 7, 8, 9].map((last) => `44791112345${last}`)
    expect(text.match(/^\d+/gm)?.sort()).toEqual([...mobiles, '447911123460', '4915123456789'])
  })

  it('may have one number per line', async () => {
    expect((await call('POST', '/opt-outs/import', '15551230001\n15551230002\n')).body).toMatchObject({ created: 2 })
  })

  it.each(['', '\n', 'name,age\nAda,36\n', '"15551230001', 'number\n'])(
    'is refused if it is not a list: %j',
    async (csv) => {
      expect((await call('POST', '/opt-outs/import', csv)).status).toBe(422)
    },
  )

  it('of thousands is written in batches', async () => {
    const rows = Array.from({ length: 2500 }, (_, at) => `1555123${1000 + at}`)
    expect((await call('POST', '/opt-outs/import', `number\n${rows.join('\n')}\n`)).body).toMatchObject({
      created: 2500,
    })
    expect((await call('GET', '/opt-outs/export')).text.trim().split('\n')).toHaveLength(2501)
  })
})

describe('the ledger of consent', () => {
  it('keeps every statement with its proof, and the person’s text', async () => {
    await test.send({ theirNumber: person })
    const proof = { method: 'web_form', text: 'I agree', ip: '192.0.2.7', obtained_at: '2026-11-01T10:00:00Z' }
    const made = await call('POST', '/consent', { number: person, status: 'opted_in', ...proof })
    expect(made).toMatchObject({ status: 201, body: { status: 'opted_in', evidence: proof } })
    await say('Stop.')
    await say('Start')
    const list = dataOf(await call('GET', `/consent?number=%2B${person}`))
    expect(list).toMatchObject([
      { status: 'opted_in', source: 'reply', actor: null, evidence: { keyword: 'start', text: 'Start' } },
      { status: 'opted_out', source: 'reply', message: expect.stringMatching(/^msg_/) as string },
      { status: 'opted_in', source: 'api' },
    ])
    const page = await call('GET', `/consent?number=${person}&limit=2`)
    expect(dataOf(await call('GET', `/consent?number=${person}&cursor=${String(page.body['next_cursor'])}`))).toEqual([
      list[2],
    ])
    const { text } = await call('GET', `/consent/export?number=${person}`)
    expect(text.trim().split('\n')).toHaveLength(4)
    expect(text).toContain('web_form,,I agree,2026-11-01T10:00:00Z,192.0.2.7')
  })

  it('is exported completely, newest first: more than a page, and rows of a process whose clock is ahead', async () => {
    const add = (accountId: string, id: string, from: number, to: number): Promise<unknown> =>
      database.sql`insert into consents (account_id, id, number_hmac, status, source, evidence)
        select ${accountId}, (${id} || lpad(to_hex(n), 12, '0'))::uuid, ${hashNumber(testVault, accountId, person)}, 'opted_in', 'api', jsonb_build_object('text', 'said ' || n)
        from generate_series(${from}::int, ${to}::int) n`
    const ahead = firstIdAt(Date.now() + 3_600_000).slice(0, 24)
    await add(account.accountId, '01900000-0000-7000-8000-', 1, 1500)
    await add(account.accountId, ahead, 1501, 1501)
    const other = await createTestAccount(database.db)
    await add(other.accountId, ahead, 1, 3)
    const { text } = await call('GET', `/consent/export?number=${person}`)
    const said = [...text.matchAll(/said (\d+)/g)].map(([, n]) => Number(n))
    expect(said).toEqual(Array.from({ length: 1501 }, (_, i) => 1501 - i))
  })

  it('accepts a campaign’s key for its id, as everywhere', async () => {
    const campaign = newId()
    await database.sql`insert into campaigns (account_id, id, name, key)
      values (${account.accountId}, ${campaign}, 'Spring', 'spring')`
    const record = (name: string) => call('POST', '/consent', { number: person, status: 'opted_in', campaign: name })
    for (const name of ['spring', showId('cmp', campaign)])
      expect(await record(name)).toMatchObject({ status: 201, body: { campaign: showId('cmp', campaign) } })
    const obtained_at = new Date(Date.now() + 3_600_000).toISOString()
    const wrong = { number: '12', status: 'perhaps', campaign: 'autumn', ip: 'the kiosk', obtained_at }
    expect(errorsOf(await call('POST', '/consent', wrong))).toEqual([
      '#/status invalid_value',
      '#/ip invalid_format',
      '#/number invalid_phone_number',
      '#/obtained_at out_of_range',
      '#/campaign campaign_not_found',
    ])
  })

  it('is a problem if it cannot be read, and not half a file', async () => {
    const { db } = database
    await db.query('alter table consents rename to elsewhere')
    const answer = await call('GET', `/consent/export?number=${person}`)
    await db.query('alter table elsewhere rename to consents')
    expect(answer).toMatchObject({ status: 500, body: { code: 'internal_error' } })
  })

  it('records a withdrawal as an opt-out, but not the end of an opt-out as consent', async () => {
    await call('POST', '/consent', { number: person, status: 'opted_out', text: 'said so at the counter' })
    expect(dataOf(await call('POST', '/opt-outs/check', { numbers: [person] }))).toMatchObject([{ opted_out: true }])
    await call('POST', '/consent', { number: person, status: 'opted_in' })
    expect(dataOf(await call('POST', '/opt-outs/check', { numbers: [person] }))).toMatchObject([{ opted_out: true }])
    expect(dataOf(await call('GET', `/consent?number=${person}`))).toMatchObject([
      { status: 'opted_in' },
      { status: 'opted_out', evidence: { text: 'said so at the counter' } },
    ])
  })
})

describe('a refresh of the list of opt-outs', () => {
  it('has later commits, though their ids are older than those shown', async () => {
    const client = await database.db.connect()
    const add = `insert into opt_outs (account_id, id, number, source) values ($1, $2, $3, 'api')`
    await client.query('begin')
    await client.query(add, [account.accountId, newId(), '15551230777'])
    await database.db.query(add, [account.accountId, newId(), '15551230778'])
    const first = await call('GET', '/opt-outs?limit=1')
    expect(dataOf(first)).toMatchObject([{ number: '15551230778' }])
    await client.query('commit')
    client.release()
    const cursor = String(first.body['refresh_cursor'])
    const numbers = dataOf(await call('GET', `/opt-outs?cursor=${cursor}`)).map(
      (one) => (one as { number: string }).number,
    )
    expect(numbers).toContain('15551230777')
  })
})

it('an import that the database ends in the middle says how many are out, and continues when it is repeated', async () => {
  const { db } = database
  const numbers = Array.from({ length: 1500 }, (_, i) => `1555123${1000 + i}`)
  const csv = `number\n${numbers.join('\n')}\n`
  const work: Promise<Answer>[] = []
  await inTransaction(db, async (tx) => {
    const origin = { source: 'api', actor: null, isTest: false } as const
    await optOut(tx, test.context, account.accountId, origin, [{ number: numbers[1499] ?? '' }])
    work.push(call('POST', '/opt-outs/import', csv))
    const [pid] = await untilBlocked(db, 1)
    await db.query('select pg_cancel_backend($1)', [pid])
    await work[0]
  })
  const answer = await work[0]
  expect([answer?.status, answer?.body['detail']]).toEqual([
    503,
    'The database ended the statement. 1000 of 1500 numbers are opted out: repeat the request to continue.',
  ])
  expect(await test.count('opt_outs', 'account_id = $1', [account.accountId])).toBe(1001)
  expect((await call('POST', '/opt-outs/import', csv)).body).toMatchObject({ created: 499, existing: 1001 })
})

/** A key of the account with these scopes only. */
async function keyWith(...scopes: Scope[]): Promise<object> {
  const { secret } = await inTransaction(database.db, (tx) =>
    createKey(tx, account.accountId, { name: 'x', mode: 'live', scopes, expiresAt: null }),
  )
  return { authorization: `Bearer ${secret}` }
}
