import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { parseId } from '../ground/base/ids.ts'
import { numberOf, createImportTest, zero } from './testing.ts'
import { rawWorkbook, rowOf, zipOf } from '../ground/tables/zip-testing.ts'

const test = await createImportTest()

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
/** The full size of the trial: `HELIOGRAM_TEST_BAD_ROWS=1000000`. */
const badRows = Number(process.env['HELIOGRAM_TEST_BAD_ROWS'] ?? 200_000)
const limitMs = 60_000 + badRows / 2

const textCell = (index: number): string => `<c t="s"><v>${index}</v></c>`

const refusals: Refusal[] = [
  ['an empty CSV', 'text/csv', '', 422, /must not be empty/],
  ['an empty workbook', workbookType, '', 422, /must not be empty/],
  ['a workbook with an empty sheet', workbookType, rawWorkbook(''), 422, /row of column names/],
  ['compressed nothing', 'application/gzip', gzipSync(''), 422, /must not be empty/],
  ['bytes of no kind', 'text/csv', randomBytes(300_000), 422, /must be text|line of column names/],
  ['bytes called a workbook', workbookType, randomBytes(300_000), 422, /must be text|must be a workbook/],
  [
    'an archive of other things',
    workbookType,
    Buffer.from(`PK\u0003\u0004${'x'.repeat(100)}`),
    422,
    /is incomplete: its end is missing/,
  ],
  ['a PDF', 'text/csv', '%PDF-1.7 …', 422, /PDF/],
  [
    'an HTML table named .xls',
    'text/csv',
    '\ufeff\r\n<html xmlns:o="x"><table><tr><td>phone',
    422,
    /HTML page.*\.xlsx/,
  ],
  ['one in UTF-16', 'text/csv', Buffer.from('\ufeff<table>\r\n<tr><td>phone', 'utf16le'), 422, /HTML page/],
  [
    'an XML spreadsheet',
    'text/csv',
    '<?xml version="1.0"?>\n<?mso-application progid="Excel.Sheet"?>\n<Workbook>',
    422,
    /XML spreadsheet/,
  ],
  ['an RTF document', 'text/csv', '{\\rtf1\\ansi phone', 422, /RTF/],
  ['vCards', 'text/csv', 'BEGIN:VCARD\r\nVERSION:3.0\r\nTEL:+15551230001', 422, /vCards/],
  ['a picture', 'text/csv', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), 422, /picture/],
  ['a picture called a workbook', workbookType, Buffer.from('ffd8ffe000104a46494600', 'hex'), 422, /picture/],
  ['a RAR archive', 'text/csv', 'Rar!\u001a\u0007\u0001', 422, /unpack it/],
  ['an OpenDocument sheet', workbookType, zipOf({ mimetype: 'x', 'content.xml': '<x/>' }), 422, /OpenDocument.*\.xlsx/],
  ['a file of Numbers', 'text/csv', zipOf({ 'Index/Document.iwa': 'x' }), 422, /Numbers/],
  ['a binary workbook', workbookType, zipOf({ 'xl/workbook.bin': 'x' }), 422, /\.xlsb/],
  ['a Word document', workbookType, zipOf({ 'word/document.xml': '<x/>' }), 422, /Word/],
  ['a ZIP of a CSV', 'text/csv', zipOf({ 'list.csv': 'phone\n1' }), 422, /unpack it/],
  ['a ZIP of something else', 'text/csv', zipOf({ 'a/b': 'x' }), 422, /archive without a sheet/],
  ['a header and no rows', 'text/csv', 'phone,name\n', 422, /at least one row after/],
  ['one column that is none of numbers', 'text/csv', 'name\nAda', 422, /column of numbers/],
  ['a workbook of such', workbookType, rawWorkbook(rowOf('name') + rowOf('Ada')), 422, /column of numbers/],
  ['two columns of a name', 'text/csv', 'phone,plan,plan\n1,a,b', 422, /two columns named plan/],
  [
    'more columns than a contact has attributes, whatever their names',
    'text/csv',
    `phone,${Array.from({ length: 16_000 }, (_, n) => n.toString(36)).join()},0\n1`,
    422,
    /at most \d+ columns/,
  ],
  ['such a workbook', workbookType, rawWorkbook(rowOf('phone', 'plan', 'plan')), 422, /two columns named plan/],
  ['a header of 10 MB', 'text/csv', `phone,${'x'.repeat(10 << 20)}\n1,2`, 422, /line of column names/],
  [
    'a workbook’s header of 10 MB',
    workbookType,
    rawWorkbook(rowOf('phone', 'x'.repeat(10 << 20))),
    422,
    /column names/,
  ],
  ['a bomb', 'application/gzip', gzipSync(`phone\n${'1'.repeat(40 << 20)}`), 413, /200 times/],
  ['a bomb in a bomb', 'application/gzip', gzipSync(gzipSync(`phone\n${'1'.repeat(40 << 20)}`)), 422, /unpack it/],
  [
    'a workbook of which eighty megabytes stand before its first row',
    workbookType,
    rawWorkbook(' '.repeat(80 << 20)),
    422,
    /must have a row of column names|inflates to more than 100 times/,
  ],
  ['a workbook of names and no rows', workbookType, rawWorkbook(rowOf('phone', 'name')), 422, /at least one row after/],
  [
    'a workbook of names and blank rows',
    workbookType,
    rawWorkbook(`${rowOf('phone')}<row r="2"/>${' '.repeat(200_000)}${rowOf(' ')}`),
    422,
    /at least one row after/,
  ],
  [
    'a column name that cannot be stored',
    workbookType,
    rawWorkbook(rowOf('phone', 'a_x0000_') + rowOf('15551230001', 'b')),
    422,
    /column names/,
  ],
  [
    'a header that stands for a gigabyte',
    workbookType,
    rawWorkbook(`<row>${textCell(0).repeat(16_000)}</row>`, ['x'.repeat(65_000)]),
    422,
    /row of column names/,
  ],
]

