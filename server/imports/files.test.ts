import { errorsOf } from '../accounts/testing.ts'
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import writeXlsxFile, { type SheetData } from 'write-excel-file/node'
import { parseId } from '../ground/base/ids.ts'
import { numberOf, createImportTest, zero } from './testing.ts'

const test = await createImportTest()

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

describe('files as programs write them', () => {
  it('are read in the encodings of spreadsheets, which are detected', async () => {
    const text = 'Téléphone;Prénom\r\n+33612345678;Zoé €\r\n'
    const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le')
    const latin = Buffer.from(text.replace('€', '\u0080'), 'latin1')
    const files: [bytes: Buffer, encoding: string][] = [
      [Buffer.from(`\uFEFF${text}`), 'utf-8'],
      [utf16, 'utf-16le'],
      [Buffer.from(utf16).swap16(), 'utf-16be'],
      [Buffer.from(text, 'utf16le'), 'utf-16le'],
      [latin, 'windows-1252'],
    ]
    for (const [bytes, encoding] of files) {
      const campaign = await test.newCampaign()
      const over = await test.run(campaign, 'text/csv', bytes)
      expect(over).toMatchObject({ status: 'completed', detected: { encoding, delimiter: ';', sheet: null } })
      expect(await test.contacts(campaign)).toMatchObject([{ phone_number: '33612345678', first_name: 'Zoé €' }])
    }
    // A byte that is not UTF-8 far behind the first piece still decides the encoding, even as the last byte.
    const campaign = await test.newCampaign()
    const long = Buffer.concat([
      Buffer.from('phone,note,first_name\n'),
      ...Array.from({ length: 1000 }, (_, n) => Buffer.from(`${numberOf(n)},${'x'.repeat(300)},Anna\n`)),
      Buffer.from('15559999999,,Jos\u00e9', 'latin1'),
    ])
    // Files labeled UTF-8 often are not.
    for (const type of ['text/csv', 'text/csv; charset=utf-8'])
      expect(await test.run(campaign, type, long)).toMatchObject({ detected: { encoding: 'windows-1252' } })
    expect((await test.contacts(campaign)).at(-1)).toMatchObject({ first_name: 'José' })
  })

  it('may be workbooks, with numbers as numbers, texts, dates and empty cells', async () => {
    const campaign = await test.newCampaign({ default_country: 'GB' })
    const born = new Date(Date.UTC(1990, 4, 17))
    const file = await workbookOf(
      [
        ['Mobile', 'First name', 'Born', 'Score', 'VIP'],
        [447911123456, 'Zoë & <Co>', born, 12.5, true],
        ["'07911 123457", null, null, null, null],
        ['4.47E+11', 'Bad', null, null, null],
        [7911123458, 'Lost zero', null, 0.1, false],
      ],
      'dd/mm/yyyy',
    )
    const over = await test.run(campaign, workbookType, file)
    expect(over).toMatchObject({
      format: 'xlsx',
      detected: { encoding: null, delimiter: null, sheet: 'People' },
      counts: { ...zero, total: 4, processed: 4, created: 3, failed: 1 },
      mapping: { Mobile: 'phone_number', 'First name': 'first_name', Born: 'attributes.Born' },
      repairs: { missing_plus: 1, apostrophe: 1, national: 1 },
    })
    expect(await test.contacts(campaign)).toMatchObject([
      {
        phone_number: '447911123456',
        first_name: 'Zoë & <Co>',
        attributes: { Born: '1990-05-17', Score: '12.5', VIP: 'TRUE' },
      },
      { phone_number: '447911123457', attributes: {} },
      { phone_number: '447911123458', attributes: { Score: '0.1', VIP: 'FALSE' } },
    ])
    expect(await test.errors(over.id)).toMatchObject([{ line: 4, column: 'Mobile', code: 'scientific_notation' }])
    expect((await test.badRows(over.id)).split('\n')[1]).toMatch(/^4.47E\+11,Bad,,,,/)
  })

  it('may be workbooks of plain numbers, without names', async () => {
    const campaign = await test.newCampaign()
    const file = await workbookOf([[15551230001], ['+1 555 123 0002'], [null], [15551230001]])
    const over = await test.run(campaign, workbookType, file)
    expect(over).toMatchObject({
      mapping: { phone_number: 'phone_number' },
      counts: { ...zero, total: 3, processed: 3, created: 2, duplicate: 1 },
    })
    expect(await test.run(campaign, workbookType, await workbookOf([[15551230003]]))).toMatchObject({
      counts: { ...zero, total: 1, processed: 1, created: 1 },
    })
  })

  it('that are damaged or not workbooks are refused with their kind', async () => {
    const campaign = await test.newCampaign()
    const whole = await workbookOf([
      ['phone', 'name'],
      [15551234567, 'a'],
    ])
    const refusals: [payload: Buffer, detail: RegExp][] = [
      [Buffer.from('phone\n1555'), /must be a workbook/],
      [whole.subarray(0, whole.length - 100), /is incomplete: its end is missing/],
      [await workbookOf([['name'], ['a']]), /must have a column of numbers.*it has name/],
      [await workbookOf([]), /rows in its first sheet, which is People/],
      [Buffer.from([0xd0, 0xcf, 0x11, 0xe0, 1, 2]), /before 2007/],
    ]
    for (const [payload, detail] of refusals) {
      const { status, body } = await test.upload(campaign, workbookType, payload)
      expect([status, body['errors']]).toMatchObject([422, [{ pointer: '#', detail: expect.stringMatching(detail) }]])
    }
    const long = [['phone'], ...Array.from({ length: 20_000 }, (_, n) => [Number(numberOf(n))])]
    const damaged = await workbookOf(long)
    const sheet = damaged.indexOf('xl/worksheets/sheet1.xml')
    damaged.fill(0xff, sheet + 60_000, sheet + 60_100)
    const over = await test.run(campaign, workbookType, damaged)
    expect(over).toMatchObject({ status: 'failed', failure: { code: 'damaged_file' } })
    expect(await test.contacts(campaign)).toHaveLength(over.counts['created'] ?? 0)
    expect(over.counts['created']).toBeGreaterThan(1000)
  })

  it('may be compressed, but not to fill a disk', async () => {
    const campaign = await test.newCampaign()
    const file = gzipSync('phone,name\n15551234567,a\n15551234568,b\n')
    expect((await test.run(campaign, 'application/gzip', file)).counts).toMatchObject({ created: 2 })
    // A small file may shrink to almost nothing.
    const repeated = gzipSync(`phone\n${'15551234567\n'.repeat(50_000)}`)
    expect((await test.run(campaign, 'application/gzip', repeated)).counts).toMatchObject({ duplicate: 49_999 })
    const encoded = await test.upload(campaign, 'text/csv', file, '', { 'content-encoding': 'gzip' })
    expect((await test.finished(String(encoded.body['id']))).counts).toMatchObject({ updated: 2 })
    const bomb = gzipSync(Buffer.concat([Buffer.from('phone\n'), Buffer.alloc(40 * 1024 * 1024, '1')]))
    const refused = await test.upload(campaign, 'application/gzip', bomb)
    expect([refused.status, refused.body['code']]).toEqual([413, 'payload_too_large'])
    expect((await test.upload(campaign, 'application/gzip', file.subarray(0, 40))).status).toBe(422)
    expect(
      (await test.upload(campaign, 'application/gzip', Buffer.concat([file, gzipSync('x')]).fill(7, 12, 20))).status,
    ).toBe(422)
  })
})

