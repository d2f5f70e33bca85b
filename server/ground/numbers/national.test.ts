import { describe, expect, it } from 'vitest'
import { countriesOf, findDoubt } from './national.ts'
import { planOfCountry } from './plan.ts'

/** Numbers of a form in which X is any digit; the same ones in each run. */
function numbersOf(form: string, count = 60): string[] {
  let seed = 7
  const digit = (): string => String((seed = (seed * 1103515245 + 12345) % 2147483648) % 9)
  return Array.from({ length: count }, () => form.replace(/X/g, digit))
}

// As people write them at home, without the leading zero that spreadsheets drop.
const national: [string, string[]][] = [
  ['US', ['2025550123', '3105551288', '4155552042', '6465553117', '9175554160', '2125555199', '7185556144']],
  ['US', numbersOf('2012XXXXXX')],
  ['DE', [...numbersOf('1512XXXXXXX', 20), ...numbersOf('160XXXXXXX', 20), ...numbersOf('1761XXXXXXX', 20)]],
  ['FR', [...numbersOf('61XXXXXXX', 30), ...numbersOf('75XXXXXXX', 30)]],
  ['GB', numbersOf('77XXXXXXXX')],
  ['IN', [...numbersOf('98XXXXXXXX', 30), ...numbersOf('70XXXXXXXX', 30)]],
  ['ES', numbersOf('61XXXXXXX')],
  ['BR', numbersOf('119XXXXXXXX')],
  ['AU', numbersOf('41XXXXXXX')],
  ['ZA', numbersOf('82XXXXXXX')],
]

describe('a column of numbers without plus signs', () => {
  it.each(national)('is in doubt if they are national numbers of %s', (country, cells) => {
    const doubt = findDoubt(cells)
    expect(doubt).toMatchObject({ cells: cells.length, doubtful: cells.length })
    expect(doubt && countriesOf(doubt).length).toBeGreaterThan(0)
    expect(doubt?.codes).toContain(planOfCountry(country)?.code)
  })

  it.each(national)(
    'is not in doubt if they have the code of %s, with or without others among them',
    (country, cells) => {
      const code = planOfCountry(country)?.code ?? ''
      const whole = cells.map((cell) => code + cell)
      expect(findDoubt(whole)).toBeNull()
      expect(findDoubt([...whole, '4930123456', '+2025550123', '(202) 555-0123', ''])).toBeNull()
    },
  )

  it('is not in doubt if they are example numbers', () => {
    expect(findDoubt(numbersOf('1555XXXXXXX'))).toBeNull()
    expect(findDoubt(numbersOf('447700900XXX'))).toBeNull()
    expect(findDoubt([])).toBeNull()
  })

  it('is in doubt for the national length, beside others with their code', () => {
    const local = numbersOf('2012XXXXXX')
    expect(findDoubt([...local, ...local.map((one) => `1${one}`)])).toMatchObject({ lengths: [10], doubtful: 60 })
  })
})
