import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { compileTemplate, type Template, type TemplateFields } from './template.ts'

test('fills in fields, with or without blanks in the tags', () => {
  expect(
    render('Hi {{first_name}}, order {{  order-no.1 }} is {{\nstate\n}}!', {
      first_name: 'Ana',
      'order-no.1': '7',
      state: 'on its way',
    }),
  ).toBe('Hi Ana, order 7 is on its way!')
  expect(render('Straße {{ straße }}', { straße: 'Ö' })).toBe('Straße Ö')
})

test('a default replaces a missing or blank value, and may be a field or one of several', () => {
  const text = 'Hi {{ nickname | default: first_name | default: "there" }}'
  expect(render(text, { nickname: 'Annie', first_name: 'Ana' })).toBe('Hi Annie')
  expect(render(text, { nickname: ' ', first_name: 'Ana' })).toBe('Hi Ana')
  expect(render(text, { nickname: null })).toBe('Hi there')
  expect(render('[{{ suffix }}]', { suffix: '' })).toBe('[]')
})

test('reports every missing field, once', () => {
  expect(missing('{{ a }} {{ b | upper }} {{ a }} {{ c | default: "x" }} {{ d | default: e }}')).toEqual([
    'a',
    'b',
    'd',
  ])
  expect(missing('{{ a }}', { a: null })).toEqual(['a'])
})

test('lists its fields, and the required ones', () => {
  const { variables, required } = compile(
    '{{ a }} {{ b | default: c }} {{ a | default: "x" }} {{ d | upper }} {{ "e" }}',
  )
  expect(variables).toEqual(['a', 'b', 'c', 'd'])
  expect(required).toEqual(['a', 'd'])
})

test('applies filters in order', () => {
  const fields = { name: 'ana MARÍA o’neil', padded: '  x ', camel: 'mcDonald', emoji: '👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧', long: 'abcdefgh' }
  expect(render('{{ name | upper }}', fields)).toBe('ANA MARÍA O’NEIL')
  expect(render('{{ name | lower }}', fields)).toBe('ana maría o’neil')
  expect(render('{{ name | title }}', fields)).toBe('Ana María O’neil')
  expect(render('{{ camel | capitalize }}', fields)).toBe('McDonald')
  expect(render('[{{ padded | trim | upper }}]', fields)).toBe('[X]')
  expect(render('{{ long | truncate: 8 }} {{ long | truncate: 5 }} {{ long | truncate: 3, "" }}', fields)).toBe(
    'abcdefgh ab... abc',
  )
  expect(render('{{ emoji | truncate: 3 }} {{ emoji | truncate: 2, "…" }}', fields)).toBe('👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧 👨‍👩‍👧…')
  expect(render('{{ none | upper | default: "there" }}')).toBe('there')
})

test('uses the letters and months of the text’s language', () => {
  expect(render('{{ city | upper }}', { city: 'izmir' }, 'tr')).toBe('İZMİR')
  expect(render('{{ city | upper }}', { city: 'izmir' })).toBe('IZMIR')
  expect(render('{{ at | date: "%e. %B" }}', { at: '2026-03-09' }, 'de')).toBe('9. März')
})

test('caches no objects for a thousand languages', () => {
  const made = vi.spyOn(Intl, 'DateTimeFormat')
  const languages = Array.from({ length: 1000 }, (_, n) => `de-x-n${n}`)
  for (const language of [...languages, 'de-x-n0'])
    expect(render('{{ at | date: "%B" }}', { at: '2026-03-09' }, language)).toBe('März')
  expect(made.mock.calls.filter(([language]) => language === 'de-x-n0')).toHaveLength(2)
  made.mockRestore()
})

test('writes dates in their own time zone', () => {
  const at = '2026-11-20T15:05:09.250+02:00'
  expect(render('{{ at | date: "%A %d %b %Y, %H:%M (%I:%M %p) 100%%" }}', { at })).toBe(
    'Friday 20 Nov 2026, 15:05 (3:05 PM) 100%',
  )
  expect(render('{{ at | date: "%m/%d/%y %a %e" }}', { at: '2026-01-02' })).toBe('01/02/26 Fri 2')
  for (const [time, shown] of [
    ['00:30', '12:30 AM'],
    ['11:59', '11:59 AM'],
    ['12:00', '12:00 PM'],
    ['23:59', '11:59 PM'],
  ])
    expect(render('{{ at | date: "%I:%M %p" }}', { at: `2026-01-02 ${time}` })).toBe(shown)
})