describe('a form of a browser', () => {
  it('sends a file with options before or behind it, with any media type', async () => {
    const csv = 'Nr.,Who\n07911 123456,Ada\n07911 123457,Bob\n'
    const options = JSON.stringify({ mapping: { 'Nr.': 'phone_number', Who: 'first_name' }, default_country: 'GB' })
    const file = { name: 'file', filename: 'List.CSV', type: 'application/vnd.ms-excel', content: csv }
    for (const parts of [
      [{ name: 'options', content: options }, file],
      [file, { name: 'options', content: options }],
      [
        { name: 'options', content: options },
        { ...file, filename: 'list.csv.gz', content: gzipSync(csv) },
      ],
    ]) {
      const campaign = await test.newCampaign()
      const form = formOf(...parts)
      expect((await test.run(campaign, form.type, form.body)).counts).toMatchObject({ created: 2 })
      expect(await test.contacts(campaign)).toMatchObject([{ first_name: 'Ada' }, { first_name: 'Bob' }])
    }
    for (const [filename, content] of [
      ['list.json', '{"contacts":[{"phone_number":"+15551234567"}]}'],
      ['list', '[{"phone_number":"+15551234567"}]'],
      ['list', '{"phone_number":"+15551234567"}\n{"phone_number":"+15551234567"}'],
      ['book.xlsx', await workbookOf([['phone'], [15551234567]])],
    ] as const) {
      const form = formOf({ name: 'file', filename, content })
      expect((await test.run(await test.newCampaign(), form.type, form.body)).counts).toMatchObject({ created: 1 })
    }
  })

  it('sends no more JSON than is parsed at once', async () => {
    const content = Buffer.alloc(32 * 1024 * 1024 + 1, ' ')
    const form = formOf({ name: 'file', filename: 'list.json', content })
    expect(await test.upload(await test.newCampaign(), form.type, form.body)).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
    })
  })

  it('is refused with its errors', async () => {
    const campaign = await test.newCampaign()
    const file = { name: 'file', filename: 'a.csv', content: 'phone\n15551234567' }
    const refusals: [form: ReturnType<typeof formOf>, errors: string[]][] = [
      [formOf({ name: 'options', content: '{}' }), ['#/file required']],
      // As `-F 'file=<people.csv'` sends it.
      [formOf({ name: 'file', content: file.content }), ['#/file invalid_format']],
      [formOf(file, { name: 'options', content: '{' }), ['#/options invalid_format']],
      [formOf(file, { name: 'options', content: '{"shoe":1}' }), ['#/options/shoe unknown_field']],
      [formOf(file, { name: 'options', content: '{"mapping":{"x":"tags"}}' }), ['#/options/mapping/x invalid_value']],
      [
        formOf(file, { name: 'options', content: '{"mapping":{"phone":"attributes.\\u0000"}}' }),
        ['#/options/mapping/phone invalid_characters'],
      ],
      [formOf(file, { name: 'more', content: 'x' }), ['#/more unknown_field']],
      [formOf({ ...file, content: 'name\nx' }), ['# invalid_format']],
      [formOf({ ...file, filename: 'a.json', content: '[]' }), ['# invalid_format']],
      [formOf(file, file), ['# invalid_format']],
      [{ ...formOf(file), body: formOf(file).body.subarray(0, 150) }, ['# invalid_format']],
      [{ ...formOf(file), type: 'multipart/form-data' }, ['# invalid_format']],
      [{ ...formOf(file), body: Buffer.from('nothing of the kind') }, ['# invalid_format']],
    ]
    for (const [form, errors] of refusals) {
      const { status, body } = await test.upload(campaign, form.type, form.body)
      expect([status, errorsOf(body)]).toEqual([422, errors])
    }
    const mapping = encodeURIComponent('{"zip":"attributes.\\u0000"}')
    const asked = await test.upload(campaign, 'text/csv', 'phone,zip\n15551234567,x', `?mapping=${mapping}`)
    expect([asked.status, errorsOf(asked.body)]).toEqual([422, ['?mapping invalid_characters']])
  })

  it('of JSON loses no good row to an unstorable one', async () => {
    const rows =
      '[{"phone_number":"15551230001"},{"phone_number":"15551230002","first_name":"\\ud83d"},{"phone_number":"1555\\u0000"},' +
      '{"phone_number":"15551230003","__proto__":1},{"phone_number":"15551230004"}]'
    const form = formOf({ name: 'file', filename: 'people.json', content: rows })
    for (const [type, payload] of [
      ['application/json', `{"contacts":${rows}}`],
      [form.type, form.body],
    ] as const) {
      const campaign = await test.newCampaign()
      const over = await test.run(campaign, type, payload)
      expect(over.counts).toMatchObject({ created: 2, failed: 3 })
      expect((await test.errors(over.id)).map(({ line, code }) => [line, code])).toEqual([
        [2, 'invalid_characters'],
        [3, 'invalid_characters'],
        [4, 'invalid_characters'],
      ])
    }
  })

  it('is refused with all errors in its options', async () => {
    const campaign = await test.newCampaign()
    const query = '?on_conflict=x&dry_run=perhaps&default_country=UK&mapping={'
    const wrong = ['?on_conflict invalid_value', '?dry_run invalid_type']
    const more = ['?mapping invalid_format', '?default_country invalid_value']
    const plain = await test.upload(campaign, 'text/csv', 'phone\n15551234567', query)
    expect([plain.status, errorsOf(plain.body)]).toEqual([422, [...wrong, ...more].sort()])
    const file = { name: 'file', filename: 'a.csv', content: 'phone\n15551234567' }
    const form = formOf(file, { name: 'options', content: '{"shoe":1}' }, { name: 'more', content: 'x' })
    const formed = await test.upload(campaign, form.type, form.body, query)
    const inForm = ['#/options/shoe unknown_field', '#/more unknown_field']
    expect([formed.status, errorsOf(formed.body)]).toEqual([422, [...wrong, ...inForm, ...more].sort()])
    const list = '{"contacts":[],"default_country":"UK"}'
    for (const text of [query, '?default_country=a&default_country=b&mapping=x&mapping=y']) {
      const { status, body } = await test.upload(campaign, 'application/json', list, text)
      expect([status, errorsOf(body)]).toMatchObject([422, expect.arrayContaining(['#/contacts too_short'])])
    }
    const body = await test.upload(campaign, 'application/json', list)
    expect(errorsOf(body.body)).toEqual(['#/contacts too_short', '#/default_country invalid_value'])
  })

  it('is refused if rows of JSON have no field for its mapping, as with columns', async () => {
    const campaign = await test.newCampaign()
    const mapping = {
      a: ' ',
      b: 'shoe',
      c: 'attributes. ',
      d: 'consent_ip',
      e: '',
      f: 'attributes.f',
      g: null,
      h: 'tags',
    }
    const query = `?on_conflict=x&mapping=${encodeURIComponent(JSON.stringify(mapping))}`
    const wrong = [...Array.from({ length: 5 }, () => '?mapping invalid_value'), '?on_conflict invalid_value']
    const row = { phone_number: '15551234567' }
    for (const [type, payload] of [
      ['application/json', JSON.stringify({ contacts: [row] })],
      ['application/x-ndjson', JSON.stringify(row)],
      ['application/gzip', gzipSync(JSON.stringify([row]))],
    ] as const) {
      const { status, body } = await test.upload(campaign, type, payload, query)
      expect([type, status, errorsOf(body)]).toEqual([type, 422, wrong])
    }
    for (const [filename, content] of [
      ['a.ndjson', JSON.stringify(row)],
      ['a.json', JSON.stringify([row])],
    ] as const) {
      const form = formOf(
        { name: 'file', filename, content },
        { name: 'options', content: JSON.stringify({ mapping }) },
      )
      const { status, body } = await test.upload(campaign, form.type, form.body)
      const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `#/options/mapping/${name} invalid_value`)
      expect([filename, status, errorsOf(body)]).toEqual([filename, 422, names])
    }
  })

  it('is refused with all errors of its columns', async () => {
    const campaign = await test.newCampaign()
    const mapping = encodeURIComponent(JSON.stringify({ Nr: 'shoe', name: 'shoe' }))
    const told = async (file: string, query = '') =>
      errorsOf((await test.upload(campaign, 'text/csv', file, query)).body).length
    expect(await told('name\nAda', `?mapping=${mapping}`)).toBe(3)
    expect(await told(`name,name,${'x'.repeat(300)}\nAda,Bob,x`)).toBe(3)
  })

  it('is refused with missing columns among all errors', async () => {
    const campaign = await test.newCampaign()
    const mapping = { Nr: 'phone_number' }
    const query = `?on_conflict=x&default_country=UK&mapping=${encodeURIComponent(JSON.stringify(mapping))}`
    const asked = ['?default_country invalid_value', '?mapping invalid_value', '?on_conflict invalid_value']
    for (const [type, payload] of [
      ['text/csv', 'phone\n15551234567'],
      [workbookType, await workbookOf([['phone'], [15551234567]])],
    ] as const) {
      const { status, body } = await test.upload(campaign, type, payload, query)
      expect([type, status, errorsOf(body)]).toEqual([type, 422, asked])
    }
    const options = { on_conflict: 'x', default_country: 'UK', mapping }
    const file = { name: 'file', filename: 'a.csv', content: 'phone\n15551234567' }
    const form = formOf(file, { name: 'options', content: JSON.stringify(options) })
    const formed = await test.upload(campaign, form.type, form.body)
    const inForm = ['default_country', 'mapping/Nr', 'on_conflict'].map((name) => `#/options/${name} invalid_value`)
    expect([formed.status, errorsOf(formed.body)]).toEqual([422, inForm])
    const other = await test.upload(campaign, 'text/csv', 'name\nAda', '?on_conflict=x')
    expect([other.status, errorsOf(other.body)]).toEqual([422, ['# invalid_format', '?on_conflict invalid_value']])
  })
})

