import fc from 'fast-check'
import { stringify } from 'csv-stringify/sync'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { chunkBytes, type ReadChunk } from './bytes.ts'
import { readCsv, readJsonLines, type Place } from './source.ts'
import type { SourceRow } from './source-row.ts'

describe('readCsv', () => {
  it('reads rows after the header, with any line breaks, and the line of each', async () => {
    const rows = await csv('\uFEFFphone,name\r\n1,a\n2,"b\r\nb"\r\n\r\n3,"c\nc"\r4,d')
    expect(lines(rows)).toEqual([
      [2, ['1', 'a']],
      [3, ['2', 'b\r\nb']],
      [6, ['3', 'c\nc']],
      [8, ['4', 'd']],
    ])
  })

  it('ignores rows of blank cells, which spreadsheets save in place of deleted ones', async () => {
    expect(lines(await csv('phone,name\n,\n1,a\n \n"",\t\r\n,,,\n,b\n,'))).toEqual([
      [3, ['1', 'a']],
      [7, ['', 'b']],
    ])
    // A cell without an end is not blank.
    expect(lines(await csv('phone,name\n,"\n1,a'))).toEqual([
      [2, 'invalid_format'],
      [3, ['1', 'a']],
    ])
  })

  it('drops one line for an unclosed quote, and continues behind it', async () => {
    const many = Array.from({ length: 20_000 }, (_, i) => `${i},name`).join('\n')
    const rows = await csv(`phone,name\n1,a\n2,"open\n3,c\n${many}\n`)
    expect(rows).toHaveLength(20_003)
    expect(lines(rows.slice(0, 4))).toEqual([
      [2, ['1', 'a']],
      [3, 'invalid_format'],
      [4, ['3', 'c']],
      [5, ['0', 'name']],
    ])
    expect(rows.at(-1)).toMatchObject({ line: 20_004, record: ['19999', 'name'] })
  })

  it('drops one line for an unclosed quote near the end of the file', async () => {
    expect(lines(await csv('phone\n1\n"2\n3\n\r\n"4\r\n5'))).toEqual([
      [2, ['1']],
      [3, 'invalid_format'],
      [4, ['3']],
      [6, 'invalid_format'],
      [7, ['5']],
    ])
    expect(lines(await csv('phone\r\n1\r\n\r\n"2\r\n3\r\n'))).toEqual([
      [2, ['1']],
      [4, 'invalid_format'],
      [5, ['3']],
    ])
  })

  it('drops each line that opens an unclosed quote, in linear time', async () => {
    // After each of these quotes, the rest of the file is one record without an end.
    const read = async (count: number): Promise<number> => {
      const before = process.threadCpuUsage()
      const rows = await csv(`phone,name\n${'a"b,"\n'.repeat(count)}`)
      expect(rows).toHaveLength(count)
      expect(rows.at(-1)).toMatchObject({ line: count + 1, record: 'a"b,"', fault: { code: 'invalid_format' } })
      // CPU time, because other programs may be running.
      const { user, system } = process.threadCpuUsage(before)
      return (user + system) / 1000
    }
    await read(2000)
    // Searching the rest for each of them would take a hundred times as long for ten times as many.
    const [small, large] = [await read(2000), Math.min(await read(20_000), await read(20_000))]
    expect(large).toBeLessThan(40 * small + 100)
  })

  it('skips a line of 10 MB', async () => {
    const rows = await csv(`phone\n1\n${'x'.repeat(10 * 1024 * 1024)}\n2\n${'"'.repeat(300_001)}\n3\n`)
    expect(lines(rows)).toEqual([
      [2, ['1']],
      [3, 'too_long'],
      [4, ['2']],
      [5, 'too_long'],
      [6, ['3']],
    ])
    expect(String(rows[1]?.record).length).toBe(200)
  })

  it('reads letters, and cells with line breaks, across the pieces of the file', async () => {
    const record = '1,aé€🙂\r\n2,"b\r\nb""c\n"\r\n3,d'
    for (let cut = 1; cut <= Buffer.byteLength(record); cut++) {
      const before = `phone,name\n${`${'x'.repeat(60_000)}\n`.repeat(4)}`
      const rest = `${'x'.repeat(chunkBytes - before.length - cut - 1)}\n`
      expect(lines((await csv(before + rest + record)).slice(-3))).toEqual([
        [7, ['1', 'aé€🙂']],
        [8, ['2', 'b\r\nb"c\n']],
        [11, ['3', 'd']],
      ])
    }
  })

  it('accepts rows up to the maximum length, and no longer ones, even by their line breaks', async () => {
    const max = 65_536
    for (const [length, code] of [
      [max, undefined],
      [max + 1, 'too_long'],
    ] as const) {
      const [plain, quoted] = await csv(`phone\r\n${'x'.repeat(length)}\r\n"${'\n'.repeat(length - 2)}"\r\n`)
      expect([plain?.fault?.code, quoted?.fault?.code]).toEqual([code, code])
    }
  })

  it('accepts quotes inside cells', async () => {
    expect(lines(await csv('phone;size\n1;12" pipe\n2;"a"b\n3;"no; thanks" she ""said""\n4;"whole" ;\n', ';'))).toEqual(
      [
        [2, ['1', '12" pipe']],
        [3, ['2', '"a"b']],
        [4, ['3', '"no; thanks" she ""said""']],
        [5, ['4', 'whole ', '']],
      ],
    )
  })

  it('reads the encodings of spreadsheets', async () => {
    const text = 'phone;name\r\n1;Zoë €\r\n2;Müller'
    const utf16 = Buffer.from(`\uFEFF${text}`, 'utf16le')
    const [swapped, latin] = [Buffer.from(utf16).swap16(), Buffer.from(text.replace('€', '\u0080'), 'latin1')]
    for (const [bytes, encoding] of [
      [utf16, 'utf-16le'],
      [swapped, 'utf-16be'],
      [latin, 'windows-1252'],
    ] as const)
      expect(lines(await csv(bytes, ';', encoding))).toEqual([
        [2, ['1', 'Zoë €']],
        [3, ['2', 'Müller']],
      ])
  })

  it('reads back the output of a CSV writer, across pieces', async () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', 'é', '🙂', ',', '"', '\n', '\r', '\r\n', ' ', "'"),
      maxLength: 12,
    })
    const table = fc.array(fc.tuple(fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 3 }), cell), {
      maxLength: 40,
    })
    await fc.assert(
      fc.asyncProperty(table, fc.constantFrom('\n', '\r\n'), async (rows, breaks) => {
        const pad = ['x'.repeat(30_000), 'y'.repeat(30_000)]
        const all = [...Array.from({ length: 5 }, () => pad), ...rows.filter((row) => row.join('').trim() !== '')]
        const text = stringify([['phone', 'name'], ...all], { record_delimiter: breaks, quoted: true })
        expect((await csv(text)).map((row) => row.record)).toEqual(all)
      }),
      { numRuns: 60 },
    )
  })

  it('never stops and never throws, for any bytes', async () => {
    const junk = fc.array(fc.constantFrom('"', ',', '\n', '\r', 'a', '\0', '\uFFFD', 'é', '""', '\n"'), {
      maxLength: 60,
    })
    await fc.assert(
      fc.asyncProperty(junk, fc.uint8Array({ maxLength: 20 }), async (text, bytes) => {
        const rows = await csv(Buffer.concat([Buffer.from('phone,name\n'), Buffer.from(text.join('')), bytes]))
        const numbers = rows.map((row) => row.line)
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
        expect(new Set(numbers).size).toBe(numbers.length)
      }),
      { numRuns: 500 },
    )
  })
})

