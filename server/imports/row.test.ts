import fc from 'fast-check'
import { getExampleNumber, parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/max/metadata'
import examples from 'libphonenumber-js/mobile/examples'
import { describe, expect, it } from 'vitest'
import { fieldErrors } from '../ground/base/errors.ts'
import { Consent } from '../contacts/contact.ts'
import { findLayout, refuseBytes } from '../ground/tables/layout.ts'
import { mapColumns, wantedOf, type Mapping, type TableLayout } from './columns.ts'
import { readImportedNumber } from '../ground/numbers/imported.ts'
import { readNumber } from '../ground/numbers/number.ts'
import { createRowReader } from './row.ts'
import { rowSchema } from './row-schema.ts'
import { NumberSet } from './seen.ts'
import type { ImportOptions } from './store.ts'

// Cloned, as a thread receives it.
const readRow = createRowReader(structuredClone(rowSchema))

describe('readLayout', () => {
  it('finds the delimiter and the columns by common names', () => {
    expect(layoutOf('First Name;Surname;MSISDN;City\nA;B;1;C').targets).toEqual([
      'first_name',
      'last_name',
      'phone_number',
      'attributes.City',
    ])
    expect(layoutOf('\uFEFF"phone"\ttags\n1\ta')).toMatchObject({ delimiter: '\t', targets: ['phone_number', 'tags'] })
    expect(layoutOf('to|error\n1|x')).toMatchObject({ delimiter: '|', targets: ['phone_number', null] })
    for (const name of [
      'Téléphone',
      'Telephone',
      'Móvil',
      'MOVIL',
      'Te\u0301le\u0301phone',
      'Telefonnummer',
      'Telefone',
    ])
      expect(layoutOf(`Prenom,Prénom d'usage,${name}\nA,B,1`).targets).toEqual([
        'first_name',
        "attributes.Prénom d'usage",
        'phone_number',
      ])
    expect(layoutOf('"a,b",phone\n1').header).toEqual(['a,b', 'phone'])
    expect(layoutOf('\n\r\n phone ; City \n1;2')).toMatchObject({ delimiter: ';', header: ['phone', 'City'] })
    expect(layoutOf(' \n;;\nphone;City\n1;2')).toMatchObject({ delimiter: ';', header: ['phone', 'City'] })
    expect(layoutOf('\t\t\nphone\tCity\n1\t2')).toMatchObject({ delimiter: '\t', header: ['phone', 'City'] })
  })

  it('finds every field under its own name', () => {
    const ofConsent = Object.keys(Consent.properties).filter((name) => name !== 'status')
    const names = [...Object.keys(rowSchema.input.properties), ...ofConsent.map((name) => `consent_${name}`)]
    expect(layoutOf(`${names.join()}\n1`).targets).toEqual(names)
  })

  it('prefers a field’s own name, then the first column', () => {
    expect(layoutOf('mobile,phone_number\n1,2').targets).toEqual(['attributes.mobile', 'phone_number'])
    expect(layoutOf('mobile,phone\n1,2').targets).toEqual(['phone_number', 'attributes.phone'])
    expect(layoutOf('mobile,phone_number\n1,2', true, { phone_number: null }).targets).toEqual(['phone_number', null])
  })

  it('says at once why a file cannot be imported', () => {
    expect(refusalOf('name,city\na,b')).toMatch(/must have a column of numbers.*it has name, city/)
    expect(refusalOf('phone\n')).toMatch(/at least one row after/)
    expect(refusalOf('phone')).toMatch(/at least one row after/)
    expect(refusalOf(' \n\n')).toMatch(/must not be empty/)
    expect(refusalOf(',,\n" ",,\n')).toMatch(/must not be empty/)
    expect(refusalOf('phone,name\n,\n,\n')).toMatch(/at least one row after/)
    expect(refusalOf('phone,x,x\n1,2,3')).toMatch(/two columns named x/)
    expect(refusalOf('phone,x,attributes.x\n1,2,3')).toMatch(/two columns named x/)
    // Neither column can be named in `mapping` or shown in its error.
    expect(refusalOf('phone,name,phone\n1,2,3')).toMatch(/two columns named phone/)
    expect(refusalOf('phone,x,x\n1,2,3', true, { x: 'first_name' })).toMatch(/two columns named x/)
    expect(layoutOf('phone,x,x,,\n1,2,3', true, { x: null }).targets).toEqual(['phone_number', null, null, null, null])
    expect(refusalOf(`phone,${'x'.repeat(41)}\n1,2`)).toMatch(/at most 40 characters/)
    const names = Array.from({ length: 51 }, (_, i) => `c${i}`).join(',')
    expect(refusalOf(`phone,${names}\n1,${names}`)).toMatch(/at most 50 cells.*row 1 after line 1 has 51/)
    expect(layoutOf(`phone,${names}\n1`).targets).toHaveLength(52)
    const widest = ['phone', 'x'.repeat(40), ...Array.from({ length: 49 }, (_, i) => `c${i}`)]
    expect(layoutOf(`${widest.join()}\n1`).targets).toHaveLength(51)
    expect(refusalOf(`${'x'.repeat(10_000)},y\n1,2`)?.length).toBeLessThan(400)
    expect(refusalOf('x'.repeat(100_000), false)).toMatch(/line of column names/)
    expect(refusalOf('phone,\uFFFD\n1')).toMatch(/UTF-8/)
  })

  it('does not judge rows in pieces it does not see', () => {
    expect(layoutOf('phone\n', false).targets).toEqual(['phone_number'])
  })

  it('recognizes files that are not text', () => {
    expect(refuseBytes(Buffer.from([0xd0, 0xcf, 0x11, 0xe0]), 'utf-8')).toMatch(/before 2007/)
    expect(refuseBytes(Buffer.from('%PDF-1.7'), 'utf-8')).toMatch(/PDF/)
    expect(refuseBytes(Buffer.alloc(5000), 'utf-8')).toMatch(/text/)
    expect(refuseBytes(Buffer.alloc(0), 'utf-8')).toMatch(/empty/)
    for (const text of [`phone\n${'1555'.repeat(50)}\0`, 'phone\n1\0\n2', 'phone\n15551234567\n\x1a'])
      expect(refuseBytes(Buffer.from(text), 'utf-8')).toBeNull()
    expect(refuseBytes(Buffer.from('\uFEFFphone\n1', 'utf16le'), 'utf-16le')).toBeNull()
  })

  it('accepts a list of numbers without a header, and Excel’s delimiter line', () => {
    for (const list of ["'+447911123456\n447911123457", '447911123456'])
      expect(layoutOf(list)).toMatchObject({ header: ['phone_number'], headerLine: 0 })
    // Otherwise the first person of a table without names would be lost.
    expect(refusalOf('447911123456,Ada\n447911123457,Bob')).toMatch(/must have a column of numbers/)
    expect(layoutOf('sep=;\r\nphone;a,b,c\r\n1;2')).toMatchObject({
      delimiter: ';',
      header: ['phone', 'a,b,c'],
      headerLine: 2,
    })
  })

  it('follows the caller’s mapping, and refuses an impossible one', () => {
    const mapping = { 'Nr.': 'phone_number', phone: null, Stadt: 'attributes.city' }
    expect(layoutOf('phone,Nr.,Stadt\n1,2,3', true, mapping).targets).toEqual([null, 'phone_number', 'attributes.city'])
    expect(layoutOf('phone,a,b\n1,2,3', true, { a: null, b: null }).targets).toEqual(['phone_number', null, null])
    const errors = readLayout('phone,a\n1,2', true, { b: 'tags', a: 'shoe_size', phone: 'phone_number' }, '#/mapping')
    expect(errors).toMatchObject([{ pointer: '#/mapping/b' }, { pointer: '#/mapping/a' }])
    for (const target of ['', ' ', 'attributes.', 'attributes. \n'])
      expect(readLayout('phone,a\n1,2', true, { a: target })).toMatchObject([
        { detail: expect.stringMatching(/^must be null/) },
      ])
    expect(readLayout('a,b\n1,2', true, { a: 'phone_number', b: 'phone_number' })).toMatchObject([
      { pointer: '?mapping', detail: 'fills the same field as a' },
    ])
  })
})

describe('readImportedNumber', () => {
  const read = (text: string, country: string | null = null) => {
    const phone = readImportedNumber(text, country)
    return 'number' in phone ? phone.number : phone.code
  }

  it('repairs numbers damaged by spreadsheets and people', () => {
    for (const text of [
      '+447911123456',
      '447911123456',
      "'+447911123456",
      ' 00447911123456 ',
      '447911123456.0',
      '+44 (0)7911 123-456',
      // As phones copy it.
      '\u202a+447911123456\u202c',
      '\u2068\u200e447911123456\u2069',
    ])
      expect(read(text)).toBe('447911123456')
  })

  it('reports its repairs', () => {
    const repairOf = (text: string, country: string | null = null) => {
      const phone = readImportedNumber(text, country)
      return 'number' in phone ? phone.repair : phone.code
    }
    expect(
      ["'447911123456", '447911123456.0', '447,911,123,456', '00447911123456', '447911123456', '+447911123456'].map(
        (text) => repairOf(text),
      ),
    ).toEqual(['apostrophe', 'decimal_point', 'thousands_separators', 'double_zero', 'missing_plus', null])
    expect([repairOf('07911 123456', 'GB'), repairOf('447911123456', 'GB')]).toEqual(['national', 'missing_plus'])
    expect([repairOf('="447911123456"'), repairOf('="07911 123456"', 'GB')]).toEqual(['formula', 'formula'])
    expect([repairOf('="4.47E+11"'), repairOf('="447911"&"123456"')]).toEqual([
      'scientific_notation',
      'invalid_phone_number',
    ])
  })

  it('completes national numbers only with a country, and prefers the national reading', () => {
    expect(read('07911 123456', 'GB')).toBe('447911123456')
    expect(read('7911123456', 'GB')).toBe('447911123456')
    expect(read('447911123456', 'GB')).toBe('447911123456')
    expect(read('4582345678', 'US')).toBe('14582345678')
    expect(read('4582345678')).toBe('4582345678')
    expect(read('15551234567', 'GB')).toBe('15551234567')
    expect(read('07911 123456')).toBe('invalid_phone_number')
    expect(read('(555) 123-4567')).toBe('invalid_phone_number')
  })

  it('reads every country’s mobile numbers without a plus sign unchanged, also with that country', () => {
    const misread: string[] = []
    let read = 0
    for (const country of Object.keys(metadata.countries) as CountryCode[]) {
      const example = getExampleNumber(country, examples, metadata)
      if (!example) continue
      const { countryCallingCode, nationalNumber } = example
      for (let n = 0; n < 300; n++) {
        // Endings with all digits, behind as much of the example as keeps its range; some are a digit too long.
        const kept = nationalNumber.slice(0, n % 5)
        const rest = String((n * 7_919_191_919) % 1e10).padStart(10, '0')
        const digits = `${countryCallingCode}${kept}${rest.slice(0, nationalNumber.length - kept.length + (n % 3 === 0 ? 1 : 0))}`
        const number = parsePhoneNumberFromString(`+${digits}`, metadata)
        if (number?.country !== country || number.getType() !== 'MOBILE' || number.number !== `+${digits}`) continue
        // Old forms that the plan still allows are read as current ones.
        const strict = readNumber(digits)
        if (!('number' in strict) || strict.number !== digits) continue
        read++
        const phone = readImportedNumber(digits, country)
        if (!('number' in phone) || phone.number !== digits || phone.repair !== 'missing_plus')
          misread.push(`${country} ${digits} ${JSON.stringify(phone)}`)
      }
    }
    expect(read).toBeGreaterThan(20_000)
    expect(misread).toEqual([])
  })

  it('reads digits that begin like a country code but are not a mobile number as national', () => {
    expect(read('15112345678', 'DE')).toBe('4915112345678')
    expect(read('0151 12345678', 'DE')).toBe('4915112345678')
    expect(read('49 151 12345678', 'DE')).toBe('4915112345678')
    expect(read('491601234567', 'DE')).toBe('491601234567')
    expect(read('4917612345678', 'DE')).toBe('4917612345678')
    // Leer, Kabanjahe and Santa Maria: area codes 0491, 0628 and 055.
    expect(read('0491 2345678', 'DE')).toBe('494912345678')
    expect(read('4912345678', 'DE')).toBe('494912345678')
    expect(read('628 20123', 'ID')).toBe('6262820123')
    expect(read('55981234567', 'BR')).toBe('5555981234567')
  })

  it('reads digits in an export unchanged, and corrected ones as national', () => {
    const read = (text: string, country: string) => readImportedNumber(text, country, true)
    expect(read('4582345678', 'US')).toMatchObject({ number: '4582345678', repair: 'missing_plus' })
    expect(read('07911 123456', 'GB')).toMatchObject({ number: '447911123456', repair: 'national' })
  })

  it('reports digits that a spreadsheet dropped and never guesses them', () => {
    for (const text of ['4.47E+11', '4,47911E+11', '4.4791e11', "'4.47E+11"])
      expect(read(text, 'GB')).toBe('scientific_notation')
    expect(read('')).toBe('required')
    expect(read("'")).toBe('required')
    for (const text of [
      '#REF!',
      'tel 07911123456',
      '07911123456 x2',
      '=447911123456',
      '447911123456~1',
      'a447911123456',
    ])
      expect(read(text, 'GB'), text).toBe('invalid_phone_number')
  })
})

describe('readRow', () => {
  const csvOptions = (header: string): ImportOptions => ({
    onConflict: 'update',
    defaultCountry: null,
    isDryRun: false,
    mapping: {},
    table: layoutOf(`${header}\n1`),
  })
  const options: ImportOptions = { onConflict: 'update', defaultCountry: null, isDryRun: false, mapping: {} }

  it('reads the fields of a line, and ignores empty cells', () => {
    const row = { line: 2, size: 1, record: ['15551234567', '', ' en-gb', 'a; ;b;a', 'gb', "'=Sum", 'Opted out'] }
    expect(readRow(row, csvOptions('phone,name,language,tags,country,formula,consent'))).toMatchObject({
      contact: {
        phoneNumber: '15551234567',
        firstName: null,
        language: 'en-GB',
        tags: ['a', 'b'],
        country: 'GB',
        attributes: { formula: '=Sum' },
        consent: { status: 'opted_out' },
      },
    })
  })

  it('reads a text formula, by which programs keep the digits of a cell, but not a person’s own formula', () => {
    const header = '="phone",="external_id",name,note'
    const row = { line: 2, size: 1, record: ['="15551234567"', ' ="0042"', '="Ada ""A"""', `'="0042"`] }
    expect(readRow(row, csvOptions(header))).toMatchObject({
      contact: { phoneNumber: '15551234567', externalId: '0042', attributes: { name: 'Ada "A"', note: '="0042"' } },
      repair: 'formula',
    })
    expect(layoutOf('="15551234567"\n="15551234568"')).toMatchObject({ header: ['phone_number'], headerLine: 0 })
  })

  it('reads locales as programs write them, and the apostrophe before a plus sign', () => {
    const row = { line: 2, size: 1, record: ["'+15551234567", 'en_US'] }
    expect(readRow(row, csvOptions('phone,locale'))).toMatchObject({
      contact: { phoneNumber: '15551234567', language: 'en-US' },
      repair: 'apostrophe',
    })
  })

  it('refuses a consent from the future, in its column', () => {
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const row = { line: 2, size: 1, record: ['15551234567', 'opted_in', at] }
    expect(readRow(row, csvOptions('phone,consent,consent date'))).toMatchObject({
      errors: [{ line: 2, column: 'consent date', value: at, code: 'out_of_range' }],
    })
  })

  it('reports every error of a row with its column and value', () => {
    const cells = ['+1 555', 'x'.repeat(101), 'nowhere', '4.47E+11', 'klingon!', 'y'.repeat(501)]
    const row = { line: 9, size: 1, record: cells }
    const read = readRow(row, csvOptions('external_id,Vorname,timezone,Handy,language,City'))
    expect('errors' in read && read.errors.map((error) => [error.line, error.column, error.code])).toEqual([
      [9, 'Vorname', 'too_long'],
      [9, 'City', 'too_long'],
      [9, 'Handy', 'scientific_notation'],
      [9, 'timezone', 'invalid_value'],
      [9, 'language', 'invalid_value'],
    ])
    // GET /v1/errors lists them.
    for (const { code } of 'errors' in read ? read.errors : []) expect(fieldErrors).toHaveProperty(code)
    expect(read).toMatchObject({ errors: [{}, { value: 'y'.repeat(200) }, { value: '4.47E+11' }, {}, {}] })
    expect(readRow({ line: 1, size: 1, record: ['', 'b'] }, csvOptions('phone,name'))).toMatchObject({
      errors: [{ code: 'required', column: 'phone' }],
    })
  })

  it('ignores notes beside the columns of a workbook', () => {
    const given = csvOptions('phone,name')
    const row = { line: 2, size: 1, record: ['15551234567', 'Ada', 'a note'] }
    expect(readRow(row, given)).toMatchObject({ errors: [{ code: 'invalid_format', column: null }] })
    expect(readRow(row, { ...given, table: { ...layoutOf('phone,name\n1'), delimiter: null } })).toHaveProperty(
      'contact',
    )
  })

  it('names the column of a wrong consent', () => {
    const row = { line: 2, size: 1, record: ['15551234567', 'opted_in', '999', 'x'] }
    expect(readRow(row, csvOptions('phone,consent,consent_ip,consent_date'))).toMatchObject({
      errors: [
        { column: 'consent_date', value: 'x' },
        { column: 'consent_ip', value: '999' },
      ],
    })
    expect(readRow({ ...row, record: ['15551234567', 'perhaps'] }, csvOptions('phone,consent'))).toMatchObject({
      errors: [{ column: 'consent', value: 'perhaps' }],
    })
    expect(readRow({ ...row, record: ['15551234567', 'form'] }, csvOptions('phone,consent_method'))).toMatchObject({
      contact: { consent: { status: 'unknown', method: 'form' } },
    })
  })

  it('refuses cells with invalid UTF-8 or a NUL', () => {
    for (const cell of ['M\uFFFDller', 'a\0b'])
      expect(readRow({ line: 2, size: 1, record: ['15551234567', cell] }, csvOptions('phone,name'))).toMatchObject({
        errors: [{ code: 'invalid_characters' }],
      })
  })

  it('checks objects as a request would', () => {
    const errorsOf = (record: unknown) => {
      const read = readRow({ line: 1, size: 1, record }, options)
      return 'errors' in read ? read.errors.map((error) => `${error.column} ${error.code}`) : []
    }
    expect(readRow({ line: 1, size: 1, record: { phone_number: '12', tags: 5 } }, options)).toMatchObject({
      errors: [{ value: '5' }, { value: '12' }],
    })
    expect(errorsOf({ phone_number: '15551234567', timezone: 'x'.repeat(65) })).toEqual(['timezone too_long'])
    expect(
      errorsOf({ phone_number: '+15551234567', attributes: { a: 1, b: true }, consent: { status: 'opted_in' } }),
    ).toEqual([])
    expect(errorsOf({ phone: '15551234567' }).toSorted()).toEqual(['phone unknown_field', 'phone_number required'])
    expect(errorsOf({ phone_number: 15551234567, tags: 'a' }).toSorted()).toEqual([
      'phone_number invalid_type',
      'tags invalid_type',
    ])
    expect(errorsOf({ phone_number: '12', attributes: { a: {} } }).toSorted()).toEqual([
      'attributes.a invalid_type',
      'phone_number invalid_phone_number',
    ])
    for (const record of [null, 'text', 5, []]) expect(errorsOf(record)).toEqual(['null invalid_format'])
    const exported = { object: 'contact', id: 'ctc_x', phone_number: '15551234567', last_name: null }
    expect(errorsOf(exported)).toEqual([])
    expect(errorsOf({ ...exported, shoe: null })).toEqual(['shoe unknown_field'])
  })

  it('renames members of an object by the mapping, even if two are swapped', () => {
    const contactOf = (record: object, mapping: ImportOptions['mapping']) =>
      readRow({ line: 1, size: 1, record }, { ...options, mapping })
    const record = { phone_number: '15550000001', mobile: '15551234567', a: 'Ada', b: 'Bath', c: 'x' }
    const mapping = {
      phone_number: 'attributes.landline',
      mobile: 'phone_number',
      b: 'attributes.city',
      a: 'first_name',
      c: null,
      d: 'tags',
    }
    const entries = Object.entries(mapping)
    for (const order of [entries, entries.toReversed()])
      expect(contactOf(record, Object.fromEntries(order))).toMatchObject({
        contact: {
          phoneNumber: '15551234567',
          firstName: 'Ada',
          attributes: { landline: '15550000001', city: 'Bath' },
          tags: null,
        },
      })
    const more = { phone_number: '15551234567', city: 'Bath', all: { plan: 'gold' }, attributes: { old: 1 } }
    expect(contactOf(more, { city: 'attributes.city', all: null })).toMatchObject({
      contact: { attributes: { old: 1, city: 'Bath' } },
    })
    expect(contactOf(more, { city: 'attributes.city', all: 'attributes' })).toMatchObject({
      contact: { attributes: { plan: 'gold', city: 'Bath' } },
    })
    expect(contactOf({ ...more, attributes: 'gold' }, { city: 'attributes.city', all: null })).toMatchObject({
      errors: [{ column: 'attributes', code: 'invalid_type' }],
    })
  })
})

describe('NumberSet', () => {
  it('holds exactly the added numbers', () => {
    const digits = fc.bigInt({ min: 1_000_000n, max: 999_999_999_999_999n }).map(String)
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            digits,
            digits.map((text) => `1555${text.slice(0, 5)}00`),
            // Around the bounds of its tables.
            fc.nat(40).map((n) => String(Math.ceil(n / 10) * 0xffff * 0x1_0000_0000 + (n % 10) || 1)),
          ),
          { maxLength: 3000, size: 'max' },
        ),
        (numbers) => {
          const set = new NumberSet()
          const oracle = new Set<string>()
          const isKnown = (number: string): boolean => oracle.size === oracle.add(number).size
          // A false match means a person who is not imported.
          expect([...numbers, ...numbers].filter((number) => isKnown(number) === set.add(number))).toEqual([])
        },
      ),
      { numRuns: 10 },
    )
  })

  it('stays fast with a million neighboring numbers', () => {
    const set = new NumberSet()
    const startedMs = performance.now()
    for (let number = 15_550_000_000; number < 15_551_000_000; number++) set.add(String(number))
    expect(set.add('15550500000')).toBe(false)
    expect(performance.now() - startedMs).toBeLessThan(5000)
  })
})

const readLayout = (text: string, isWhole: boolean, mapping: Mapping = {}, pointer = '?mapping') => {
  const found = findLayout(text, isWhole, wantedOf({ mapping }))
  return Array.isArray(found) ? found : mapColumns(found, mapping, pointer)
}
const layoutOf = (text: string, isWhole = true, mapping: Record<string, string | null> = {}): TableLayout => {
  const layout = readLayout(text.replace(/^\uFEFF/, ''), isWhole, mapping)
  if (Array.isArray(layout)) throw new Error(layout[0]?.detail)
  return layout
}
const refusalOf = (text: string, isWhole = true, mapping: Record<string, string | null> = {}): string | undefined => {
  const layout = readLayout(text, isWhole, mapping)
  return Array.isArray(layout) ? layout[0]?.detail : undefined
}
