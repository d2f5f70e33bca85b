import { expect, it } from 'vitest'
import { countTurns } from '../../test/until.ts'
import { rawWorkbook, rowOf, zipOf } from '../ground/tables/zip-testing.ts'
import { optOutRowsMax, readFileList, readJsonList, type ReadList } from './list.ts'

it('a long file is read completely and in turns, for any size of pieces', async () => {
  // Characters of three bytes, and quoted lines: a piece ends inside some of them.
  const rows = Array.from({ length: optOutRowsMax }, (_, i) => `${15_550_000_000 + i},"€ ${i}\nmore"`)
  const { read, turns } = await countTurns(readCsvList(`number,reason\n${rows.join('\n')}\n`))
  const { people, errors, total } = read
  expect([total, errors.length, people.length]).toEqual([optOutRowsMax, 0, optOutRowsMax])
  expect(people.every(({ reason }, i) => reason === `€ ${i}\nmore`)).toBe(true)
  expect(turns).toBeGreaterThan(5)
})

it('a number is opted out whatever is beside it in its cell', async () => {
  for (const cell of ['+12025550404 ext 4', '+12025550404 (mobile)', ' "+12025550404"', '+12025550404/12'])
    expect(await readCsvList(`number\n${cell}\n`), cell).toMatchObject({
      people: [{ number: '12025550404' }],
      errors: [],
    })
})

it('bad rows are reported by line, and others get their turn meanwhile', async () => {
  const bad = Array.from({ length: optOutRowsMax }, (_, i) => `x${i}`)
  const csv = await countTurns(readCsvList(`number\n${bad.join('\n')}`))
  expect([csv.read.errors.length, csv.read.errors.at(-1)?.line]).toEqual([optOutRowsMax, optOutRowsMax + 1])
  expect(csv.turns).toBeGreaterThan(2)
  const json = await countTurns(readJsonList(bad.map((number) => ({ number }))))
  expect([json.read.errors.length, json.read.errors.at(-1)?.line]).toEqual([optOutRowsMax, optOutRowsMax])
  expect(json.turns).toBeGreaterThan(2)
})

it('a file is read like contacts: national numbers get the default country, and those of an export have theirs', async () => {
  const numbers = async (text: string, country: string | null): Promise<string[]> =>
    (await readCsvList(text, country)).people.map(({ number }) => number)
  // Ten digits that are a number of Egypt, too.
  expect(await numbers('number\n2025580302\n(202) 555-0303\n+20 2 5580304\n12025550305', 'US')).toEqual([
    '12025580302',
    '12025550303',
    '2025580304',
    '12025550305',
  ])
  expect(await numbers('2025580302\n2025580306', 'US')).toEqual(['12025580302', '12025580306'])
  expect(await numbers('number\n2025580302', null)).toEqual([])
  expect(await numbers('number\n+2025580302', null)).toEqual(['2025580302'])
  const exported = 'number,reason,source,created_at\n2025580302,,reply,2026-11-23T00:00:00.000Z'
  expect(await numbers(exported, 'US')).toEqual(['2025580302'])
  const { errors } = await readCsvList('number\n4.47E+11', 'GB')
  expect(errors).toMatchObject([{ line: 2, code: 'scientific_notation' }])
})

it('a JSON list takes digits with a country code, as everywhere, refuses those that are also a national number, and completes national ones', async () => {
  const read = async (country: string | null, ...numbers: string[]): Promise<[string[], string[]]> => {
    const { people, errors } = await readJsonList(
      numbers.map((number) => ({ number })),
      country,
    )
    return [people.map(({ number }) => number), errors.map(({ value }) => value)]
  }
  // Ten digits that are a number of Egypt, too: the people there have not opted out.
  const written = ['(202) 558-0302', '202-558-0303']
  expect(await read('US', '2025580301', ...written)).toEqual([['12025580302', '12025580303'], ['2025580301']])
  expect(await read(null, '2025580301', ...written)).toEqual([['2025580301'], written])
  const spelled = ['+1 (202) 558-0304', '0012025580305', '12025580306.0']
  expect(await read(null, ...spelled)).toEqual([['12025580304', '12025580305', '12025580306'], []])
})

it('cells are read as displayed: texts in formulas, and without an export’s apostrophe', async () => {
  const { people } = await readCsvList(`="number",reason\n="15551230001",'=1+1\n15551230002,said "no" twice\n`)
  expect(people).toEqual([
    { number: '15551230001', reason: '=1+1' },
    { number: '15551230002', reason: 'said "no" twice' },
  ])
})

it('rows of blank cells are ignored, like empty lines', async () => {
  const { people, errors, total } = await readCsvList(
    ',\nnumber,reason\n\n15551230001,x\n,\n" ",\n,only a reason\n,,\n',
  )
  expect([people.length, total]).toEqual([1, 2])
  expect(errors).toMatchObject([{ line: 7, code: 'required' }])
})

