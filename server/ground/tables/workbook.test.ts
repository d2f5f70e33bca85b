/** Workbooks with unclosed XML: a file of a kilobyte must not occupy the process. */
import { expect, it } from 'vitest'
import { chunkBytes } from './bytes.ts'
import { openWorkbook, readSheet } from './workbook.ts'
import { tagsOf } from './xml.ts'
import { rawWorkbook, rowOf, zipOf } from './zip-testing.ts'
import { ZipError } from './zip.ts'

const book = '<workbook><sheets><sheet name="People" r:id="rId1"/></sheets></workbook>'
const sheet = `<worksheet><sheetData>${rowOf('phone')}</sheetData></worksheet>`

const often = (text: string): string => text.repeat(40_000)
const cell = (content: string): string => `<row><c t="inlineStr"><is>${content}</is></c></row>`

it.each<[string, Buffer]>([
  ['sheets', zipOf({ 'xl/workbook.xml': often('<sheet ') })],
  ['settings', zipOf({ 'xl/workbook.xml': book + often('<workbookPr '), 'xl/worksheets/sheet1.xml': sheet })],
  [
    'relations',
    zipOf({
      'xl/workbook.xml': book,
      'xl/_rels/workbook.xml.rels': often('<Relationship '),
      'xl/worksheets/sheet1.xml': sheet,
    }),
  ],
  [
    'formats',
    zipOf({ 'xl/workbook.xml': book, 'xl/styles.xml': often('<numFmt '), 'xl/worksheets/sheet1.xml': sheet }),
  ],
  [
    'a condition of a format',
    zipOf({
      'xl/workbook.xml': book,
      'xl/styles.xml': `<numFmt numFmtId="1" formatCode="${often('[')}"/>`,
      'xl/worksheets/sheet1.xml': sheet,
    }),
  ],
  [
    'styles',
    zipOf({ 'xl/workbook.xml': book, 'xl/styles.xml': often('<cellXfs '), 'xl/worksheets/sheet1.xml': sheet }),
  ],
  ['tags of rows', rawWorkbook(often('<row '))],
  ['rows', rawWorkbook(often('<row>'))],
  ['cells', rawWorkbook(`<row>${often('<c>')}</row>`)],
  ['types of cells', rawWorkbook(`<row>${often('t="s"')}</row>`)],
  ['values', rawWorkbook(`<row><c>${often('<v ')}</c></row>`)],
  ['texts', rawWorkbook(cell(often('<t ')))],
  ['hints', rawWorkbook(cell(often('<rPh ')))],
  ['shared texts', rawWorkbook('<row><c t="s"><v>1</v></c></row>', [often('<si ')])],
])('with an endless beginning of %s is read at once', async (_, file) => {
  const before = performance.now()
  await read(file)
  expect(performance.now() - before).toBeLessThan(2_000)
})

it('takes no longer for formats with any number of endless conditions', async () => {
  const cost = async (sign: string): Promise<number> => {
    const formats = `<numFmt numFmtId="1" formatCode="${sign.repeat(1000)}"/>`.repeat(1000)
    const file = zipOf({ 'xl/workbook.xml': book, 'xl/styles.xml': formats, 'xl/worksheets/sheet1.xml': sheet })
    const times: number[] = []
    for (let i = 0; i < 3; i++) {
      const before = performance.now()
      await read(file)
      times.push(performance.now() - before)
    }
    return Math.min(...times)
  }
  expect((await cost('[')) / (await cost('0'))).toBeLessThan(20)
})

it('is read in pieces, so that others get their turns; a tag is kept up to a maximum length', async () => {
  async function* pieces(): AsyncGenerator<string> {
    yield* ['<a x="1"/><b', ' y="2">text<c/', '></x:b><a ', 'z'.repeat(100_000), '/><b/>', 'text']
  }
  const found: string[][] = []
  for await (const tags of tagsOf(pieces(), ['a', 'b']))
    found.push(tags.map(({ name, attributes }) => `${name}${attributes}`))
  expect(found).toEqual([['a x="1"'], ['b y="2"'], ['/b'], [], ['b'], []])
})