describe('a dry run', () => {
  it('counts everything, shows the first rows as contacts, and writes nothing', async () => {
    const campaign = await test.newCampaign({ default_country: 'US' })
    await test.optOut('15551230001')
    await test.run(campaign, 'text/csv', 'phone,name\n15551230001,Old\n15551230002,Old')
    await test.run(campaign, 'text/csv', 'phone,consent\n15551230002,opted_out', '?dry_run=true')
    const rows = Array.from({ length: 6000 }, (_, n) => `(555) 123-${String(n).padStart(4, '0')},N${n},gold`)
    const file = `phone,first_name,plan\n${rows.join('\n')}\n4.4E+11,x,\n15551230005,again,`
    for (const [query, known] of [
      ['?dry_run=true', { updated: 2, skipped: 0 }],
      ['?dry_run=true&on_conflict=skip', { updated: 0, skipped: 2 }],
    ] as const) {
      const over = await test.run(campaign, 'text/csv', file, query)
      expect(over).toMatchObject({
        status: 'completed_with_errors',
        dry_run: true,
        counts: { total: 6002, processed: 6002, created: 5998, ...known, duplicate: 1, opted_out: 1, failed: 1 },
        repairs: { national: 6000, missing_plus: 1 },
      })
      expect(over['sample']).toHaveLength(20)
      expect((over['sample'] as unknown[])[3]).toEqual({
        line: 5,
        phone_number: '15551230003',
        first_name: 'N3',
        attributes: { plan: 'gold' },
      })
      expect(await test.errors(over.id)).toHaveLength(1)
    }
    expect(await test.contacts(campaign)).toHaveLength(2)
    expect((await test.call('GET', `/v1/campaigns/${campaign}`)).body['contacts_count']).toBe(2)
    const outs = await test.sql`select number from opt_outs where number like '155512300%'`
    expect(outs).toEqual([{ number: '15551230001' }])
  })
})