it('resumes at each place it names with the same rows, for pieces of any size', async () => {
  const parts = ['"', ',', '\n', '\r\n', '\r', 'é', '15551234567', '""', ',"a\nb"\n', '{"a":1}\n', '\uFEFF']
  const junk = fc.array(fc.constantFrom(...parts), { minLength: 20, maxLength: 80 })
  const places: Place[] = []
  await fc.assert(
    fc.asyncProperty(junk, fc.nat(150), fc.constantFrom('csv', 'json'), async (text, before, kind) => {
      // The first piece ends in the junk.
      const line = `${'x'.repeat(60_000)}\n`
      const pad = `${line.repeat(4)}${'y'.repeat(chunkBytes - 4 * line.length - before - 1)}\n`
      const read = stored(`${pad}${text.join('')}\n${line}${text.toReversed().join('')}`)
      const rows = (from?: Place, onPlace?: (place: Place) => void): Promise<SourceRow[]> => {
        const shape = { columns: 2, numberAt: 0 }
        const reading = { from, onPlace }
        return collect(
          kind === 'csv' ? readCsv(read, 'utf-8', ',', 0, shape, reading) : readJsonLines(read, 'utf-8', reading),
        )
      }
      const found: Place[] = []
      const all = await rows(undefined, (place) => found.push(place))
      for (const place of found) expect(await rows(place)).toEqual(all.filter((row) => row.line >= place.line))
      places.push(...found)
    }),
    { numRuns: 60 },
  )
  expect(places.length).toBeGreaterThan(30)
})

