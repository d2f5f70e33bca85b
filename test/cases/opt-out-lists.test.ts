/** Kind B: opt-out lists are parsed like contacts, and every number in them is opted out. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import writeXlsxFile from 'write-excel-file/node'
import { callAs, createTestAccount, testVault } from '../../server/accounts/testing.ts'
import { createImportTest, type OwnImportTest } from '../../server/imports/testing.ts'
import { optOutRoutes } from '../../server/opt-outs/http.ts'
import { optOutListRoutes } from '../../server/opt-outs/list-http.ts'
import { buildTestApp } from '../../server/accounts/testing.ts'
import type { App } from '../../server/ground/http/http.ts'

const caseOf = (name: string): Buffer => readFileSync(new URL(`inputs/${name}`, import.meta.url))
const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

let test: OwnImportTest
let app: App

beforeAll(async () => {
  test = await createImportTest()
  const context = { ...test.context, vault: testVault }
  app = await buildTestApp(test.db, (own) => {
    optOutRoutes(own, context)
    optOutListRoutes(own, context)
  })
})
afterAll(async () => {
  await app.close()
  await test.close()
})

interface Listed {
  status: number
  body: Record<string, unknown>
  out: string[]
}

async function list(file: string | Buffer, numbers: string[], { type = 'text/csv', query = '' } = {}): Promise<Listed> {
  const account = await createTestAccount(test.db)
  const { statusCode: status, body } = await app.inject({
    method: 'POST',
    url: `/v1/opt-outs/import${query}`,
    headers: { ...account.headers, 'content-type': type },
    payload: file,
  })
  if (numbers.length === 0) return { status, body: JSON.parse(body) as Record<string, unknown>, out: [] }
  const asked = await callAs(app, account)('POST', '/v1/opt-outs/check', { numbers })
  const data = asked.body['data'] as { number: string; opted_out: boolean }[]
  return {
    status,
    body: JSON.parse(body) as Record<string, unknown>,
    out: data.filter(({ opted_out: isOut }) => isOut).map(({ number }) => number),
  }
}

async function outOfContacts(file: string, numbers: string[]): Promise<{ out: string[]; failed: number }> {
  const over = await test.run(await test.newCampaign(), 'text/csv', file)
  const { rows } = await test.db.query<{ number: string }>(
    'select number from opt_outs where account_id = $1 and number = any ($2)',
    [test.account.accountId, numbers],
  )
  return { out: rows.map(({ number }) => number).sort(), failed: over.counts['failed'] ?? 0 }
}

const numbersFrom = (from: number, count: number): string[] => Array.from({ length: count }, (_, n) => String(from + n))
/** Rows of a list as contacts with withdrawn consent. */
const asContacts = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line, at) => (at === 0 ? `phone,consent,${line.split(',')[1] ?? ''}` : line.replace(',', ',opted_out,')))
    .join('\n')

describe('a typed quote', () => {
  const six = numbersFrom(15551233901, 6)

  it('takes no rows into a reason: all people at the start of a line are out', async () => {
    const { body, out } = await list(caseOf('opt-outs-quotes.csv'), six)
    expect(out).toEqual(six)
    expect(body).toMatchObject({ total: 6, created: 6, failed: 0 })
  })

  it('loses no withdrawal of a contact: the row is accepted, or listed with its number opted out', async () => {
    const { out, failed } = await outOfContacts(asContacts(caseOf('opt-outs-quotes.csv').toString()), six)
    expect([out, failed]).toEqual([six, 1])
  })

  it('without an end costs its own line at most', async () => {
    const numbers = ['15551233921', '15551233922', ...numbersFrom(15551240000, 39)]
    const file = caseOf('opt-outs-open-quote.csv')
    expect(await list(file, numbers)).toMatchObject({ status: 200, out: numbers, body: { created: 41, failed: 0 } })
    expect(await outOfContacts(asContacts(file.toString()), numbers)).toEqual({ out: numbers, failed: 1 })
  })

  it.each([
    ['that a later one closes', 'number,reason\n15551234001,"left\n15551234002,spam"\n15551234003,x'],
    ['in a column before the number', 'reason,number\n"left,15551234001\nspam",15551234002\nx,15551234003'],
    ['between other separators', 'number;reason\r\n15551234001;"left; again\r\n15551234002;"spam"\r\n15551234003;'],
    ['in a list without names', '15551234001\n"15551234002\n15551234003'],
    ['behind Mac line breaks', 'number,reason\r15551234001,"a\r15551234002,"b" c\r15551234003,d'],
  ])('does not enclose rows: %s', async (_, file) => {
    const numbers = numbersFrom(15551234001, 3)
    expect((await list(file, numbers)).out).toEqual(numbers)
  })

  it('joins lines that are not rows', async () => {
    const { body } = await list(
      'number,reason\n15551234001,"left\nwrote 15551234009, twice\nand ""left"""\n15551234002,x',
      [],
    )
    expect(body).toMatchObject({ total: 2, created: 2, failed: 0 })
  })
})

