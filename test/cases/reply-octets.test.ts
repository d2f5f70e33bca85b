/** Replies whose octets contradict their declared coding are read correctly, and checked for keywords. */
import { readFileSync } from 'node:fs'
import { joinParts, readPart } from '@heliogram/smpp'
import { describe, expect, it } from 'vitest'
import { readKeyword } from '../../server/opt-outs/keywords.ts'

const [price, stop] = readFileSync(new URL('inputs/replies-octets.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as { hex: string; data_coding: number })

const textOf = (data_coding: number, octets: Buffer): string | null =>
  joinParts([readPart({ esm_class: 0, data_coding, short_message: octets })]).text

it('UTF-8 under data_coding 0 is read, and its keyword counts', () => {
  expect(textOf(0, Buffer.from(price?.hex ?? '', 'hex'))).toBe('Price 12,50 € café')
  const said = textOf(0, Buffer.from(stop?.hex ?? '', 'hex'))
  expect(said).toBe('ARRÊT')
  expect(readKeyword(said ?? '').keyword).toBe('stop')
})

describe('a STOP counts under any data_coding', () => {
  it.each([0, 1, 2, 3, 4, 8, 0xf4, 0xf5])('%i', (data_coding) => {
    for (const text of ['STOP', 'Stop!', 'ARRÊT', 'СТОП'])
      expect([text, readKeyword(textOf(data_coding, Buffer.from(text)) ?? '').keyword]).toEqual([text, 'stop'])
  })
})