it('may have prefixed, empty and similarly named tags', async () => {
  const file = rawWorkbook(
    `<x:rows/><x:row r="1"><x:c r="A1" t="inlineStr"><x:is><x:r><x:t xml:space="preserve">ph</x:t></x:r><x:rPh sb="0"><x:t>no</x:t></x:rPh>` +
      `<x:r><x:t>one</x:t></x:r></x:is></x:c><x:col/><x:c r="C1"><x:f>1</x:f><x:v>7</x:v></x:c></x:row><row r="2"/><row ><c/><c><v/></c><c><v>2</v></c></row>`,
  )
  expect(await read(file)).toEqual([
    ['phone', '', '7'],
    ['', '', '2'],
  ])
})

it('has the shared texts of its cells, under any name', async () => {
  const cells = [
    '<c t="s"><v>0</v></c>',
    `<c t='s' r="B1"><v xml:space="preserve">1</v></c>`,
    '<x:c s="1" t = "s">\n<x:v>\n2\n</x:v>\n</x:c>',
  ]
  const found = await Promise.all(cells.map((cell) => read(rawWorkbook(`<row>${cell}</row>`, ['a', 'b', 'c']))))
  expect(found).toEqual([[['a']], [['', 'b']], [['c']]])
})

it('has empty cells for missing shared texts and missing values', async () => {
  const empty = ['', ' ', 'x', '-1', '0.5', '9', '1e999'].map((value) => `<c t="s"><v>${value}</v></c>`)
  const file = rawWorkbook(
    `<row><c t="s"><v>0</v></c></row><row>${empty.join('')}<c><v></v></c><c t="b"><v></v></c><c><v>1</v></c></row>`,
    ['phone', 'secret'],
  )
  expect(await read(file)).toEqual([['phone'], ['', '', '', '', '', '', '', '', '', '1']])
})

it('has no rows of only blank cells', async () => {
  const blank = '<row><c t="inlineStr"><is><t> </t></is></c><c><v/></c></row>'
  const file = rawWorkbook(`${blank}<row><c t="s"><v>0</v></c></row>${blank}<row><c><v>1</v></c></row>`, ['phone'])
  expect(await read(file)).toEqual([['phone'], ['1']])
})

it('is read from its first visible sheet with cells, not from charts and hidden sheets', async () => {
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
  const parts = ['chartsheet', 'worksheet', 'worksheet']
  const file = zipOf({
    'xl/workbook.xml': `<workbook><sheets>${['', 'state="hidden"', '']
      .map((state, i) => `<sheet name="S${i}" ${state} r:id="rId${i}"/>`)
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships>${parts
      .map((part, i) => `<Relationship Id="rId${i}" Type="${type}/${part}" Target="sheets/${i}.xml"/>`)
      .join('')}</Relationships>`,
    'xl/sheets/0.xml': '<chartsheet/>',
    'xl/sheets/1.xml': `<worksheet><sheetData>${rowOf('secret')}</sheetData></worksheet>`,
    'xl/sheets/2.xml': sheet,
  })
  expect(await read(file)).toEqual([['phone']])
})

it('has its cells in their columns, as displayed, and numbers with all their digits', async () => {
  const cells: [cell: string, text: string][] = [
    ['<c t="b"><v>1</v></c>', 'TRUE'],
    ['<c t="b"><v>0</v></c>', 'FALSE'],
    ['<c t="e"><v>#REF!</v></c>', '#REF!'],
    ['<c t="str"><v>a &amp; b</v></c>', 'a & b'],
    ['<c><v>4.47911123456E11</v></c>', '447911123456'],
    ['<c t="n"><v>0.30000000000000004</v></c>', '0.3'],
    ['<c><v>1e400</v></c>', ''],
    ['<c><v>-5</v></c>', '-5'],
  ]
  const row = cells.map(([cell]) => cell).join('')
  expect(await read(rawWorkbook(`<row>${row}</row>`))).toEqual([cells.map(([, text]) => text)])
  const places = ['B', 'Z', 'AB', 'BA', 'XFD', 'XFE'].map((name, n) => `<c r="${name}1"><v>${n + 1}</v></c>`)
  const [found = []] = (await read(rawWorkbook(`<row>${places.join('')}</row>`))) as string[][]
  const at = [...found.entries()].filter(([, text]) => text !== '')
  expect([found.length, at]).toEqual([
    16_384,
    [
      [1, '1'],
      [25, '2'],
      [27, '3'],
      [52, '4'],
      [16_383, '5'],
    ],
  ])
})