/** The contacts of a campaign in each format, with its media type. */
const exportsOf = (campaign: string): Promise<{ type: string; file: string }[]> =>
  Promise.all(
    Object.entries({ csv: 'text/csv', ndjson: 'application/x-ndjson' }).map(async ([format, type]) => {
      const url = `/v1/campaigns/${campaign}/contacts/export?format=${format}`
      return { type, file: (await test.app.inject({ url, headers: test.account.headers })).body }
    }),
  )

describe('an export', () => {
  it('is imported again without a change', async () => {
    const campaign = await test.newCampaign()
    const consent = { status: 'opted_in', method: 'form', obtained_at: '2026-01-02T03:04:05.000Z' }
    await test.call('POST', `/v1/campaigns/${campaign}/contacts`, {
      phone_number: '15551234567',
      first_name: '=cmd',
      last_name: '＠home',
      attributes: { plan: 'gold', "it's": '-5', '%': '5', '#': '6' },
      tags: ['a', 'b,c'],
      consent,
    })
    const url = `/v1/campaigns/${campaign}/contacts/export`
    const file = (await test.app.inject({ url, headers: test.account.headers })).body
    const other = await test.newCampaign()
    const over = await test.run(other, 'text/csv', file)
    expect(over).toMatchObject({
      status: 'completed',
      mapping: { contact: null, opted_out: 'opted_out', created_at: null },
    })
    const lines = (await test.app.inject({ url: `${url}?format=ndjson`, headers: test.account.headers })).body
    const third = await test.newCampaign()
    expect(await test.run(third, 'application/x-ndjson', lines)).toMatchObject({ status: 'completed' })
    for (const copy of [other, third])
      expect((await test.call('GET', `/v1/campaigns/${copy}/contacts`)).body['data']).toMatchObject([
        {
          first_name: '=cmd',
          last_name: '＠home',
          attributes: { plan: 'gold', "it's": '-5', '%': '5', '#': '6' },
          tags: ['a', 'b,c'],
          consent,
        },
      ])
    const bad = await test.run(third, 'application/x-ndjson', lines.replace('15551234567', '12'))
    expect((await test.badRows(bad.id)).split('\n')[0]).toBe(
      'phone_number,first_name,last_name,country,attributes,tags,consent,error',
    )
  })

  it('states the countries of its numbers, and imports them again as derived', async () => {
    const campaign = await test.newCampaign()
    const add = (phone_number: string, country?: string) =>
      test.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number, country })
    await add('4791234567')
    await add('4791234568', 'SE')
    for (const { type, file } of await exportsOf(campaign)) {
      const lines = file.split('\n').filter((line) => line.includes('479123456'))
      expect(lines.map((line) => /\b(?:NO|SE)\b/.exec(line)?.[0])).toEqual(['NO', 'SE'])
      const other = await test.newCampaign()
      await test.run(other, type, file)
      const stored = await test.db.query('select country from contacts where campaign_id = $1 order by phone_number', [
        parseId('cmp', other),
      ])
      expect(stored.rows).toEqual([{ country: null }, { country: 'SE' }])
    }
  })

  it('keeps the country codes of its numbers if they could be national ones of the default country', async () => {
    const numbers = ['4791234567', '6591234567']
    const campaign = await test.newCampaign()
    for (const phone_number of numbers) await test.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number })
    for (const { type, file } of await exportsOf(campaign)) {
      const other = await test.newCampaign({ default_country: 'US' })
      await test.run(other, type, file)
      expect((await test.contacts(other)).map((contact) => contact['phone_number'])).toEqual(numbers)
    }
  })

  it('is imported again even if its contacts together have more attributes than one may have', async () => {
    const campaign = await test.newCampaign()
    const attributesOf = (n: number) =>
      Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`a${n * 50 + i}`, `v${i}`]))
    for (const n of [0, 1, 2, 3, 4])
      await test.call('POST', `/v1/campaigns/${campaign}/contacts`, {
        phone_number: `1555123450${n}`,
        attributes: attributesOf(n),
      })
    const url = `/v1/campaigns/${campaign}/contacts/export`
    const file = (await test.app.inject({ url, headers: test.account.headers })).body
    const other = await test.newCampaign()
    expect(await test.run(other, 'text/csv', file)).toMatchObject({ status: 'completed', counts: { created: 5 } })
    const { data } = (await test.call('GET', `/v1/campaigns/${other}/contacts`)).body as { data: object[] }
    expect(data).toMatchObject([4, 3, 2, 1, 0].map((n) => ({ attributes: attributesOf(n) })))
    // A file that fills all fields but is not our export is refused row by row.
    const wide = file.replace('contact,', '').replaceAll(/^ctc_\w+,/gm, '')
    expect(await test.upload(other, 'text/csv', wide)).toMatchObject({ status: 422 })
  })
})

const workbookOf = (rows: unknown[][], format?: string): Promise<Buffer> =>
  writeXlsxFile(
    rows.map((row) =>
      row.map((value) => (value === null ? null : { value, ...(value instanceof Date && { format }) })),
    ) as SheetData,
    { sheet: 'People' },
  ).toBuffer()

function formOf(...parts: { name: string; filename?: string; type?: string; content: string | Buffer }[]) {
  const boundary = `b${randomBytes(8).toString('hex')}`
  const bytes = parts.flatMap(({ name, filename, type, content }) => [
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${filename ? `; filename="${filename}"` : ''}\r\n` +
      `${type ? `content-type: ${type}\r\n` : ''}\r\n`,
    content,
    '\r\n',
  ])
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Buffer.concat([...bytes, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece as string))),
  }
}
