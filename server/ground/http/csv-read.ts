/** Reads CSV bodies in pieces, with turns for other work. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parse, type Options } from 'csv-parse'
import { openTurns } from './turns.ts'

const pieceBytes = 65_536
// Real rows have some hundred characters. A line of millions of cells would be a single piece of work.
const lineMax = 65_536

/**
 * The records of a text; if there are more than `recordsMax`, at least one more than that. @throws Error with the reason if it is not CSV,
 * or a line is too long.
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

/** Old files end lines with a carriage return alone. */
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