describe('a list of opt-outs is read like a list of contacts', () => {
  const two = ['79161234501', '79161234502']

  it('in the encodings of spreadsheets', async () => {
    const text = 'Телефон;Причина\n+79161234501;жалоба\n+79161234502;отписка\n'
    const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le')
    // Windows-1251, where Cyrillic letters are consecutive.
    const bytes = Buffer.from(
      Array.from(text).map((letter) => {
        const code = letter.codePointAt(0) ?? 0
        return code < 128 ? code : code - 0x410 + 0xc0
      }),
    )
    for (const [file, encoding] of [
      [utf16, 'utf-16le'],
      [bytes, 'windows-1251'],
    ] as const)
      expect(await list(file, two)).toMatchObject({
        out: two,
        body: { detected: { encoding, delimiter: ';', number_column: 'Телефон' } },
      })
    expect((await list(bytes, two, { type: 'text/csv; charset=cp1251' })).out).toEqual(two)
    expect(await list(Buffer.from('phone,x\n1555,M\x81n\x8dl', 'latin1'), [])).toMatchObject({
      status: 422,
      body: { errors: [{ detail: expect.stringMatching(/encoding/) as string }] },
    })
  })

  it('under common names, below the titles of a report', async () => {
    const file = 'Unsubscribes 2026,,\n,,\nName,Cell Phone #,Reason\nAnn,+1 555 123 4001,left\nBob,(555) 123-4002,'
    const { body, out } = await list(file, ['15551234001', '15551234002'])
    expect(body).toMatchObject({ detected: { header_line: 3, number_column: 'Cell Phone #' } })
    expect(out).toEqual(['15551234001'])
    expect(body['errors']).toMatchObject([{ line: 5, code: 'invalid_phone_number' }])
    const mapped = await list('Kunde,Nr\nAnn,+15551234001', ['15551234001'], { query: '?mapping={"Nr":"number"}' })
    expect(mapped.out).toEqual(['15551234001'])
    const unnamed = await list('Kunde,Nr\nAnn,+15551234001', [])
    expect(unnamed.body['errors']).toMatchObject([{ suggestion: '{"Nr":"number"}' }])
  })

  it('with all numbers of a line', async () => {
    const file = 'Name,Phone,Mobile\nAnn,+49 30 901820,+49 171 3920041\nCy,+49 40 428280,\nDi,none,+49 171 3920042'
    const numbers = ['4930901820', '491713920041', '4940428280', '491713920042']
    const named = await list(file, numbers)
    expect(named.out).toEqual(numbers)
    expect(named.body).toMatchObject({ total: 3, created: 4, failed: 0 })
    const bare = '+491713920043\n+491713920044,+491713920045'
    expect((await list(bare, ['491713920043', '491713920044', '491713920045'])).out).toHaveLength(3)
    const noted = await list('Phone,Mobile\n+49 171 3920050 Büro,+491713920051', ['491713920050'])
    expect(noted.out).toEqual(['491713920050'])
    // The other column of numbers has it: the line says where.
    expect(noted.body).toMatchObject({ warnings: [{ code: 'more_than_a_number', column: null }] })
    const broken = await list('Phone,Mobile\n+491713920047,+4917\n+491713920048,+491713920049', ['491713920047'])
    expect(broken.out).toEqual(['491713920047'])
    expect(broken.body).toMatchObject({ created: 3, failed: 1, errors: [{ line: 2, value: '+4917' }] })
  })

  it('for any grouping of a number’s digits, never with the first group alone', async () => {
    const whole = ['254733000014', '4916090000078', '4915123450068', '4367670005679', '4917113000031']
    const file = 'phone\n0733 000 014\n'
    const kenya = await list(file, whole, { query: '?default_country=KE' })
    expect(kenya.out).toEqual(['254733000014'])
    expect(kenya.body).toMatchObject({ created: 1, failed: 0, warnings: [] })
    const german = 'phone\n0160 9000 0078\n+49 15123/450068\n0043 676 70 0056 79\n0171 / 13000031 privat'
    const { out, body } = await list(german, whole, { query: '?default_country=DE' })
    expect(out.sort()).toEqual(whole.slice(1).sort())
    expect(body).toMatchObject({ created: 4, failed: 0, warnings: [{ code: 'more_than_a_number', column: 'phone' }] })
    expect(body['warnings']).toMatchObject([{ detail: expect.stringContaining('1 cell has') as string }])
  })

  it('from a workbook', async () => {
    const rows = [['Phone'], ['+15551234001'], [15551234002]].map((row) => row.map((value) => ({ value })))
    const file = await writeXlsxFile(rows, { sheet: 'Out' }).toBuffer()
    const { out, body } = await list(file, ['15551234001', '15551234002'], { type: workbookType })
    expect(out).toEqual(['15551234001', '15551234002'])
    expect(body).toMatchObject({ detected: { sheet: 'Out', header_line: 1 } })
  })
})