it('has thousands of shared texts', async () => {
  const texts = Array.from({ length: 5000 }, (_, n) => `é${n}`.repeat(1 + (n % 17)))
  const asked = Array.from({ length: 5000 }, (_, n) => (n * 1237) % 5000)
  const rows = asked.map((index) => `<row><c t="s"><v>${index}</v></c></row>`)
  expect(await read(rawWorkbook(rows.join(''), texts))).toEqual(asked.map((index) => [texts[index]]))
})

it.each([
  ['', ['1900-01-01', '1900-02-28', '1900-03-01', '2021-01-01', '2021-01-01T12:30:00', '06:00:00', '1e+300']],
  [
    'date1904="1"',
    ['1904-01-02', '1904-02-29', '1904-03-02', '2025-01-02', '2025-01-02T12:30:00', '06:00:00', '1e+300'],
  ],
])('has dates and times for the numbers that it displays as such: %s', async (setting, dates) => {
  const serials = ['1', '59', '61', '44197', String(44_197 + 12.5 / 24), '0.25', '1e300']
  // Three of the workbook's own formats are dates.
  const own = ['dd/mm/yyyy', '[$-409]h:mm', '&quot;due&quot; yy', '0.00 &quot;days&quot;', 'General', '[Red]0', '0\\d']
  const ids = [14, 22, 27, 36, 45, 58, 164, 165, 166, 0, 13, 23, 26, 37, 44, 59, 167, 168, 169, 170]
  const isDate = (style: number): boolean => style < 9
  const row = (style: number): string =>
    `<row>${serials.map((one) => `<c s="${style}"><v>${one}</v></c>`).join('')}</row>`
  const file = zipOf({
    'xl/workbook.xml': `<workbook><workbookPr ${setting}/><sheets><sheet name="People" r:id="rId1"/></sheets></workbook>`,
    'xl/styles.xml': `<styleSheet><numFmts>${own.map((code, n) => `<numFmt numFmtId="${164 + n}" formatCode="${code}"/>`).join('')}</numFmts>
      <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs>${ids.map((id) => `<xf numFmtId="${id}"/>`).join('')}</cellXfs></styleSheet>`,
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${ids.map((_, style) => row(style)).join('')}</sheetData></worksheet>`,
  })
  const plain = serials.map((one) => String(Number(Number(one).toPrecision(15))))
  expect(await read(file)).toEqual(ids.map((_, style) => (isDate(style) ? dates : plain)))
})

it('inflates to at most a hundred times its size, whatever it claims', async () => {
  const bomb = rawWorkbook(`${rowOf('phone')}${' '.repeat(20 << 20)}`)
  expect(await read(bomb)).toMatch(/sheet1.xml that inflates to more than 100 times its size; save it as CSV/)
  // Its directory claims a small size.
  const said = bomb.lastIndexOf(
    'PK\u0001\u0002xl/worksheets'.slice(0, 4),
    bomb.lastIndexOf('xl/worksheets/sheet1.xml'),
    'latin1',
  )
  bomb.writeUInt32LE(1000, said + 24)
  expect(await read(bomb)).toMatch(/more than 100 times/)
  // Blank rows of a spreadsheet shrink to a thirtieth.
  const rows = Array.from({ length: 250_000 }, (_, n) => `<row r="${n}" spans="1:10" s="5" customFormat="1" ht="15"/>`)
  expect(await read(rawWorkbook(rows.join('')))).toEqual([])
})

/** The rows of a workbook, or why there are none. */
async function read(file: Buffer): Promise<unknown[][] | string> {
  const chunk = (position: number): Promise<Buffer | null> => {
    const start = position * chunkBytes
    return Promise.resolve(start < file.length ? file.subarray(start, start + chunkBytes) : null)
  }
  try {
    const rows: unknown[][] = []
    for await (const found of readSheet(await openWorkbook(chunk, file.length)))
      for (const { record } of found) rows.push(record as unknown[])
    return rows
  } catch (error) {
    if (error instanceof ZipError) return error.message
    throw error
  }
}
