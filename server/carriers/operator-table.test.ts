import { expect, it } from 'vitest'
import { countTurns } from '../../test/until.ts'
import { readRateCsv, readRateTable, ratesMax } from '../rates/input.ts'

const rates = Array.from({ length: ratesMax }, (_, i) => ({
  prefix: String(1_000_000 + i),
  amount: '0.00790',
  currency: 'USD',
}))
const head = 'prefix,amount,currency\n'

it('a long table is read in pieces, to its end', async () => {
  const json = await countTurns(readRateTable(rates))
  const lines = rates.map(({ prefix, amount, currency }) => `${prefix},${amount},${currency}`)
  const csv = await countTurns(readRateCsv(head + lines.join('\n')))
  expect(json.read).toHaveLength(ratesMax)
  expect(csv.read).toEqual(json.read)
  expect(json.turns).toBeGreaterThan(2)
  expect(csv.turns).toBeGreaterThan(5)
})

it('a file is read only up to the limit of rows, and not at all if a line is not a row', async () => {
  const refusals: [string, string][] = [
    [head + '44,1,USD\n'.repeat(ratesMax + 1), `at most ${ratesMax} rows`],
    [head + ',,\n'.repeat(3 * ratesMax), `at most ${ratesMax} rows`],
    [','.repeat(65_537), 'a line has more than 65536 characters'],
    [`${head}44,1,USD\r${','.repeat(65_537)}\r44,1,USD`, 'a line has more than 65536 characters'],
  ]
  for (const [text, words] of refusals)
    await expect(readRateCsv(text)).rejects.toMatchObject({
      options: { errors: [{ pointer: '#', detail: expect.stringContaining(words) }] },
    })
  // The limit applies to each line, not to all of them.
  const rows = Array.from({ length: 40 }, (_, i) => `44${i},1,USD,${' '.repeat(2000)}`)
  expect(await readRateCsv(`prefix,amount,currency,country\n${rows.join('\r\n')}`)).toHaveLength(40)
})
