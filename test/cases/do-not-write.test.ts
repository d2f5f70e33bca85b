/** Kind C, in files: signs that a person must not be messaged are followed, or reported before sending. */
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

interface Imported {
  over: Shown
  contacts: { phone_number: string; status: string; consent: string | null }[]
  out: string[]
}

async function take(file: string | Buffer, { type = 'text/csv', query = '' } = {}): Promise<Imported> {
  await test.db.query('delete from opt_outs where account_id = $1', [test.account.accountId])
  const campaign = await test.newCampaign()
  const over = await test.run(campaign, type, file, query)
  const { body } = await test.call('GET', `/v1/campaigns/${campaign}/contacts?limit=100`)
  const data = body['data'] as { phone_number: string; status: string; consent: { status: string } | null }[]
  const { rows } = await test.db.query<{ number: string }>(
    'select number from opt_outs where account_id = $1 order by number',
    [test.account.accountId],
  )
  return {
    over,
    contacts: data.map(({ phone_number, status, consent }) => ({
      phone_number,
      status,
      consent: consent?.status ?? null,
    })),
    out: rows.map(({ number }) => number),
  }
}

const numbersOf = (from: number, ...places: number[]): string[] => places.map((place) => String(from + place))

describe('a column of opt-outs', () => {
  it('opts out a person whose number has an extension or words beside it', async () => {
    const { over, out } = await take(
      'Name,Phone,Unsubscribed\nA,+12025550322 ext 3,yes\nB,+12025550323 (mobile),yes\nC,+12025550324 ext 3,no\n',
    )
    expect(over.counts).toMatchObject({ failed: 3 })
    expect(out).toEqual(['12025550322', '12025550323'])
  })

  it('opts out people with a yes in it, in any spelling', async () => {
    const { over, out, contacts } = await take(caseOf('consent-out.csv'))
    expect(over).toMatchObject({
      status: 'completed',
      mapping: { 'SMS Opt Out': 'opted_out' },
      detected: { consent_columns: ['SMS Opt Out'] },
    })
    expect(out).toEqual(numbersOf(15551235000, 1, 3, 5))
    // A "no" is not consent.
    expect(contacts.filter(({ consent }) => consent === 'opted_in')).toEqual([])
  })

  it.each([
    ['Unsubscribed', '2026-01-05T10:00:00Z', ''],
    ['Opted out at', '05.01.2026', ''],
    ['Opt out date', '45292', 'n.a.'],
    ['UNSUB_TIME', '2024-02-01 10:00', '00/00/0000'],
    ['DND', 'Y', 'N'],
    ['Do not solicit', 'Y', 'N'],
    ['TPS registered', 'Yes', 'No'],
    ['Deceased', 'TRUE', 'FALSE'],
    ['Do not contact', 'x', ''],
    ['hasOptedOutOfSms', 'true', 'false'],
    ['Abgemeldet', 'Ja', 'Nein'],
    ['Widerspruch am', '5.1.2026', ''],
    ['Désinscrit', 'OUI', 'NON'],
    ['Ne pas contacter', 'Vrai', 'Faux'],
    ['Baja', 'sí', 'no'],
    ['Descadastrado', 'Sim', 'Não'],
    ['Non contattare', 'VERO', 'FALSO'],
    ['Uitgeschreven', 'ja', 'nee'],
    ['Zrezygnował', 'tak', 'nie'],
    ['Отписался', 'Да', 'Нет'],
    ['Не беспокоить', '1', '0'],
    ['Rahatsız etmeyin', 'Evet', 'Hayır'],
    ['配信停止', 'はい', 'いいえ'],
    ['退订', '是', '否'],
    ['수신거부', '예', '아니오'],
    ['إلغاء الاشتراك', 'نعم', 'لا'],
    ['הסרה', 'כן', 'לא'],
  ])('is recognized as %s, with %s', async (name, yes, no) => {
    const { over, out } = await take(`Phone;${name}\n+15551235001;${yes}\n+15551235002;${no}\n`)
    expect([over.mapping?.[name], out]).toEqual(['opted_out', ['15551235001']])
  })

  it('with neither yes nor no is reported, by row or for the whole column', async () => {
    const rows = '\n+15551235001,yes\n+15551235002,no\n+15551235003,ask Bob\n'
    const some = await take(`Phone,Opt out${rows}`)
    expect(some.out).toEqual(['15551235001'])
    expect(some.over['faults']).toMatchObject([{ column: 'Opt out', code: 'invalid_value', count: 1, line: 4 }])
    const stops = await take('Phone,Stop\n+15551235001,Main Street\n+15551235002,Harbour')
    expect(stops.over).toMatchObject({ warnings: [{ column: 'Stop' }], mapping: { Stop: 'attributes.Stop' } })
    const mail = await take('Phone,Email Opt Out\n+15551235001,yes')
    expect(mail.over).toMatchObject({ warnings: [{ column: 'Email Opt Out' }] })
    const word = await take('Phone,Remark\n+15551235001,new\n+15551235002,Do not contact')
    expect(word.over).toMatchObject({ warnings: [{ column: 'Remark' }] })
  })

  it('is one of several, of which one is enough, and stays a sign in an export', async () => {
    const { out } = await take('Phone,Consent,DND,Blocked\n+15551235001,yes,no,1\n+15551235002,yes,no,0')
    expect(out).toEqual(['15551235001'])
    const exported =
      'contact,phone_number,opted_out,created_at,updated_at\nctc_1,15551235001,true,,\nctc_2,15551235002,false,,'
    expect((await take(exported)).out).toEqual(['15551235001'])
    const line = { object: 'contact', phone_number: '15551235001', opted_out: true }
    expect((await take(JSON.stringify(line), { type: 'application/x-ndjson' })).out).toEqual(['15551235001'])
  })

  it('may be named by a mapping', async () => {
    const query = `?mapping=${encodeURIComponent('{"Flag":"opted_out"}')}`
    expect((await take('Phone,Flag\n+15551235001,y\n+15551235002,n', { query })).out).toEqual(['15551235001'])
  })
})