test('counts an invalid date as missing', () => {
  for (const at of ['tomorrow', '2026-02-30', '20/11/2026', '2026-11-20T25:00Z'])
    expect(missing('{{ at | date: "%d" }}', { at }), at).toEqual(['at'])
  expect(missing('{{ at | date: "%H" }}', { at: '2026-11-20' })).toEqual(['at'])
  expect(compile('{{ at | date: "%d" }} {{ b | date: "%d" }}').render({ at: 'x' })).toEqual({
    missing: ['at', 'b'],
    noDates: ['at'],
  })
  expect(render('{{ at | date: "%d" | default: "soon" }}', { at: 'x' })).toBe('soon')
})

test('braces are written as quoted texts, and a single brace is plain text', () => {
  expect(render('{{ "{{" }} name {{ \'}}\' }} {a} } { {{ "{%" }}')).toBe('{{ name }} {a} } { {%')
})

test('a value is text: it is never read as a template', () => {
  expect(render('{{ a }}', { a: '{{ b }}', b: 'secret' })).toBe('{{ b }}')
})

test('reaches only the fields themselves', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'a.constructor'])
    expect(missing(`{{ ${name} }}`, { a: 'x' }), name).toEqual([name])
  expect(render('{{ __proto__ }}', JSON.parse('{"__proto__": "own"}') as TemplateFields)).toBe('own')
  expect(faults('{{ a | constructor }}')).toEqual(['unknown_filter 7'])
  expect(faults('{{ a | __proto__ }}')).toEqual(['unknown_filter 7'])
  expect(faults('{{ a | date: "%constructor" }}{{ a | toString: 1 }}')).toEqual([
    'invalid_argument 7',
    'unknown_filter 37',
  ])
})

test.each([
  ['Hi {{ name', 'unclosed_tag 3'],
  ['Hi {{', 'unclosed_tag 3'],
  ['Hi {{ name |', 'unclosed_tag 3'],
  ['Hi {{ name }', 'unexpected_text 11'],
  ['Hi {{}}', 'invalid_name 5'],
  ['Hi {{{ name }}', 'invalid_name 5'],
  ['Hi {{ 1st }}', 'invalid_name 6'],
  ['👋 {{ first name }}', 'unexpected_text 11'],
  ['Hi name }}', 'unopened_tag 8'],
  ['{% if vip %}Hi', 'unknown_tag 0'],
  ['{{ a | upcase }}', 'unknown_filter 7'],
  ['{{ a | upper: 2 }}', 'invalid_argument 7'],
  ['{{ a | default }}', 'invalid_argument 15'],
  ['{{ a | default: “there” }}', 'invalid_name 16'],
  ['{{ a | default: "there }}', 'unclosed_quote 16'],
  ['{{ a | truncate }}', 'invalid_argument 7'],
  ['{{ a | truncate: 2 }}', 'invalid_argument 7'],
  ['{{ a | truncate: 99999 }}', 'invalid_argument 17'],
  ['{{ a | truncate: "x" }}', 'invalid_argument 7'],
  ['{{ a | date: "%Q" }}', 'invalid_argument 7'],
  ['{{ a | date: "%" }}', 'invalid_argument 7'],
  ['{{ "x" | date: "%d" }}', 'invalid_argument 0'],
  [`{{ a${' | trim'.repeat(11)} }}`, 'unexpected_text 76'],
  [`{{ ${'a'.repeat(65)} }}`, 'invalid_name 3'],
])('refuses %s and gives the place', (text, fault) => {
  expect(faults(text)).toEqual([fault])
})

test('reports several faults at once, and what to write instead', () => {
  expect(faults('{{ a | nope }} {{ 1 }} ok {{ b }} }}')).toEqual([
    'unknown_filter 7',
    'invalid_name 18',
    'unopened_tag 34',
  ])
  const told = (text: string) => (compileTemplate(text) as { detail: string }[]).map(({ detail }) => detail)
  expect(told('{{ a | upcase }}')).toEqual(['at position 7 is not one of the filters; use upper'])
  for (const text of ['{{ name|there }}', '{{name | "there"}}'])
    expect(told(text)).toEqual(['Unknown filter "there". For a fallback write {{ name | default: "there" }}'])
  expect(told('{{ name | my friend }}')).toEqual([
    'Unknown filter "my friend". For a fallback write {{ name | default: "my friend" }}',
  ])
  expect(told('{{ name | shorten: 5 }}')).toEqual([
    expect.stringMatching(/^Unknown filter "shorten". The filters are upper, .* and default\.$/),
  ])
  expect(faults('}}'.repeat(100))).toHaveLength(20)
})