it.each(['utf-16le', 'utf-16be', 'iso-2022-jp'])(
  'names no place in %s, whose line feeds are also bytes of other letters',
  async (encoding) => {
    let places = 0
    const text = Buffer.from('1,a\n'.repeat(5), encoding === 'iso-2022-jp' ? 'utf8' : 'utf16le')
    await collect(readCsv(stored(text), encoding, ',', 0, null, { onPlace: () => void places++ }))
    expect(places).toBe(0)
  },
)

it.each([
  ['CSV', "readCsv(read, 'utf-8', ',', 0)"],
  ['JSON', 'readJsonLines(read)'],
])('keeps nothing of a line of %s that is too long', async (_, rows) => {
  // Four times the available memory.
  const program = `import(${JSON.stringify(new URL('source.ts', import.meta.url))}).then(async ({ readCsv, readJsonLines }) => {
    const pieces = [...Array(800).fill(Buffer.alloc(${chunkBytes}, 'x')), Buffer.from('\\n1')]
    const read = (position) => Promise.resolve(pieces[position] ?? null)
    for await (const { length } of ${rows}) process.exitCode = (process.exitCode ?? 0) + length
  })`
  const worker = new Worker(program, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 48 } })
  expect(await once(worker, 'exit')).toEqual([2])
})

describe('readJsonLines', () => {
  it('accepts lines up to the maximum length, and no longer ones, also the last', async () => {
    const texts = [0, 1, 0].map((more) => JSON.stringify('x'.repeat(65_534 + more)))
    const codesOf = async (all: string[]) =>
      (await collect(readJsonLines(stored(all.join('\n'))))).map(({ fault }) => fault?.code)
    expect(await codesOf(texts)).toEqual([undefined, 'too_long', undefined])
    expect(await codesOf(texts.slice(0, 2))).toEqual([undefined, 'too_long'])
  })

  it('reads a value per line and names invalid ones', async () => {
    const rows = await collect(readJsonLines(stored('{"a":1}\r\n\n nonsense\n[1]\n{"b":"\\u0000"}\n{"c":2}')))
    expect(lines(rows)).toEqual([
      [1, { a: 1 }],
      [3, 'invalid_format'],
      [4, [1]],
      [5, 'invalid_characters'],
      [6, { c: 2 }],
    ])
  })

  it('refuses invalid UTF-8, deep nesting and endless lines, one line each', async () => {
    const parts = ['{"a":1}', Buffer.from([0x22, 0xff, 0x22]), '['.repeat(5000), 'x'.repeat(chunkBytes * 3), '{"b":2}']
    const content = Buffer.concat(parts.flatMap((part) => [Buffer.from(part as string), Buffer.from('\n')]))
    expect(lines(await collect(readJsonLines(stored(content))))).toEqual([
      [1, { a: 1 }],
      [2, 'invalid_characters'],
      [3, 'invalid_format'],
      [4, 'too_long'],
      [5, { b: 2 }],
    ])
  })
})

/** A file as the database returns it. */
const stored =
  (content: string | Buffer): ReadChunk =>
  (position) => {
    const bytes = Buffer.from(content).subarray(position * chunkBytes, (position + 1) * chunkBytes)
    return Promise.resolve(bytes.length === 0 ? null : bytes)
  }

async function collect(pieces: AsyncGenerator<SourceRow[]>): Promise<SourceRow[]> {
  const all: SourceRow[] = []
  for await (const rows of pieces) all.push(...rows)
  return all
}

const csv = (content: string | Buffer, delimiter = ',', encoding = 'utf-8'): Promise<SourceRow[]> =>
  collect(readCsv(stored(content), encoding, delimiter, 1))
const lines = (rows: SourceRow[]): unknown[] => rows.map((row) => [row.line, row.fault?.code ?? row.record])