describe('a column of consents', () => {
  it('opts in people with a yes, and out people with a no', async () => {
    const { over, contacts, out } = await take(caseOf('consent-in.csv'))
    expect(over).toMatchObject({ status: 'completed', mapping: { 'Opt-in': 'consent' } })
    expect(out).toEqual(numbersOf(15551235010, 2, 4, 6))
    const subscribed = contacts.filter(({ status }) => status !== 'opted_out')
    expect(subscribed.map(({ phone_number }) => phone_number).sort()).toEqual(numbersOf(15551235010, 1, 3, 5))
    expect(new Set(subscribed.map(({ consent }) => consent))).toEqual(new Set(['opted_in']))
  })

  it.each([
    ['SMS consent', 'Yes', 'No'],
    ['Subscribed', 'subscribed', 'unsubscribed'],
    ['Accepts SMS Marketing', 'true', 'false'],
    ['Status', 'Active', 'Unsubscribed'],
    ['Einwilligung', 'erteilt am 5.1.2026', 'nein'],
    ['Kontakt per SMS', 'erwünscht', 'nicht erwünscht'],
    ['SMS İzni', 'Evet', 'Hayır'],
    ['Согласие', 'да', 'нет'],
    ['同意', 'はい', 'いいえ'],
    ['Zgoda', 'TAK', 'NIE'],
  ])('is recognized as %s', async (name, yes, no) => {
    const { contacts, out } = await take(
      `Phone;${name}\n+15551235001;${yes}\n+15551235002;${no}\n+15551235003;${yes}\n`,
    )
    expect(out).toEqual(['15551235002'])
    expect(contacts.find(({ phone_number }) => phone_number === '15551235001')?.consent).toBe('opted_in')
  })

  it('never opts anybody in by a no, even an unclear one', async () => {
    const { over, contacts } = await take('Phone,Consent\n+15551235001,perhaps\n+15551235002,yes')
    expect(contacts.map(({ phone_number }) => phone_number)).toEqual(['15551235002'])
    expect(over['faults']).toMatchObject([
      { column: 'Consent', count: 1, advice: expect.stringMatching(/yes or no/) as string },
    ])
  })
})