describe('a file that cannot be imported', () => {
  it.each(refusals)('is refused with its kind: %s', async (_, type, payload, status, detail) => {
    const campaign = await test.newCampaign()
    const answer = await test.upload(campaign, type, payload)
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringMatching(detail)])
    expect((await test.call('GET', `/v1/campaigns/${campaign}/imports`)).body['data']).toEqual([])
  })

  it('fails later if its beginning was good, and says what is imported', async () => {
    const good = Array.from({ length: 3000 }, (_, n) => rowOf(numberOf(n))).join('')
    const texts = Array.from({ length: 1100 }, (_, n) => `${n}${randomBytes(700).toString('hex')}${'x'.repeat(63_000)}`)
    for (const [file, code, created] of [
      // A request does not read this far for the first row.
      [rawWorkbook(rowOf('phone') + ' '.repeat(12 << 20)), 'no_rows', 0],
      // Texts that cells share are kept in memory, up to 64 MiB.
      [rawWorkbook(`${rowOf('phone')}${good}<row>${textCell(1099)}</row>`, texts), 'too_large', 3000],
    ] as const) {
      const campaign = await test.newCampaign()
      const over = await test.run(campaign, workbookType, file)
      expect(over).toMatchObject({ status: 'failed', failure: { code } })
      expect(over.counts['created']).toBeLessThanOrEqual(created)
      expect(over.counts['created']).toBe((await test.contacts(campaign)).length)
      const tried = await test.run(campaign, workbookType, file, '?dry_run=true')
      const detail =
        code === 'no_rows' ? /has no rows/ : /64 MiB of different texts; nothing was written\. Save it as CSV/
      expect(tried).toMatchObject({ status: 'failed', failure: { code, detail: expect.stringMatching(detail) } })
    }
  })
})

it('may contain consents full of quotes', async () => {
  const consent = { status: 'opted_in', text: '"'.repeat(2000) }
  const rows = Array.from({ length: 600 }, (_, n) => JSON.stringify({ phone_number: numberOf(n), consent }))
  const over = await test.run(await test.newCampaign(), 'application/x-ndjson', rows.join('\n'))
  expect(over).toMatchObject({ status: 'completed', counts: { created: 600 } })
})