test('a text without tags stays unchanged', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
      fc.pre(!/\{\{|\}\}|\{%/.test(text))
      expect(render(text)).toBe(text)
    }),
  )
})

test('what it renders is the concatenation of its texts and values', () => {
  const plain = fc.string({ unit: fc.constantFrom('a', ' ', '{', '|', 'é', '"', '👋'), maxLength: 20 })
  const piece = fc.oneof(
    plain.filter((text) => !text.includes('{{') && !text.endsWith('{')).map((text) => ({ source: text, value: text })),
    fc
      .tuple(fc.stringMatching(/^[a-z_]{1,8}$/), fc.string())
      .map(([name, value]) => ({ source: `{{${name}}}`, name, value })),
    fc.constantFrom('{{', '}}', "it's").map((text) => ({ source: `{{ "${text}" }}`, value: text })),
  )
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const fields: Record<string, string> = {}
      for (const one of pieces) if ('name' in one) fields[one.name] ??= one.value
      const expected = pieces.map((one) => ('name' in one ? (fields[one.name] ?? '') : one.value)).join('')
      expect(render(pieces.map(({ source }) => source).join(''), fields)).toBe(expected)
    }),
  )
})

// Long inputs that have made parsers quadratic before.
const hostile = fc
  .tuple(
    fc.array(
      fc.constantFrom(
        '{{',
        '}}',
        '{{ a ',
        '| default: ',
        '| ',
        '"',
        "'",
        '\n',
        '{%',
        ' a',
        '{{ "',
        '| truncate: 3',
        ',',
        ':',
        '{',
        '%}',
        '\u0301',
      ),
      { minLength: 1, maxLength: 6 },
    ),
    fc.constantFrom('', '}}', '"', '{{ a }}'),
  )
  .map(
    ([unit, end]) =>
      (times: number) =>
        unit.join('').repeat(times) + end,
  )

test('reads any text in linear time, and reports at most 20 faults', () => {
  // Warm up, so that compilation of the code is not measured.
  for (let i = 0; i < 50; i++) compileTemplate('{{ a | default: "b" }}'.repeat(100))
  const measure = (text: string): number => {
    const started = process.cpuUsage()
    const result = compileTemplate(text)
    if (Array.isArray(result)) expect(result.length).toBeLessThanOrEqual(20)
    else result.render({ a: 'x' })
    return process.cpuUsage(started).user / 1000
  }
  fc.assert(
    fc.property(hostile, (make) => {
      // Quadratic time would be a hundred times as long for ten times the length. CPU time, because the machine may be busy.
      const small = Math.min(measure(make(2000)), measure(make(2000)))
      const large = Math.min(measure(make(20_000)), measure(make(20_000)), measure(make(20_000)))
      expect(large).toBeLessThan(40 * small + 60)
    }),
    { numRuns: 40 },
  )
})

test('renders thousands of fields', () => {
  const names = Array.from({ length: 5000 }, (_, i) => `field_${i}`)
  const template = compile(names.map((name) => `{{ ${name} | upper | default: "none" }}`).join(' '))
  expect(template.variables).toEqual(names)
  expect(template.render(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual({
    text: names.map(() => 'X').join(' '),
  })
  expect(compile('{{ a | title | truncate: 1000 }}').render({ a: 'ab '.repeat(100_000) })).toHaveProperty(
    'text.length',
    1000,
  )
})

function compile(text: string, language?: string): Template {
  const template = compileTemplate(text, language)
  if (Array.isArray(template)) throw new Error(JSON.stringify(template))
  return template
}

function render(text: string, fields: TemplateFields = {}, language?: string): string {
  const rendered = compile(text, language).render(fields)
  if ('missing' in rendered) throw new Error(`missing: ${rendered.missing.join()}`)
  return rendered.text
}

const missing = (text: string, fields: TemplateFields = {}): string[] => {
  const rendered = compile(text).render(fields)
  return 'missing' in rendered ? rendered.missing : []
}

const faults = (text: string): string[] => {
  const template = compileTemplate(text)
  return Array.isArray(template) ? template.map(({ code, position }) => `${code} ${position}`) : []
}