/** A file with a person for each cell. */
const fileOf = (name: string, cells: string[]): string =>
  ['Phone;Name', ...cells]
    .map((cell, at) => (at === 0 ? `Phone;"${name}"` : `+${15551235000 + at};"${cell}"`))
    .join('\n')

describe('a consent that people wrote themselves', () => {
  it.each([
    ['SMS consent', ['yes', 'no', 'no thanks', 'nope', '✗', '❌', '✔️'], [2, 3, 4, 5, 6]],
    ['SMS consent', ['NO - asked to stop', 'Opted-out 2024-05-01', 'Not consented', 'not given'], [1, 2, 3, 4]],
    ['SMS consent', ['Unsubscribed on 3 May', 'Yes (2019); revoked 2021-03-04', 'no 2024-05-01'], [1, 2, 3]],
    ['Einwilligung', ['erteilt am 5.1.2026', 'widerrufen am 3.4.2021', 'nicht erteilt'], [2, 3]],
    ['Согласие', ['да', 'нет, не писать', 'Отписался 3 мая'], [2, 3]],
    ['Opt-out', ['no', 'Yes, by phone', 'not opted out', 'unsubscribed 3 May'], [2, 4]],
    ['Opted out at', ['5-Jan-26', '1/5/26 10:30', '1767225600', ''], [1, 2, 3]],
    ['Status', ['Active', 'Inactive', 'Bounced', 'Opted Out', 'Lead', 'unsubscribed 3 May'], [4, 6]],
  ])('is read in %s: %j', async (name, cells, places) => {
    const { out, over, contacts } = await take(fileOf(name, cells))
    expect(out).toEqual(numbersOf(15551235000, ...places))
    expect([over.counts, contacts.length]).toMatchObject([{ failed: 0 }, cells.length])
  })

  it('opts nobody in by an unclear cell, even if most are unclear', async () => {
    const consents = await take(
      fileOf('SMS consent', ['ask Bob', 'see file', 'yes, but no SMS', 'not opted out', 'yes']),
    )
    expect([consents.contacts.map(({ phone_number }) => phone_number).sort(), consents.out]).toEqual([
      ['15551235003', '15551235005'],
      ['15551235003'],
    ])
    const crossed = await take(fileOf('Opt-out', ['✗', '✗']))
    expect(crossed.over['faults']).toMatchObject([{ column: 'Opt-out', count: 2, code: 'invalid_value' }])
  })

  it('is not asked of the address of a form, even if the first rows have none', async () => {
    const none = Array.from({ length: 250 }, (_, at) => `+${15551236000 + at},`)
    const { over } = await take(['Phone,OPTIN_IP', ...none, '+15551235001,192.0.2.1'].join('\n'))
    expect(over).toMatchObject({ mapping: { OPTIN_IP: 'attributes.OPTIN_IP' }, counts: { created: 251, failed: 0 } })
  })

  it('also counts behind the first rows', async () => {
    const cells = Array.from({ length: 250 }, (_, n) => (n === 240 ? 'Opted out' : 'Customer'))
    expect((await take(fileOf('Status', cells))).out).toEqual(['15551235241'])
  })

  it('is ignored if a mapping gives the column another meaning', async () => {
    const query = `?mapping=${encodeURIComponent('{"Status":"attributes.Status"}')}`
    expect((await take(fileOf('Status', ['Lead', 'Opted out']), { query })).out).toEqual([])
  })
})