it('a JSON list is taken without its bad rows, each of which is reported', async () => {
  const { people, errors } = await readJsonList([
    { number: '15551230001' },
    {},
    { number: null },
    { number: 15551230002 },
    'text',
    { number: '15551230003', reson: 'typo' },
    { number: '15551230004', reason: 5 },
    { number: 'x'.repeat(100) },
    { number: '+15551230005', reason: null },
  ])
  expect(people.map(({ number }) => number)).toEqual(['15551230001', '15551230005'])
  expect(errors.map(({ line, value, code }) => [line, value, code])).toEqual([
    [2, '', 'required'],
    [3, '', 'required'],
    [4, '15551230002', 'invalid_type'],
    [5, 'text', 'invalid_type'],
    [6, '15551230003', 'unknown_field'],
    [7, '15551230004', 'invalid_type'],
    [8, 'x'.repeat(40), 'invalid_phone_number'],
  ])
})

it('a file that is not a list is refused as a whole', async () => {
  const refusals: [string, string][] = [
    ['name\nAnna', 'must have a column of numbers'],
    ['number\n', 'must have at least one row'],
    [`number\n${'15551230001\n'.repeat(optOutRowsMax + 1)}`, `at most ${optOutRowsMax} rows`],
  ]
  for (const [text, words] of refusals)
    await expect(readCsvList(text)).rejects.toMatchObject({
      options: { errors: [{ detail: expect.stringContaining(words) }] },
    })
})

it('a reason is kept unchanged, with quotes and commas', async () => {
  const reasons: [string, string][] = [
    ['"no" she said', '"no" she said'],
    ['"no, thanks" she said', '"no, thanks" she said'],
    ['She said "stop', 'She said "stop'],
    ['"said, stop', '"said, stop'],
    ['wrote, twice', 'wrote, twice'],
    ['"well, ""no"""', 'well, "no"'],
    ["'quoted'", "'quoted'"],
  ]
  const rows = reasons.map(([written], n) => `1202555010${n},${written}`)
  const { people } = await readCsvList(`number,reason\n${rows.join('\n')}\n`)
  expect(people.map(({ number, reason }) => [number, reason])).toEqual(
    reasons.map(([, read], n) => [`1202555010${n}`, read]),
  )
})

it('national numbers without a country are refused, with a remedy', async () => {
  const numbers = ['2025550123', '3105550188', '4155550142', '6465550117', '12']
  const list = await readCsvList(`phone,reason\n${numbers.join(',x\n')},x\n`)
  expect(list).toMatchObject({ people: [], doubt: { codes: ['1'], doubtful: 4 } })
  expect(list.faults).toMatchObject([
    { count: 4, column: 'phone' },
    { count: 1, column: 'phone' },
  ])
  expect(list.errors[0]).toMatchObject({ value: '2025550123', suggestion: '12025550123' })
  expect(list.errors[0]).not.toHaveProperty('general')
  const known = await readCsvList(`phone,reason\n${numbers.join(',x\n')},x\n`, 'US')
  expect(known).toMatchObject({ doubt: null, repairs: { national: 4 }, faults: [{ count: 1 }] })
  expect(known.people.map(({ number }) => number)).toContain('12025550123')
})

it('national numbers behind thousands of whole ones are refused, too, in any kind of file', async () => {
  const whole = Array.from({ length: 5000 }, (_, n) => `4477009${String(10_000 + n)}`)
  const national = Array.from({ length: 50 }, (_, n) => `415555${String(2000 + n)}`)
  const rows = ['phone', ...whole, ...national]
  for (const file of [rows.join('\n'), rawWorkbook(rows.map((row) => rowOf(row)).join(''))]) {
    const list = await readFileList(Buffer.from(file as string), { defaultCountry: null })
    expect([list.people.length, list.errors.length, list.doubt?.codes[0]]).toEqual([5000, 50, '1'])
    expect(list.errors[0]).toMatchObject({ line: 5002, detail: expect.stringContaining('default_country') as string })
  }
})

it.each([
  ['HTML page', '<!DOCTYPE html><table><tr><td>phone'],
  ['RTF', '{\\rtf1\\ansi 15551230001'],
  ['PDF', '%PDF-1.7 …'],
  ['vCards', 'BEGIN:VCARD\r\nTEL:+15551230001'],
  ['\\.xls', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
  ['OpenDocument', zipOf({ mimetype: 'x', 'content.xml': '<x/>' })],
  ['unpack it', zipOf({ 'list.csv': '15551230001' })],
])('a file that is no list is refused with what it is: %s', async (what, file) => {
  const reading = readFileList(Buffer.from(file as string), { defaultCountry: null })
  await expect(reading).rejects.toMatchObject({
    options: { errors: [{ pointer: '#', code: 'invalid_format', detail: expect.stringMatching(what) as string }] },
  })
})

const readCsvList = (text: string, defaultCountry: string | null = null): Promise<ReadList> =>
  readFileList(Buffer.from(text), { defaultCountry })