describe('unreadable rows', () => {
  it('are named in a workbook, and later rows are imported: long ones, and ones that expand to a gigabyte', async () => {
    const campaign = await test.newCampaign()
    const rows = [
      rowOf('phone', 'name'),
      rowOf('15551230001', 'a'),
      rowOf('15551230002', 'x'.repeat(10 << 20)),
      `<row>${textCell(0).repeat(16_000)}</row>`,
      rowOf('15551230003', 'c'),
    ]
    const over = await test.run(campaign, workbookType, rawWorkbook(rows.join(''), ['x'.repeat(65_000)]))
    expect(over.counts).toMatchObject({ total: 4, created: 2, failed: 2 })
    expect((await test.errors(over.id)).map(({ line, code }) => [line, code])).toEqual([
      [3, 'too_long'],
      [4, 'too_long'],
    ])
  })

  it.each([
    [
      'a letter cut in two',
      'text/csv',
      `phone,name\n15551230001,a\n15551230002,b\n"${'c'.repeat(198)}😀\n15551230003,d`,
    ],
    [
      'half a letter in a cell',
      workbookType,
      rawWorkbook(
        [rowOf('phone', 'name'), ...[1, 2, 3].map((n) => rowOf(`1555123000${n}`)), rowOf('1', '_xD83D_')].join(''),
      ),
    ],
  ])('are kept as far as they can be stored: %s', async (_, type, file) => {
    const campaign = await test.newCampaign()
    const over = await test.run(campaign, type, file)
    expect(over).toMatchObject({ status: 'completed_with_errors', counts: { created: 3, failed: 1 } })
    expect((await test.errors(over.id)).length).toBe(1)
  })

  it('follow the previous row, whatever number they claim', async () => {
    const campaign = await test.newCampaign()
    const places = ['x', '1.5', '-7', '9', '9', '3', '99999999999999999999', '']
    const rows = places.map((place) => rowOf('12').replace('<row', `<row r="${place}"`))
    const over = await test.run(
      campaign,
      workbookType,
      rawWorkbook(rowOf('phone') + rows.join('') + rowOf('15551230001')),
    )
    expect(over.counts).toMatchObject({ total: 9, created: 1, failed: 8 })
    expect((await test.errors(over.id)).map(({ line }) => line)).toEqual([2, 3, 4, 9, 10, 11, 12, 13])
  })

  it('do not include all rows because of their sheet’s name', async () => {
    const campaign = await test.newCampaign()
    const file = zipOf({
      'xl/workbook.xml': '<workbook><sheets><sheet name="a&#0;b_xD83D_" r:id="rId1"/></sheets></workbook>',
      'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rowOf('phone') + rowOf('15551230001')}</sheetData></worksheet>`,
    })
    const over = await test.run(campaign, workbookType, file)
    expect(over).toMatchObject({ detected: { sheet: 'a\uFFFDb\uFFFD' }, counts: { created: 1, failed: 0 } })
  })

  it('are those whose JSON cannot be stored, and no others', async () => {
    const campaign = await test.newCampaign()
    const cells = ['{""a"":""\\u0000""}', '{""a"":""x""}', '{""__proto__"":1}']
    const file = cells.map((cell, n) => `1555123000${n},"${cell}"`)
    const over = await test.run(campaign, 'text/csv', ['phone,attributes', ...file].join('\n'))
    expect(over.counts).toMatchObject({ created: 1, failed: 2 })
    expect((await test.errors(over.id)).map(({ line, column, code }) => [line, column, code])).toEqual([
      [2, 'attributes', 'invalid_characters'],
      [4, 'attributes', 'unknown_field'],
    ])
    expect(await test.contacts(campaign)).toMatchObject([{ attributes: { a: 'x' } }])
  })

  it.each([
    [
      'cells that are too long',
      'text/csv',
      () => {
        const names = Array.from({ length: 50 }, (_, n) => `c${n}`)
        const row = `15551230001,${names.map(() => 'x'.repeat(1200)).join()}\n`
        return `phone,${names.join()}\n${row.repeat(50)}`
      },
      ['c0 too_long'],
    ],
    [
      'quotes',
      'application/x-ndjson',
      () => `${JSON.stringify({ phone_number: '12', first_name: '"'.repeat(30_000) })}\n`.repeat(50),
      ['phone_number invalid_phone_number', 'first_name too_long'],
    ],
  ])('may have many faults, of which the first of a kind is reported: %s', async (_, type, file, first) => {
    const campaign = await test.newCampaign()
    const over = await test.run(campaign, type, file())
    expect(over).toMatchObject({ status: 'failed', failure: { code: 'no_good_rows' }, counts: { failed: 50 } })
    const errors = await test.errors(over.id)
    expect([...new Set(errors.map(({ column, code }) => `${String(column)} ${String(code)}`))]).toEqual(first)
    expect(errors.filter(({ line }) => line === errors[0]?.['line'])).toHaveLength(first.length)
  })

  it('are those of the rarer encoding in a file of two', async () => {
    const campaign = await test.newCampaign()
    const file = Buffer.concat([
      Buffer.from('phone,first_name\n15551230001,Zoë\n15551230002,Jürgen\n'),
      Buffer.from('15551230003,Andr\u00e9\n', 'latin1'),
      Buffer.from('15551230004,Søren\n'),
    ])
    const over = await test.run(campaign, 'text/csv', file)
    expect(over).toMatchObject({ detected: { encoding: 'utf-8' }, counts: { created: 3, failed: 1 } })
    expect(await test.errors(over.id)).toMatchObject([{ line: 4, code: 'invalid_characters' }])
  })

  it.each([
    ['text/csv', () => `phone,name\n${Array.from({ length: badRows }, (_, n) => `12,name ${n}\n`).join('')}`],
    [workbookType, () => rawWorkbook(rowOf('phone') + Array.from({ length: badRows }, () => rowOf('12')).join(''))],
  ])(
    `may be all of them, in bounded memory, with the first 100,000 readable: %s`,
    async (type, file) => {
      const campaign = await test.newCampaign()
      const { body } = await test.upload(campaign, type, file())
      const before = process.memoryUsage.rss()
      const over = await test.finished(String(body['id']), limitMs)
      expect((process.memoryUsage.rss() - before) / 2 ** 20).toBeLessThan(150)
      expect(over).toMatchObject({
        status: 'failed',
        failure: { code: 'no_good_rows' },
        counts: { ...zero, total: badRows, processed: badRows, failed: badRows },
      })
      const [row] = await test.sql<{ count: number }>`select count(*) from import_errors
        where import_id = ${parseId('imp', over.id)}`
      expect(row?.count).toBe(Math.min(badRows, 100_000))
    },
    limitMs + 60_000,
  )
})

type Refusal = [what: string, type: string, payload: string | Buffer, status: number, detail: RegExp]
