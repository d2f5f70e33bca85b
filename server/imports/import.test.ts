import { errorsOf } from '../accounts/testing.ts'
import { describe, expect, it } from 'vitest'
import { newId, parseId } from '../ground/base/ids.ts'
import { numberOf, createImportTest, zero } from './testing.ts'
import { rawWorkbook, rowOf } from '../ground/tables/zip-testing.ts'

const test = await createImportTest()

describe('an import', () => {
  it('reads a CSV file with good and bad rows, and reports each', async () => {
    const campaign = await test.newCampaign()
    await test.optOut('15551230006')
    const file = [
      '\uFEFFMobile;Vorname;Plan;tags;ignore me',
      '+1 (555) 123-0001;Ada;gold;a,b;x',
      '4.47E+11;Bob;;;',
      '15551230006;Gone;;;',
      "'15551230001;Twice;;;",
      ';Nobody;;;',
      '0015551230002;"Eve, ""E""\nnew line";silver;;',
      '12;Short;;;',
    ].join('\r\n')
    const over = await test.run(campaign, 'text/csv; charset=utf-8', file)
    expect(over).toMatchObject({
      status: 'completed_with_errors',
      format: 'csv',
      on_conflict: 'update',
      counts: { ...zero, total: 7, processed: 7, created: 3, duplicate: 1, opted_out: 1, failed: 3 },
      mapping: { Mobile: 'phone_number', Vorname: 'first_name', Plan: 'attributes.Plan', tags: 'tags' },
      failure: null,
    })
    expect(over['completed_at']).not.toBeNull()
    expect(await test.contacts(campaign)).toEqual([
      {
        phone_number: '15551230001',
        first_name: 'Ada',
        attributes: { Plan: 'gold', 'ignore me': 'x' },
        tags: ['a', 'b'],
      },
      { phone_number: '15551230002', first_name: 'Eve, "E"\nnew line', attributes: { Plan: 'silver' }, tags: [] },
      { phone_number: '15551230006', first_name: 'Gone', attributes: {}, tags: [] },
    ])
    expect(await test.errors(over.id)).toMatchObject([
      { line: 3, column: 'Mobile', value: '4.47E+11', code: 'scientific_notation' },
      { line: 6, column: 'Mobile', value: '', code: 'required' },
      { line: 9, column: 'Mobile', value: '12', code: 'invalid_phone_number' },
    ])
    expect((await test.call('GET', `/v1/campaigns/${campaign}`)).body['contacts_count']).toBe(3)
  })

  it('reads NDJSON and JSON, and refuses each wrong row separately', async () => {
    for (const type of ['application/x-ndjson', 'application/json']) {
      const campaign = await test.newCampaign({ default_country: 'GB' })
      const rows = [
        { phone_number: '07911 123456', first_name: 'Ada' },
        { phone_number: 'x' },
        { phone: '15551230001' },
        'text',
        { phone_number: '+15551230002' },
      ]
      const payload =
        type === 'application/json'
          ? JSON.stringify({ contacts: rows })
          : rows.map((row) => JSON.stringify(row)).join('\n')
      const over = await test.run(campaign, type, payload)
      expect(over.counts).toEqual({ ...zero, total: 5, processed: 5, created: 2, failed: 3 })
      expect((await test.contacts(campaign)).map((row) => row['phone_number'])).toEqual(['15551230002', '447911123456'])
      expect((await test.errors(over.id)).map((error) => [error['line'], error['column'], error['code']])).toEqual([
        [2, 'phone_number', 'invalid_phone_number'],
        [3, 'phone_number', 'required'],
        [3, 'phone', 'unknown_field'],
        [4, null, 'invalid_format'],
      ])
    }
  })

  it('updates or skips existing contacts, and undoes no opt-out', async () => {
    const campaign = await test.newCampaign()
    await test.optOut('15551230016')
    await test.run(campaign, 'text/csv', 'phone,first_name,city\n15551230015,Ada,Rome\n15551230016,Eve,')
    const skipped = await test.run(
      campaign,
      'text/csv',
      'phone,first_name\n15551230015,X\n15551230017,New',
      '?on_conflict=skip',
    )
    expect(skipped.counts).toMatchObject({ created: 1, skipped: 1, updated: 0 })
    const updated = await test.run(
      campaign,
      'text/csv',
      'phone,first_name,plan,consent\n15551230015,,gold,\n15551230016,Eva,,opted_in',
    )
    expect(updated.counts).toMatchObject({ created: 0, skipped: 0, updated: 2, opted_out: 1 })
    expect(await test.contacts(campaign)).toMatchObject([
      { first_name: 'Ada', attributes: { city: 'Rome', plan: 'gold' } },
      { first_name: 'Eva' },
      { first_name: 'New' },
    ])
    // An unchanged contact is not written again.
    const times = 'select max(updated_at) as last from contacts where campaign_id = $1'
    const before = await test.db.query(times, [parseId('cmp', campaign)])
    const again = await test.run(campaign, 'text/csv', 'phone,first_name,city\n15551230016,Eva,\n15551230015,,Rome')
    expect(again.counts).toMatchObject({ updated: 2, opted_out: 1 })
    expect((await test.db.query(times, [parseId('cmp', campaign)])).rows).toEqual(before.rows)
    const rows = await test.sql`select number from opt_outs where number = '15551230016'`
    expect(rows).toHaveLength(1)
  })

  it('treats opted-out rows like an opt-out: cancels queued messages and reports it, once', async () => {
    const { db } = test
    const campaign = await test.newCampaign()
    const { accountId } = test.account
    await db.query(
      `insert into webhooks (account_id, id, url, events, enabled, secret) values ($1, $2, 'https://a.example', '{contact.opted_out}', true, 's')`,
      [accountId, newId()],
    )
    const held = newId()
    await db.query(
      `insert into messages (account_id, id, direction, status, their_number, body, encoding, characters, segments)
       values ($1, $2, 'outbound', 'scheduled', '15551230041', 'Hi', 'gsm7', 2, 1)`,
      [accountId, held],
    )
    const file =
      'phone,consent,consent_method\n15551230041,opted_out,call\n15551230042,opted_out,\n15551230043,opted_in,'
    const over = await test.run(campaign, 'text/csv', file)
    expect(over.counts).toMatchObject({ created: 3, opted_out: 2 })
    const again = await test.run(campaign, 'text/csv', file)
    expect(again.counts).toMatchObject({ updated: 3, opted_out: 2 })
    const message = await db.query('select status, error_code as code from messages where id = $1', [held])
    expect(message.rows).toEqual([{ status: 'canceled', code: 'recipient_opted_out' }])
    const outs = await db.query(
      `select number, source from opt_outs where number in ('15551230041', '15551230042') order by 1`,
    )
    expect(outs.rows).toEqual([
      { number: '15551230041', source: 'consent' },
      { number: '15551230042', source: 'consent' },
    ])
    const { rows } = await db.query<{ payload: string }>(`select payload from events where type = 'contact.opted_out'`)
    expect(rows.map(({ payload }) => (JSON.parse(payload) as { data: object }).data)).toMatchObject([
      { phone_number: '15551230041', source: 'contact', campaign },
      { phone_number: '15551230042', source: 'contact', campaign },
    ])
    const words = await db.query(`select evidence from consents where status = 'opted_out' and campaign_id = $1`, [
      parseId('cmp', campaign),
    ])
    expect(words.rows).toHaveLength(2)
    await db.query('delete from webhooks where account_id = $1', [accountId])
  })

  it('opts out a person by a later row of the file, whatever the first one says', async () => {
    const campaign = await test.newCampaign()
    // Enough rows that the last and the first are in different batches.
    const between = Array.from({ length: 6000 }, (_, i) => `1555777${1000 + i},`)
    const rows = ['15551230051,opted_in', '15551230052,', '15551230051,opted_out', ...between, '15551230052,opted_out']
    const file = `phone,consent\n${rows.join('\n')}\n15551230052,opted_out\n15551230051,opted_in`
    const over = await test.run(campaign, 'text/csv', file)
    expect(over.counts).toMatchObject({ total: 6006, created: 6002, duplicate: 4, opted_out: 2, failed: 0 })
    const outs = await test.sql`select number from opt_outs where number in ('15551230051', '15551230052')
      order by 1`
    expect(outs).toEqual([{ number: '15551230051' }, { number: '15551230052' }])
    const id = parseId('cmp', campaign)
    const first = `select consent from contacts where campaign_id = $1 and phone_number = '15551230051'`
    expect((await test.db.query(first, [id])).rows).toEqual([{ consent: { status: 'opted_out' } }])
    const words = await test.db.query(`select status from consents where campaign_id = $1`, [id])
    expect(words.rows).toEqual([{ status: 'opted_out' }, { status: 'opted_out' }])
    // All other fields stay as they were.
    expect((await test.run(campaign, 'text/csv', file)).counts).toMatchObject({ updated: 6002, opted_out: 2 })
  })

  it('completes national numbers by the import’s country, else the campaign’s', async () => {
    const campaign = await test.newCampaign({ default_country: 'US' })
    await test.run(campaign, 'text/csv', 'phone\n(415) 555-2671')
    await test.run(campaign, 'text/csv', 'phone\n07911 123456', '?default_country=GB')
    expect((await test.contacts(campaign)).map((row) => row['phone_number'])).toEqual(['14155552671', '447911123456'])
  })

  it('returns the bad rows as a file to correct and send again', async () => {
    const campaign = await test.newCampaign()
    const file = 'name;phone;formula\nAda;+1555;=1+1\nBob;15551230002;x\n"C;""c""";4.4E+11;@x'
    const first = await test.run(campaign, 'text/csv', file)
    const bad = await test.badRows(first.id)
    expect(bad.split('\n').slice(0, 3)).toEqual([
      'name;phone;formula;error',
      expect.stringMatching(/^Ada;'\+1555;'=1\+1;phone must /),
      expect.stringMatching(/^"C;""c""";4.4E\+11;'@x;"phone must be all digits/),
    ])
    const second = await test.run(campaign, 'text/csv', bad.replace("'+1555", '15551230001'))
    expect(second.counts).toMatchObject({ created: 1, failed: 1 })
    expect(second.mapping).toMatchObject({ error: null })
    expect((await test.contacts(campaign))[0]).toMatchObject({ attributes: { formula: '=1+1', name: 'Ada' } })
    const third = await test.badRows(second.id)
    expect(third.split('\n')[0]).toBe('name;phone;formula;error')
  })

  it('refuses a row with more cells than columns, and returns all of them', async () => {
    const campaign = await test.newCampaign()
    const file = 'phone,name\n15551230001,Lovelace, Ada\n15551230002,"Hopper, Grace"\n15551230003,Alan,, \n'
    const over = await test.run(campaign, 'text/csv', file)
    expect(over.counts).toMatchObject({ created: 2, failed: 1 })
    expect(await test.badRows(over.id)).toBe(
      'phone,name,error\n15551230001,Lovelace,"the row has more cells than the file has columns (2); put quotes around a cell with , in it", Ada\n',
    )
    // Sent again without a correction, it is refused again.
    const again = await test.run(campaign, 'text/csv', await test.badRows(over.id))
    expect(again).toMatchObject({
      status: 'failed',
      failure: { code: 'no_good_rows' },
      counts: { failed: 1, total: 1 },
    })
    expect((await test.badRows(again.id)).split('\n')[1]).toMatch(/^15551230001,Lovelace,"the row has more.*, Ada$/)
  })

  it('refuses national numbers without a country behind hundreds of whole ones', async () => {
    const whole = Array.from({ length: 300 }, (_, n) => `447700${String(900_000 + n)}`)
    const national = Array.from({ length: 100 }, (_, n) => `415555${String(2000 + n)}`)
    const rows = ['Phone', ...whole, ...national]
    const workbook = rawWorkbook(rows.map((row) => rowOf(row)).join(''))
    for (const [type, file] of [
      ['text/csv', rows.join('\n')],
      ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', workbook],
    ] as const)
      expect(await test.run(await test.newCampaign(), type, file)).toMatchObject({
        counts: { created: 300, failed: 100 },
      })
  })

  it('refuses national numbers without a country, says so before and after, and accepts them with one', async () => {
    const campaign = await test.newCampaign()
    const numbers = ['2025550123', '3105550188', '4155550142', '6465550117', '9175550160', '2125550199']
    const mixed = [...numbers, '+33639980011', '(202) 555-0124']
    const file = `Phone,Name\n${mixed.map((number, n) => `"${number}",n${n}`).join('\n')}\n`
    const { body } = await test.upload(campaign, 'text/csv', file)
    const warnings = [
      { code: 'country_missing', column: 'Phone', detail: expect.stringContaining('default_country`, such as US') },
    ]
    expect(body).toMatchObject({ warnings, detected: { attribute_columns: ['Name'] } })
    const over = await test.finished(String(body['id']))
    expect(over).toMatchObject({ warnings, counts: { created: 1, failed: 7 } })
    expect(over['faults']).toMatchObject([
      {
        count: 6,
        detail: expect.stringContaining('without its country code'),
        advice: expect.stringContaining('such as US'),
      },
      { count: 1 },
    ])
    expect((await test.errors(over.id))[0]).toMatchObject({ value: '2025550123', suggestion: '12025550123' })
    const known = await test.run(campaign, 'text/csv', file, '?default_country=US')
    expect(known).toMatchObject({ status: 'completed', warnings: [], counts: { created: 7, updated: 1 } })
    const json = JSON.stringify({ contacts: numbers.map((number) => ({ phone_number: number })) })
    expect(await test.run(await test.newCampaign(), 'application/json', json)).toMatchObject({
      status: 'failed',
      failure: { code: 'no_good_rows' },
      warnings: [{ code: 'country_missing' }],
      counts: { total: 6, failed: 6 },
    })
  })

  it('groups rows by error, and names further numbers of a cell', async () => {
    const cells = [
      '12',
      '+1 202 555 0123 ext 3',
      '+1 202 555 0124 x45',
      '+120255501',
      '+4930',
      '+15551230041 / +15551230042',
    ]
    const over = await test.run(await test.newCampaign(), 'text/csv', `phone\n${cells.join('\n')}\n`)
    const groups = over['faults'] as { count: number; detail: string }[]
    expect(groups.map(({ count, detail }) => [count, detail])).toEqual([
      [2, 'must be 7 to 15 digits with the country code, such as 15551234567'],
      [2, 'has an extension: a text message can only go to the number without it'],
      [1, 'must have as many digits as the numbers of its country have'],
    ])
    const advice = (over['faults'] as { advice: string }[]).map((fault) => fault.advice)
    expect(advice[0]).toContain('default_country')
    expect(advice[1]).toBe('Use the `suggestion` of each row: it is the number of the cell without the rest.')
    expect(over['further_numbers']).toEqual([{ line: 7, number: '15551230041', others: ['15551230042'] }])
  })

  it('returns each bad row once with all its errors, even with more errors than are read at once', async () => {
    const row = `12,${'x'.repeat(101)},nowhere`
    const file = `phone,first_name,timezone\n${`${row}\n`.repeat(700)}`
    const over = await test.run(await test.newCampaign(), 'text/csv', file)
    const [, ...bad] = (await test.badRows(over.id)).trimEnd().split('\n')
    const wrong = /^12,x{101},nowhere,"phone must .*; timezone must .*; first_name must .*"$/
    expect([bad.length, bad.filter((line) => !wrong.test(line))]).toEqual([700, []])
  })

  it('reports all errors of a row, also several of one code, and that its number is still opted out', async () => {
    const campaign = await test.newCampaign()
    const head = 'phone,country,timezone,language,consent'
    const file = `${head}\n15551230001,XX,nowhere,x!,opted_out\n15551230002,YY,,,opted_in`
    const over = await test.run(campaign, 'text/csv', file)
    expect(await test.errors(over.id)).toMatchObject([
      {
        line: 2,
        column: 'country',
        value: 'XX',
        code: 'invalid_value',
        detail: expect.stringMatching(
          /^must .*; timezone must .*; language must .*; its number is opted out .*$/,
        ) as string,
      },
      { line: 3, column: 'country', detail: expect.not.stringContaining(';') as string },
    ])
    const [, bad] = (await test.badRows(over.id)).split('\n')
    expect(bad).toMatch(/,"country must .*; timezone must .*; language must .*; its number is opted out .*"$/)
    expect(over.counts).toMatchObject({ failed: 2, opted_out: 0 })
    const names = Array.from({ length: 30 }, (_, n) => `a${n}`)
    const row = `15551230003,${names.map(() => 'x'.repeat(1001)).join()}`
    const many = await test.run(campaign, 'text/csv', `phone,${names.join()}\n${row}`)
    const [one] = await test.errors(many.id)
    expect(one).toMatchObject({ column: 'a0', detail: expect.stringMatching(/; a9 must .*; and 20 more$/) as string })
  })

  it('marks the file of bad rows as UTF-8 if the upload had another encoding', async () => {
    const campaign = await test.newCampaign()
    const file = 'phone,name\n12,José'
    for (const [bytes, mark] of [
      [Buffer.from(file), ''],
      [Buffer.from(file, 'latin1'), '\uFEFF'],
      [Buffer.from(`\uFEFF${file}`, 'utf16le'), '\uFEFF'],
      [rawWorkbook(rowOf('phone', 'name') + rowOf('12', 'José')), '\uFEFF'],
    ] as const) {
      const over = await test.run(campaign, 'text/csv', bytes)
      expect(await test.badRows(over.id)).toMatch(new RegExp(`^${mark}phone,name,error\\n12,José,"phone must `))
    }
  })

  it('returns bad rows of JSON complete, to correct and send again', async () => {
    const campaign = await test.newCampaign()
    const [kept, other] = [
      { a: 1, b: 'x,y' },
      { phone: '15551230002', first_name: 'Bob', city: 'Bath' },
    ]
    const consent = { status: 'opted_in', method: 'form' }
    const ada = { phone_number: 'abc', first_name: null, attributes: kept, tags: ['p', 'q,r'], consent }
    const lines = [JSON.stringify(ada), JSON.stringify(other), '{"phone_number":'].join('\n')
    const first = await test.run(campaign, 'application/x-ndjson', lines)
    const bad = await test.badRows(first.id)
    expect(bad.split('\n')[0]).toBe('phone_number,first_name,attributes,tags,consent,city,phone,error')
    expect(bad.split('\n')[2]).toMatch(/^,Bob,,,,Bath,15551230002,/)
    expect(bad.split('\n')[3]).toMatch(/^"\{""phone_number"":",/)
    const second = await test.run(campaign, 'text/csv', bad.replace('abc', '15551230001'))
    expect(second.counts).toMatchObject({ created: 1, failed: 2 })
    expect(await test.contacts(campaign)).toMatchObject([{ first_name: null, attributes: kept, tags: ['p', 'q,r'] }])
    const stored = await test.db.query('select consent from contacts where campaign_id = $1', [
      parseId('cmp', campaign),
    ])
    expect(stored.rows).toEqual([{ consent }])
    const renamed = await test.run(campaign, 'application/x-ndjson', JSON.stringify(other))
    expect(await test.badRows(renamed.id)).toMatch(/^first_name,city,phone,error\nBob,Bath,15551230002,/)
  })

  it('survives NUL, invalid UTF-8, an endless line and an open quote', async () => {
    const campaign = await test.newCampaign()
    const file = Buffer.concat([
      Buffer.from('phone,name\n15551230001,Zoë Ågren\n15551230002,a\0b\n15551230003,M'),
      Buffer.from([0xfc]),
      Buffer.from(`ller\n15551230004,${'x'.repeat(10 * 1024 * 1024)}\n15551230005,"open\n15551230006,f\n`),
      Buffer.from(Array.from({ length: 5000 }, (_, i) => `${numberOf(i)},many\n`).join('')),
    ])
    const over = await test.run(campaign, 'text/csv', file)
    expect(over.counts).toMatchObject({ processed: 5006, created: 5002, failed: 4 })
    expect((await test.errors(over.id)).map((error) => [error['line'], error['code']])).toEqual([
      [3, 'invalid_characters'],
      [4, 'invalid_characters'],
      [5, 'too_long'],
      [6, 'invalid_format'],
    ])
    expect((await test.badRows(over.id)).split('\n')).toHaveLength(6)
  })

  it('imports 10,000 rows of JSON, and refuses one more', async () => {
    const campaign = await test.newCampaign()
    const contacts = Array.from({ length: 10_001 }, (_, i) => ({
      phone_number: numberOf(i % 9000),
      attributes: { n: i },
    }))
    const refused = await test.upload(campaign, 'application/json', JSON.stringify({ contacts }))
    expect([refused.status, errorsOf(refused.body)]).toEqual([422, ['#/contacts too_long']])
    const over = await test.run(campaign, 'application/json', JSON.stringify({ contacts: contacts.slice(1) }))
    expect(over.status).toBe('completed')
    expect(over.counts).toEqual({ ...zero, total: 10_000, processed: 10_000, created: 9000, duplicate: 1000 })
  })

  it('gives no contact more than 50 attributes, also when it is repeated', async () => {
    const campaign = await test.newCampaign()
    const attributes = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, 'old']))
    const contacts = [50, 49, 50].map((count, i) => ({ phone_number: numberOf(i), attributes: attributes(count) }))
    await test.run(campaign, 'application/json', JSON.stringify({ contacts }))
    const file = ['phone,a0,more', `${numberOf(0)},new,x`, `${numberOf(1)},new,x`, `${numberOf(2)},new,`].join('\n')
    const over = await test.run(campaign, 'text/csv', file)
    expect(over).toMatchObject({ status: 'completed_with_errors', counts: { ...zero, updated: 2, failed: 1 } })
    const detail = 'must leave the contact with at most 50 attributes'
    expect(await test.errors(over.id)).toMatchObject([{ line: 2, code: 'too_long', column: 'attributes', detail }])
    expect((await test.badRows(over.id)).split('\n')[1]).toBe(`${numberOf(0)},new,x,attributes ${detail}`)
    const found = await test.contacts(campaign)
    expect(found.map((contact) => Object.keys(contact['attributes'] as object).length)).toEqual([50, 50, 50])
    expect(found).toMatchObject([
      { attributes: { a0: 'old' } },
      { attributes: { more: 'x' } },
      { attributes: { a0: 'new' } },
    ])
    const again = await test.call('POST', `/v1/campaigns/${campaign}/contacts?on_conflict=update`, {
      phone_number: numberOf(0),
      attributes: { more: 'x' },
    })
    expect([again.status, errorsOf(again.body)]).toEqual([422, ['#/attributes too_long']])
  })

  it('fails if the promised rows do not arrive', async () => {
    const campaign = await test.newCampaign()
    const over = await test.run(campaign, 'application/x-ndjson', `${' '.repeat(60_000)}\n`.repeat(10))
    expect(over).toMatchObject({ status: 'failed', failure: { code: 'no_rows' } })
  })

  it('records an event at its end, for subscribers', async () => {
    const campaign = await test.newCampaign()
    test.subscribed.add(test.account.accountId)
    const over = await test.run(campaign, 'text/csv', 'phone\n15551230001')
    test.subscribed.clear()
    const rows = await test.sql<{ payload: string }>`select payload from events where type = 'import.completed'`
    expect(rows.map((row) => JSON.parse(row.payload))).toMatchObject([
      { type: 'import.completed', data: { import: { id: over.id, status: 'completed', counts: { created: 1 } } } },
    ])
  })

  it('shows imports to their account only', async () => {
    const campaign = await test.newCampaign()
    const over = await test.run(campaign, 'text/csv', 'phone\n15551230001')
    const list = await test.call('GET', `/v1/campaigns/${campaign}/imports`)
    expect(list.body['data']).toEqual([over])
    for (const path of ['', '/errors'])
      expect((await test.call('GET', `/v1/imports/${over.id}${path}`, undefined, test.other)).status).toBe(404)
    expect((await test.call('POST', `/v1/imports/${over.id}/cancel`, undefined, test.other)).status).toBe(404)
    expect((await test.call('GET', `/v1/campaigns/${campaign}/imports`, undefined, test.other)).status).toBe(404)
    expect((await test.call('GET', '/v1/imports/imp_nothing')).status).toBe(404)
  })

  it('lists the imports of a campaign page by page, newest first', async () => {
    const campaign = await test.newCampaign()
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.unshift((await test.run(campaign, 'text/csv', 'phone\n15551230001')).id)
    const url = `/v1/campaigns/${campaign}/imports?limit=2`
    const { body: first } = await test.call('GET', url)
    const { body: second } = await test.call('GET', `${url}&cursor=${String(first['next_cursor'])}`)
    const idsOf = ({ data }: Record<string, unknown>) => (data as { id: string }[]).map(({ id }) => id)
    expect([idsOf(first), idsOf(second)]).toEqual([ids.slice(0, 2), ids.slice(2)])
    expect([first['has_more'], second['has_more']]).toEqual([true, false])
  })

  it('pages through errors, and back', async () => {
    const campaign = await test.newCampaign()
    const over = await test.run(campaign, 'text/csv', `phone,first_name\n${`1,${'x'.repeat(101)}\n`.repeat(30)}`)
    const pages: { next: string | null; previous: string | null; shown: string[] }[] = []
    const read = async (cursor: string | null) => {
      const query = cursor === null ? '' : `&cursor=${cursor}`
      const { body } = await test.call('GET', `/v1/imports/${over.id}/errors?limit=7${query}`)
      const errors = body['data'] as { line: number; code: string }[]
      const [next, previous] = [body['next_cursor'], body['prev_cursor']] as (string | null)[]
      const page = {
        next: next ?? null,
        previous: previous ?? null,
        shown: errors.map(({ line, code }) => `${line} ${code}`),
      }
      pages.push(page)
      return page
    }
    for (let page = await read(null); page.next !== null;) page = await read(page.next)
    const there = pages.splice(0)
    expect(there.flatMap(({ shown }) => shown)).toHaveLength(60)
    expect(new Set(there.flatMap(({ shown }) => shown)).size).toBe(60)
    expect(there[0]?.previous).toBeNull()
    for (let cursor = there.at(-1)?.previous ?? null; cursor !== null;) cursor = (await read(cursor)).previous
    expect(pages.map(({ shown }) => shown).reverse()).toEqual(there.slice(0, -1).map(({ shown }) => shown))
    await read(pages.at(-1)?.next ?? null)
    expect(pages.at(-1)?.shown).toEqual(there[1]?.shown)
    expect((await test.call('GET', `/v1/imports/${over.id}/errors?cursor=x`)).body['code']).toBe('invalid_cursor')
  })
})
