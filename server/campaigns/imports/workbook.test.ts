/** Workbooks whose XML begins things that never end: a file of a kilobyte must not hold the process that reads it. */
import { expect, it } from 'vitest'
import { chunkBytes } from './chunks.ts'
import { openWorkbook, readSheet } from './workbook.ts'
import { rawWorkbook, rowOf, zipOf } from './zip-testing.ts'
import { ZipError } from './zip.ts'

const book = '<workbook><sheets><sheet name="People" r:id="rId1"/></sheets></workbook>'
const sheet = `<worksheet><sheetData>${rowOf('phone')}</sheetData></worksheet>`

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
])('that begins %s without end is read at once', async (_, file) => {
  const before = performance.now()
  await read(file)
  expect(performance.now() - before).toBeLessThan(2_000)
})

it('has its tags with prefixes, empty, and beside others that begin alike', async () => {
  const file = rawWorkbook(
    `<x:rows/><x:row r="1"><x:c r="A1" t="inlineStr"><x:is><x:r><x:t xml:space="preserve">ph</x:t></x:r><x:rPh sb="0"><x:t>no</x:t></x:rPh>` +
      `<x:r><x:t>one</x:t></x:r></x:is></x:c><x:col/><x:c r="C1"><x:f>1</x:f><x:v>7</x:v></x:c></x:row><row r="2"/><row ><c/><c><v/></c><c><v>2</v></c></row>`,
  )
  expect(await read(file)).toEqual([
    ['phone', '', '7'],
    ['', '', '2'],
  ])
})

it('has the texts that its cells share, however they name them', async () => {
  const cells = [
    '<c t="s"><v>0</v></c>',
    `<c t='s' r="B1"><v xml:space="preserve">1</v></c>`,
    '<x:c s="1" t = "s">\n<x:v>\n2\n</x:v>\n</x:c>',
  ]
  const found = await Promise.all(cells.map((cell) => read(rawWorkbook(`<row>${cell}</row>`, ['a', 'b', 'c']))))
  expect(found).toEqual([[['a']], [['', 'b']], [['c']]])
})

it('takes what names no shared text, and what has no value, for an empty cell', async () => {
  const empty = ['', ' ', 'x', '-1', '0.5', '9', '1e999'].map((value) => `<c t="s"><v>${value}</v></c>`)
  const file = rawWorkbook(
    `<row><c t="s"><v>0</v></c></row><row>${empty.join('')}<c><v></v></c><c t="b"><v></v></c><c><v>1</v></c></row>`,
    ['phone', 'secret'],
  )
  expect(await read(file)).toEqual([['phone'], ['', '', '', '', '', '', '', '', '', '1']])
})

it('is read by its first sheet that is seen and has cells: charts and hidden sheets have none for anybody', async () => {
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