describe('a name with a verb', () => {
  it.each(
    [
      'Allow SMS|Receive texts|SMS erlaubt|Recibir SMS|Получать СМС|Accetta SMS|J’accepte les SMS|Wants text messages',
      'Aceita receber SMS|Ontvangt sms|Souhaite recevoir des SMS|SMS permission|Marketing allowed|Tar emot SMS, tillåtet',
    ].flatMap((names) => names.split('|')),
  )('lets in: %s', async (name) => {
    const { over, out } = await take(fileOf(name, ['yes', 'no']))
    expect([over.mapping?.[name], out]).toEqual(['opted_in', ['15551235002']])
  })

  it.each(
    [
      'Kein SMS|Ne plus contacter|Non inviare|Rifiuta SMS|Ikke kontakt|Ej SMS|Exclude|NPAI|SMS nicht erlaubt',
      'Do not allow texts|No recibir SMS|Ne pas recevoir de SMS|Не получать СМС|Geen sms|Sem SMS',
    ].flatMap((names) => names.split('|')),
  )('keeps out: %s', async (name) => {
    const { over, out } = await take(fileOf(name, ['x', '']))
    expect([over.mapping?.[name], out]).toEqual(['opted_out', ['15551235001']])
  })

  it.each([
    ['Contact owner', ['Ann', 'Bob']],
    ['Last contact', ['2026-01-05', '']],
    ['SMS count', ['0', '12']],
    ['Opt-in source', ['web form', 'shop']],
    ['Subscription', ['Gold', 'Silver']],
    ['Order status', ['paid', 'declined']],
    ['Not contacted', ['yes', 'no']],
    ['Email opt-out', ['yes', 'no']],
    ['Email status', ['Active', 'Unsubscribed']],
    ['Non-profit contact', ['no', 'yes']],
  ])('opts nobody out if it means something else: %s', async (name, cells) => {
    const { over, out } = await take(fileOf(name, cells))
    expect([out, over.counts]).toMatchObject([[], { created: 2, failed: 0 }])
  })

  it.each(['SMS', 'Contact', 'Marketing', 'E-Mail', 'Рассылка', 'Reklam'])(
    'warns of a column of answers that no field takes: %s',
    async (name) => {
      const { over, out } = await take(fileOf(name, ['yes', 'no']))
      expect([out, over]).toMatchObject([[], { warnings: [{ code: 'consent_unread', column: name }] }])
    },
  )
})

describe('hidden rows of a workbook', () => {
  it('are left out and counted', async () => {
    const type = workbookType
    const tried = await take(caseOf('filtered.xlsx'), { type, query: '?dry_run=true' })
    expect(tried.over).toMatchObject({ counts: { total: 4, created: 2, hidden: 2 } })
    const { over, contacts } = await take(caseOf('filtered.xlsx'), { type })
    expect(over).toMatchObject({ status: 'completed', counts: { processed: 4, created: 2, hidden: 2, failed: 0 } })
    expect(contacts.map(({ phone_number }) => phone_number).sort()).toEqual(['15551231001', '15551231004'])
    const all = await take(caseOf('filtered.xlsx'), { type, query: '?hidden_rows=import' })
    expect(all.over).toMatchObject({ counts: { created: 4, hidden: 0 } })
  })

  it('opt out people who are out by them, and are not read for the names', async () => {
    const hide = (row: string, how: string): string => row.replace('<row', `<row ${how}`)
    const rows = [
      hide(rowOf('Phone', 'Old names'), 'hidden="true"'),
      rowOf('Phone', 'DND'),
      rowOf('+15551231001', 'no'),
      hide(rowOf('+15551231002', 'yes'), 'ht="0" customHeight="1"'),
      hide(rowOf('+15551231003', 'no'), 'hidden="1"'),
    ]
    const { over, out, contacts } = await take(rawWorkbook(rows.join('')), { type: workbookType })
    expect(over).toMatchObject({ counts: { created: 1, hidden: 2 }, detected: { header_line: 2 } })
    expect([out, contacts.length]).toEqual([['15551231002'], 1])
  })
})
