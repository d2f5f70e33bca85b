/** CSV of a body, read in pieces: others have their turn in between. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parse, type Options } from 'csv-parse'
import { openTurns } from './turns.ts'

const pieceBytes = 65_536
// Rows that people write have some hundred. One of millions of cells would be a single piece of work again.
const lineMax = 65_536

/**
 * The records of a text as the options say; of one that has more than `recordsMax` at least one more than that. @throws Error that says why it
 * is no CSV, or that a line is too long for a row.
 */
export async function readCsv<Record>(text: string, options: Options, recordsMax: number): Promise<Record[]> {
  const giveWay = openTurns()
  if (hasLongLine(text)) throw new Error(`a line has more than ${lineMax} characters`)
  const bytes = Buffer.from(text)
  const records: Record[] = []
  async function* pieces(): AsyncGenerator<Buffer> {
    for (let at = 0; at < bytes.length && records.length <= recordsMax; at += pieceBytes) {
      await giveWay()
      yield bytes.subarray(at, at + pieceBytes)
    }
  }
  const parser = parse(options)
  parser.on('data', (record: Record) => records.push(record))
  await pipeline(Readable.from(pieces()), parser)
  return records
}

/** Files of old have a carriage return alone at the end of a line. */
function hasLongLine(text: string): boolean {
  let [feed, back] = [-1, -1]
  for (let at = 0; text.length - at > lineMax; at = Math.min(feed, back) + 1) {
    if (feed < at) feed = indexOf(text, '\n', at)
    if (back < at) back = indexOf(text, '\r', at)
    if (Math.min(feed, back) - at > lineMax) return true
  }
  return false
}

function indexOf(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from)
  return at === -1 ? text.length : at
}
