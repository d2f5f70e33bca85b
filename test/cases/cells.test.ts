/** Kind J: cell values of other programs, and other text encodings. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readZone } from '../../server/contacts/zone-names.ts'
import { createImportTest, type OwnImportTest, type Shown } from '../../server/imports/testing.ts'
import { quietUntil } from '../../server/quiet-hours/window.ts'
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
  const { rows } = await test.db.query<Record<string, unknown>>(
    `select phone_number, first_name, last_name, external_id, timezone, tags, attributes
     from contacts where campaign_id = (select campaign_id from imports order by id desc limit 1) order by phone_number`,
  )
  return { over, contacts: rows }
}

const encode = (text: string, encoding: string): Buffer =>
  execFileSync('iconv', ['-f', 'utf-8', '-t', encoding], { input: text })

describe('letters of code pages', () => {
  it.each([
    ['cyrillic.csv', 'windows-1251', 'text/csv; charset=windows-1251', ['Ольга', 'Игорь']],
    ['japanese.csv', 'shift_jis', 'text/csv; charset=Shift_JIS', ['さくら', '健太']],
  ])('are recognized in %s, and read as declared', async (name, encoding, declared, names) => {
    for (const type of ['text/csv', declared]) {
      const { over, contacts } = await take(caseOf(name), { type })
      expect(over).toMatchObject({ status: 'completed', detected: { encoding } })
      expect(contacts.map(({ first_name }) => first_name)).toEqual(names)
    }
  })

  const texts: [encoding: string, name: string, text: string][] = [
    ['koi8-r', 'koi8-r', 'Телефон;Имя\n+79161234501;Ольга\n+79161234502;Пётр\n'],
    ['windows-1251', 'cp1251', 'Телефон;Ім’я\n+380671234501;Олексій\n+380671234502;Юлія\n'],
    ['ibm866', 'cp866', 'Телефон;Имя\n+79161234501;Ольга\n+79161234502;Игорь\n'],
    ['windows-1253', 'cp1253', 'Τηλέφωνο;Όνομα\n+306912345601;Γιώργος\n+306912345602;Μαρία\n'],
    ['windows-1254', 'cp1254', 'Telefon;İsim\n+905321234501;Ayşe Yılmaz\n+905321234502;Çağlar\n'],
    ['windows-1250', 'cp1250', 'Telefon;Imię\n+48601234501;Łukasz\n+48601234502;Żaneta Wałęsa\n'],
    ['windows-1256', 'cp1256', 'الهاتف;الاسم\n+201001234501;محمد علي\n+201001234502;فاطمة\n'],
    ['windows-874', 'cp874', 'โทรศัพท์;ชื่อ\n+66812345601;สมชาย\n+66812345602;มาลี\n'],
    ['gb18030', 'gb18030', '手机,姓名\n+8613812345601,王伟\n+8613812345602,李娜\n'],
    ['big5', 'big5', '手機,姓名\n+886912345601,陳志明\n+886912345602,林淑芬\n'],
    ['euc-kr', 'euc-kr', '휴대폰,이름\n+821012345601,김민준\n+821012345602,이서연\n'],
    ['euc-jp', 'euc-jp', '電話番号,名前\n+819012345601,佐藤健\n+819012345602,高橋\n'],
    ['macintosh', 'MACINTOSH', 'Téléphone;Prénom\r+33612345601;François\r+33612345602;Zoé\r'],
    ['windows-1252', 'cp1252', 'Teléfono;Nombre\n+34612345601;José Peña\n+34612345602;Núñez – “Ñ”\n'],
  ]

  it.each(texts)('of %s are recognized', async (encoding, name, text) => {
    const { over, contacts } = await take(encode(text, name))
    expect(over).toMatchObject({ status: 'completed', detected: { encoding } })
    const names = text
      .trim()
      .split(/[\n\r]/)
      .slice(1)
    expect(contacts.map(({ first_name, attributes }) => first_name ?? Object.values(attributes as object)[0])).toEqual(
      names.map((line) => line.split(/[;,]/)[1]),
    )
  })

  it('that fit several get a question with each result, and nothing is stored', async () => {
    const campaign = await test.newCampaign()
    const hebrew = encode('phone;שם\n+972501234501;יוסי\n', 'cp1255')
    const { status, body } = await test.upload(campaign, 'text/csv', hebrew)
    const [error] = body['errors'] as Record<string, string>[]
    expect([status, error?.['detail']]).toEqual([
      422,
      expect.stringMatching(/may be in .*windows-1255 \(phone;שם\).*`encoding`/),
    ])
    const dos = encode('Téléphone;Prénom\n+33612345601;François\n', 'cp850')
    const refused = await test.upload(campaign, 'text/csv', dos)
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      422,
      expect.stringMatching(/no encoding that can be detected/),
    ])
    const { over } = await take(hebrew, { query: '?encoding=windows-1255' })
    expect(over).toMatchObject({ detected: { encoding: 'windows-1255' }, mapping: { שם: 'attributes.שם' } })
    expect((await test.upload(campaign, 'text/csv', 'phone\n1', '?encoding=cp850')).body['errors']).toMatchObject([
      { pointer: '?encoding' },
    ])
  })
})

describe('formulas without results', () => {
  it('are reported for their cell, number or name, and read if they have a result', async () => {
    for (const query of ['?dry_run=true', '']) {
      const { over } = await take(caseOf('formulas.xlsx'), { type: workbookType, query })
      expect(over).toMatchObject({ counts: { created: 1, failed: 1 } })
      expect(await test.errors(over.id)).toMatchObject([
        { line: 2, column: 'Phone', detail: expect.stringMatching(/formula/) as string },
      ])
    }
    const names = `${rowOf('Phone', 'Name')}<row><c t="inlineStr"><is><t>+15551231101</t></is></c><c><f>A1</f></c></row>`
    const { over } = await take(rawWorkbook(names), { type: workbookType })
    expect(await test.errors(over.id)).toMatchObject([{ column: 'Name', code: 'invalid_format' }])
    // An empty text is a value, and unread cells do not matter.
    const others = `${rowOf('Phone', 'error')}<row><c t="inlineStr"><is><t>+15551231101</t></is></c><c t="str"><f>""</f><v></v></c></row>`
    expect((await take(rawWorkbook(others), { type: workbookType })).over.counts).toMatchObject({ created: 1 })
  })
})

describe('words for empty values', () => {
  it('are empty, and counted; Null is a surname', async () => {
    const { over, contacts } = await take(caseOf('null-words.csv'))
    expect(over).toMatchObject({ status: 'completed', repairs: { null_words: 2 } })
    expect(contacts).toMatchObject([
      { first_name: null, external_id: null, attributes: {} },
      { first_name: null, external_id: null, attributes: { city: 'Oslo' } },
      { first_name: 'Null', external_id: '17' },
    ])
    const more =
      'phone,first_name,last_name,zip\n+15551231701,N/A,None,#N/A\n+15551231702,(null),Null,#REF!\n+15551231703,nan,Nan,0\n'
    const words = (await take(more)).contacts
    expect(words.map(({ first_name, last_name, attributes }) => [first_name, last_name, attributes])).toEqual([
      [null, 'None', {}],
      [null, 'Null', {}],
      [null, 'Nan', { zip: '0' }],
    ])
  })
})

describe('several values in a cell', () => {
  it('of Google are tags; of several numbers the first is taken, and the response says so', async () => {
    const { over, contacts } = await take(caseOf('several-values.csv'))
    expect(contacts.map(({ phone_number, tags }) => [phone_number, tags])).toEqual([
      ['15551231401', ['myContacts', 'Patients']],
      ['15551231403', ['myContacts']],
    ])
    expect(over['repairs']).toMatchObject({ several_numbers: 1 })
  })
})

describe('time zones', () => {
  it('are the number’s, if an abbreviation has no summer time, and Windows names are read', async () => {
    const { over, contacts } = await take(caseOf('zones.csv'))
    expect(over).toMatchObject({ status: 'completed' })
    expect(contacts.map(({ timezone }) => timezone)).toEqual(['America/New_York', 'America/New_York', 'Asia/Calcutta'])
    // 21:30 in New York, in quiet hours until eight.
    const until = quietUntil(new Date('2027-07-02T01:30:00Z'), { start: 21 * 60, end: 8 * 60 }, [
      String(contacts[0]?.['timezone']),
    ])
    expect(until?.toISOString()).toBe('2027-07-02T12:00:00.000Z')
  })

  it.each([
    ['MST', '16025550136', 'America/Phoenix'],
    ['PST', '12125550136', 'America/Los_Angeles'],
    ['eastern standard time', '14165550136', 'America/Toronto'],
    ['GMT', '447700900111', 'Europe/London'],
    ['UTC-05:00', '12125550136', 'America/New_York'],
    ['Etc/GMT+5', '12125550136', 'America/New_York'],
    ['AEST', '61412345678', 'Australia/Sydney'],
    ['IST', '919876543201', 'Asia/Calcutta'],
    ['IST', '353871234567', 'Europe/Dublin'],
    ['CEST', '4915123456789', 'Europe/Berlin'],
    ['CET', '4915123456789', 'CET'],
    ['W. Europe Standard Time', '41791234567', 'Europe/Zurich'],
    ['Tokyo Standard Time', '819012345678', 'Asia/Tokyo'],
    ['UTC', '12125550136', 'UTC'],
    ['Europe/Kyiv', '380671234501', 'Europe/Kyiv'],
  ])('%s of %s is %s', (text, number, timezone) => {
    expect(readZone(text, number)).toEqual({ timezone })
  })

  it('that do not exist are refused, with the number’s as a suggestion', () => {
    expect(readZone('Eastern', '12125550136')).toMatchObject({ code: 'invalid_value', suggestion: 'America/New_York' })
  })
})

describe('exports', () => {
  it('escape formulas at the start of each line of a cell, and an import removes the escapes', async () => {
    const campaign = await test.newCampaign()
    const attributes = { note: 'a\n=cmd()\n+1\r\n-2\r@x', dash: '-', text: 'a - b = c' }
    await test.call('POST', `/v1/campaigns/${campaign}/contacts`, { phone_number: '15551231801', attributes })
    const url = `/v1/campaigns/${campaign}/contacts/export`
    const file = (await test.app.inject({ url, headers: test.account.headers })).body
    expect(file).toContain(`a\n'=cmd()\n'+1\r\n'-2\r'@x`)
    expect((await take(file)).contacts).toMatchObject([{ attributes }])
  })
})
