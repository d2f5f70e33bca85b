/** Kind I, and the columns of kind D: a file's layout is decided by its rows. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createImportTest, type OwnImportTest, type Shown } from '../../server/imports/testing.ts'
import { rawWorkbook, rowOf } from '../../server/ground/tables/zip-testing.ts'

const caseOf = (name: string): Buffer => readFileSync(new URL(`inputs/${name}`, import.meta.url))
const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

let test: OwnImportTest

beforeAll(async () => {
  test = await createImportTest()
})
afterAll(() => test.close())

async function take(
  file: string | Buffer,
  { type = 'text/csv', query = '' } = {},
): Promise<{ over: Shown; contacts: Record<string, unknown>[] }> {
  const campaign = await test.newCampaign()
  const over = await test.run(campaign, type, file, query)
  return { over, contacts: await test.contacts(campaign) }
}

async function refusal(file: string, query = ''): Promise<Record<string, unknown>> {
  const { status, body } = await test.upload(await test.newCampaign(), 'text/csv', file, query)
  expect(status).toBe(422)
  return (body['errors'] as Record<string, unknown>[])[0] ?? {}
}

const mappingOf = (mapping: object): string => `?mapping=${encodeURIComponent(JSON.stringify(mapping))}`

describe('titles above the names', () => {
  it('are skipped, in CSV and in workbooks, with a mapping or without', async () => {
    for (const [name, type, headerLine, digits] of [
      ['title-rows.csv', 'text/csv', 4, '1555123900'],
      ['title-rows.xlsx', workbookType, 3, '1555123902'],
    ] as const)
      for (const query of ['', mappingOf({ Phone: 'phone_number' })]) {
        const { over, contacts } = await take(caseOf(name), { type, query })
        expect(over).toMatchObject({
          status: 'completed',
          detected: { header_line: headerLine, number_column: 'Phone' },
        })
        expect(contacts.map(({ phone_number, first_name }) => [phone_number, first_name])).toEqual([
          [`${digits}1`, 'Ann'],
          [`${digits}2`, 'Bob'],
        ])
      }
  })

  it('may be anything that is not a header', async () => {
    const rows = 'Telefon;Vorname\n+4915112345601;Ann\n'
    for (const titles of [
      'Mitglieder;\nStand: 1.11.2026;\n',
      'Kontakte (Handy), 2026\n\n',
      '"Bericht\nüber zwei Zeilen";\n',
      'sep=;\n',
    ])
      expect((await take(titles + rows)).over.counts).toMatchObject({ created: 1, failed: 0 })
    const sheet = [rowOf('Report'), '<row/>', rowOf('', 'Mobile', 'City'), rowOf('', '15551239001', 'Oslo')].join('')
    expect((await take(rawWorkbook(sheet), { type: workbookType })).over.counts).toMatchObject({ created: 1 })
  })

  it('are marked by the file’s sender if they cannot be recognized', async () => {
    const file = 'Phone,Reason\nNr,Who\n+15551239001,Ann\n'
    const { over } = await take(file, { query: `${mappingOf({ Nr: 'phone_number' })}&header_line=2` })
    expect(over).toMatchObject({ detected: { header_line: 2 }, counts: { created: 1 } })
  })
})

describe('the delimiter', () => {
  it.each([
    ['Name;Phone\nSmith, Ann;+15551239001\nJones, Bob;+15551239002\n', ';'],
    ['Phone|Note, long|City\n+15551239001|a, b|Rome\n+15551239002|c|Oslo\n', '|'],
    ['Report, of; today\nPhone\tName\n+15551239001\tAnn, Ash\n+15551239002\tBob\n', '\t'],
    ['Phone;Betrag\n+15551239001;1,50\n+15551239002;2,50\n', ';'],
  ])('is found by the rows: %j', async (file, delimiter) => {
    const { over } = await take(file)
    expect(over).toMatchObject({ detected: { delimiter }, counts: { created: 2, failed: 0 } })
  })
})

describe('columns of numbers', () => {
  it('named mobile precede phone in any place, and rows with only the other are reported', async () => {
    const { over, contacts } = await take(caseOf('two-phones.csv'))
    expect(over.mapping).toMatchObject({ Mobile: 'phone_number', Phone: 'attributes.Phone' })
    expect(contacts.map(({ phone_number }) => phone_number)).toEqual(['491713920041', '491713920042'])
    expect(await test.errors(over.id)).toMatchObject([
      {
        line: 4,
        column: 'Mobile',
        code: 'required',
        detail: expect.stringMatching(/Phone/) as string,
        suggestion: '4940428280',
      },
    ])
    expect(over['faults']).toMatchObject([
      { column: 'Mobile', count: 1, advice: expect.stringContaining('{"Phone":"phone_number"}') as string },
    ])
  })

  it.each([
    ['Telefon;Handy', 'Handy'],
    ['Téléphone;Portable', 'Portable'],
    ['Teléfono;Móvil', 'Móvil'],
    ['Телефон;Мобильный', 'Мобильный'],
    ['電話番号;携帯電話', '携帯電話'],
    ['Home Phone;Cell', 'Cell'],
    ['Phone Number;Mobile Phone Number', 'Mobile Phone Number'],
    ['Business Phone;Customer Mobile #1', 'Customer Mobile #1'],
    ['Number;Phone', 'Phone'],
    ['Phone Type;Phone', 'Phone'],
  ])('are recognized in %s', async (names, column) => {
    const { over } = await take(`${names}\n+4930901820;+4915112345601\n`)
    expect(over).toMatchObject({ detected: { number_column: column }, counts: { created: 1 } })
  })

  it('are recognized as SMS, which is a consent elsewhere', async () => {
    const numbers = await take('SMS;WHATSAPP\n15551239001;\n15551239002;\n')
    expect(numbers.over).toMatchObject({ detected: { number_column: 'SMS' }, counts: { created: 2 } })
    const answers = await take('SMS;WHATSAPP\n1;15551239001\n0;15551239002\n')
    expect(answers.over).toMatchObject({ detected: { number_column: 'WHATSAPP' }, warnings: [{ column: 'SMS' }] })
  })

  it('are those with numbers, not the first with the name', async () => {
    const { over } = await take('Number,Mobile,Phone\n17,,+15551239001\n18,,+15551239002\n')
    expect(over).toMatchObject({ detected: { number_column: 'Phone' }, counts: { created: 2 } })
  })

  it('without a name are suggested, and rows without a header are reported', async () => {
    expect(await refusal('Kunde,Kontakt\nAnn,+15551239001\n')).toMatchObject({
      detail: expect.stringMatching(/cells of Kontakt look like numbers/) as string,
      suggestion: '{"Kontakt":"phone_number"}',
    })
    for (const file of ['+15551239001,Ann\n+15551239002,Bob\n', '+15551239001, +15551239002'])
      expect(await refusal(file)).toMatchObject({
        detail: expect.stringMatching(/line 1 looks like a row of data/) as string,
      })
  })
})

describe('empty columns', () => {
  it('are not counted', async () => {
    for (const query of ['?dry_run=true', '']) {
      const { over, contacts } = await take(caseOf('many-columns.csv'), { query })
      expect(over).toMatchObject({ counts: { created: 1, failed: 0 }, detected: { number_column: 'Mobile Phone' } })
      if (query === '') expect(contacts).toMatchObject([{ first_name: 'Ann' }])
    }
    expect((await take('Phone,Notes,Notes\n+15551239001,a,\n')).over.counts).toMatchObject({ created: 1 })
  })

  it('are no reason to refuse a file, and the others are with the mapping that omits the rest', async () => {
    const names = Array.from({ length: 60 }, (_, n) => `c${n}`)
    const file = `Phone,${names.join()}\n+15551239001,${names.join()}\n`
    const { suggestion } = await refusal(file)
    expect(Object.keys(JSON.parse(String(suggestion)) as object)).toEqual(names.slice(50))
    const { over } = await take(file, { query: mappingOf(JSON.parse(String(suggestion)) as object) })
    expect(over.counts).toMatchObject({ created: 1 })
  })
})

describe('the decisions about a table', () => {
  it('are in the response and the dry run, with three cells of each column', async () => {
    const campaign = await test.newCampaign()
    const file =
      'Phone,City\n+15551239001,Rome\n+15551239002,Rome\n+15551239003,Oslo\n+15551239004,Bonn\n+15551239005,Kyiv\n'
    const { body } = await test.upload(campaign, 'text/csv', file)
    const columns = [
      { name: 'Phone', field: 'phone_number', sample: ['+15551239001', '+15551239002', '+15551239003'] },
      { name: 'City', field: 'attributes.City', sample: ['Rome', 'Oslo', 'Bonn'] },
    ]
    expect(body).toMatchObject({
      columns,
      detected: { encoding: 'utf-8', delimiter: ',', header_line: 1, number_column: 'Phone', consent_columns: [] },
    })
    expect((await test.finished(String(body['id'])))['columns']).toBeNull()
    expect((await test.run(campaign, 'text/csv', file, '?dry_run=true'))['columns']).toEqual(columns)
  })

  it('group equal faults, and say what would make the rows pass', async () => {
    const rows = Array.from({ length: 6001 }, (_, n) => `07911 ${123_456 + n}`)
    const { over } = await take(`Phone\n${rows.join('\n')}\n`)
    expect(over).toMatchObject({ counts: { failed: 6001 } })
    expect(over['faults']).toMatchObject([
      { count: 6001, line: 2, column: 'Phone', advice: expect.stringContaining('default_country') as string },
    ])
    expect((await take(`Phone\n${rows.join('\n')}\n`, { query: '?default_country=GB' })).over.counts).toMatchObject({
      failed: 0,
    })
  })
})
