/** Imports: a file of a million rows through the API, against csv-parse, libphonenumber-js and one INSERT per row; and the effect on sends. */
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as openRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { compare, runInTurns, type Comparison } from './comparison.ts'
import { startDatabase } from './database.ts'
import { apiOf, createAcceptingHeliogram, untilImported } from './heliogram.ts'
import type { LoadInput, LoadOutput } from './load.ts'
import type { Options } from './options.ts'
import { readCpuSeconds, readMemory, waitUntilQuiet, type Running } from './product.ts'
import type { Figure } from './report.ts'
import { quantile } from './tally.ts'
import { startWorker, type Worker } from './worker.ts'

type Imported = { rowsPerSecond: number; cpuUsPerRow: number }

const naiveRows = 50_000
const sendsPerSecond = 100

const rowsOf = (options: Options): number => Math.min(1_000_000, options.seconds * 125_000)

/** Runs the pairs, and sends with and without an import; throws unless every row became a contact. */
export async function compareImports(options: Options): Promise<{ rows: Comparison[]; figures: Figure[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'heliogram-bench-imports-'))
  const database = await startDatabase()
  const [naive, load] = [startWorker('./naiveimport.ts'), startWorker('./load.ts')]
  const heliogram = await createAcceptingHeliogram(database).start({ carrierPort: 1, receiverPort: 1 })
  try {
    const rows = rowsOf(options)
    const [large, small] = [join(folder, 'large.csv'), join(folder, 'small.csv')]
    writeFileSync(large, fileOf(rows))
    writeFileSync(small, fileOf(naiveRows))
    const naiveUrl = await database.createDatabase('naive')
    const run = async (side: 'ours' | 'theirs'): Promise<Imported> => {
      const pids = side === 'ours' ? heliogram.rootPids : [naive.pid, database.pid]
      await waitUntilQuiet(pids)
      const cpuBefore = readCpuSeconds(pids)
      const size = side === 'ours' ? rows : naiveRows
      const ms =
        side === 'ours' ? await importFile(heliogram, large, rows) : await importNaively(naive, naiveUrl, small)
      await waitUntilQuiet(pids)
      const result = {
        rowsPerSecond: (size / ms) * 1000,
        cpuUsPerRow: ((readCpuSeconds(pids) - cpuBefore) * 1e6) / size,
      }
      console.log(`${side}: ${Math.round(result.rowsPerSecond)} rows/s, ${result.cpuUsPerRow.toFixed(1)} µs CPU a row`)
      return result
    }
    const idleMb = readMemory(heliogram, 'VmRSS')
    const pairs = await runInTurns(options.pairs, run)
    const peakMb = readMemory(heliogram, 'VmHWM')
    const sends = await measureSends(heliogram, load, large, rows)
    const slowest = Math.min(...pairs.map((pair) => pair.ours.rowsPerSecond))
    return {
      rows: [
        compare(pairs, { what: 'import', unit: 'rows/s', goal: '≥ 10', better: 'more' }, (one) => one.rowsPerSecond),
        compare(pairs, { what: 'CPU of all its processes', unit: 'µs/row', better: 'less' }, (one) => one.cpuUsPerRow),
      ],
      figures: [
        figure('rows a second, slowest run', slowest, '≥ 40000', slowest >= 40_000),
        figure('memory of the server before, MB', idleMb, '', true),
        figure('its largest memory while importing, MB', peakMb, '≤ 256', peakMb <= 256),
        figure(`sends at ${sendsPerSecond}/s: p99 alone, ms`, sends.aloneMs, '', true),
        figure('the same while importing, ms', sends.importingMs, '≤ 2x', sends.importingMs <= 2 * sends.aloneMs),
      ],
    }
  } finally {
    await heliogram.stop()
    await Promise.all([naive.stop(), load.stop()])
    await database.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const figure = (what: string, value: number, goal: string, isMet: boolean): Figure => ({
  what,
  value: value >= 100 ? String(Math.round(value)) : value.toPrecision(3),
  goal,
  isMet,
})

/** Unsorted numbers without plus signs, as in spreadsheets; four more columns, two of them attributes. */
function fileOf(rows: number): string {
  const lines = ['phone,first_name,last_name,city,plan']
  // Coprime to the count of numbers, so that each occurs once.
  for (let n = 0; n < rows; n++)
    lines.push(
      `44${7_400_000_000 + ((n * 7_368_787) % 100_000_000)},First${n % 997},Last${n % 1009},City ${n % 83},plan${n % 5}`,
    )
  return `${lines.join('\n')}\n`
}

/** Uploads a file into a new campaign; returns milliseconds from the first byte to the end of the import. */
async function importFile(product: Running, file: string, rows: number): Promise<number> {
  const api = apiOf(product)
  const campaign = await api('POST', '/v1/campaigns', { name: 'Imports' })
  const startMs = performance.now()
  const id = await upload(product.request, `/v1/campaigns/${String(campaign?.['id'])}/contacts/import`, file)
  await untilImported(api, id, rows)
  return performance.now() - startMs
}

async function upload({ port, headers }: Running['request'], path: string, file: string): Promise<string> {
  const request = openRequest({
    port,
    host: '127.0.0.1',
    path,
    method: 'POST',
    headers: { ...headers, 'content-type': 'text/csv' },
  })
  const answered = new Promise<string>((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (response) => {
      response.setEncoding('utf8')
      response.toArray().then((pieces) => resolve(pieces.join('')), reject)
    })
  })
  await pipeline(createReadStream(file), request)
  return (JSON.parse(await answered) as { id: string }).id
}

async function importNaively(naive: Worker, databaseUrl: string, file: string): Promise<number> {
  const { ms, rows } = await naive.ask<{ ms: number; rows: number }>('run', { databaseUrl, file })
  if (rows !== naiveRows) throw new Error(`the plain import wrote ${rows} of ${naiveRows} rows`)
  return ms
}

/** The 99th percentile from request to 202, alone and during an import. */
async function measureSends(
  heliogram: Running,
  load: Worker,
  file: string,
  rows: number,
): Promise<{ aloneMs: number; importingMs: number }> {
  let base = 0
  const send = async (size: number): Promise<number> => {
    const input: LoadInput = {
      shape: heliogram.request,
      base,
      size,
      connections: 16,
      accepted: heliogram.acceptedStatus,
      perSecond: sendsPerSecond,
    }
    base += size
    const { accepted, sentMs, answerMs, refusals } = await load.ask<LoadOutput>('run', input)
    if (accepted !== size) throw new Error(`of ${size} sends ${accepted} were accepted: ${refusals.join()}`)
    return quantile(
      Array.from(answerMs, (atMs, index) => atMs - (sentMs[index] ?? 0)),
      0.99,
    )
  }
  await send(500)
  await waitUntilQuiet(heliogram.rootPids)
  const aloneMs = await send(1000)
  // Three quarters of the import's duration at its goal.
  const importing = importFile(heliogram, file, rows)
  const importingMs = await send(Math.max(200, Math.floor((rows / 40_000) * 0.75 * sendsPerSecond)))
  await importing
  return { aloneMs, importingMs }
}
