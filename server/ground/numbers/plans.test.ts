import { parsePhoneNumberFromString, type CountryCode } from 'libphonenumber-js/core'
import metadata from 'libphonenumber-js/min/metadata'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { renderPlans, tables } from './compile.ts'
import { renderTypes } from './compile-types.ts'
import { parseNumber } from './written.ts'
import { countryOf, readNumber, spellingsOf } from './number.ts'

let seed = 42
const stored = /^[1-9]\d{6,14}$/
const countries = Object.entries(tables.countries)
const plans = [...Object.values(tables.countries), ...Object.values(tables.nonGeographic)]

describe('the compiled numbering plans', () => {
  it('are those of the installed library', () => {
    const committed = readFileSync(join(import.meta.dirname, 'plans.ts'), 'utf8')
    expect(committed === renderPlans(), 'run: npm run numbers').toBe(true)
    const types = readFileSync(join(import.meta.dirname, 'types.ts'), 'utf8')
    expect(types === renderTypes(), 'run: npm run numbers').toBe(true)
  })

  it('agree with libphonenumber on 40,000 international numbers of every country', () => {
    const wrong: string[] = []
    for (let compared = 0, rewritten = 0; compared < 40_000;) {
      for (const plan of plans) {
        const number = `${plan[0]}${nationalOf(plan)}`
        if (!stored.test(number)) continue
        const parsed = parsePhoneNumberFromString(`+${number}`, { extract: false }, metadata)
        const isPossible = parsed?.isPossible() ?? false
        compared++
        const theirs = isPossible && parsed ? parsed.number.slice(1) : ''
        const written = parseNumber(`+${number}`)
        if (!isSame(written, stored.test(theirs) ? theirs : null)) wrong.push(`written +${number}`)
        if (written !== null && written !== theirs) continue
        if (parsed && parsed.number !== `+${number}`) {
          // The library removed a trunk prefix; we never change the digits of a number that can be dialled as it is.
          rewritten++
          expect(rewritten).toBeLessThan(3500)
          continue
        }
        const ours = readNumber(number)
        if ('detail' in ours && ours.detail === 'lacks its area code') continue
        const isOurs = 'number' in ours
        const isUnassigned = isOurs && ours.warnings.some((warning) => warning.code === 'unassigned_range')
        const isCountryRight = !isOurs || !parsed?.country || countryOf(number) === parsed.country
        if (isOurs !== isPossible || (isOurs && isUnassigned === parsed?.isValid()) || !isCountryRight)
          wrong.push(number)
      }
    }
    expect(wrong).toEqual([])
  })

  it('agree with libphonenumber on 30,000 numbers as every country dials them', () => {
    const wrong: string[] = []
    for (let compared = 0; compared < 30_000;) {
      for (const [country, plan] of countries) {
        const national = nationalOf(plan)
        const trunk = plan[5] || pick(['0', '1', '8'], '0')
        const abroad = pick(plans, plan)
        const text = pick(
          [
            national,
            trunk + national,
            plan[0] + national,
            `+${plan[0]}${trunk}${national}`,
            `${pick(['00', '011', '810', '0011'], '00')}${abroad[0]}${nationalOf(abroad)}`,
          ],
          national,
        )
        const spaced = text.replace(/(\d{3})(?=\d)/g, (group) => group + pick(['', '', ' ', '-', '.', ' (0) '], ''))
        for (const one of [text, spaced]) {
          compared++
          const [ours, theirs] = [parseNumber(one, country), libraryReads(one, country)]
          if (!isSame(ours, theirs)) wrong.push(`${one} in ${country}: ${ours}, not ${theirs}`)
        }
      }
    }
    expect(wrong).toEqual([])
  })
})

/** A linear congruential generator: the same numbers in each run, so that a failure can be repeated. */
const random = (below: number): number => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return Math.floor((seed / 2 ** 32) * below)
}
const pick = <T>(items: readonly T[], otherwise: T): T => items[random(items.length)] ?? otherwise

/** National digits of a plan: half of them in its own ranges, with lengths that exist and lengths that just do not. */
function nationalOf(plan: (typeof plans)[number]): string {
  const leading = /^\d+/.exec(plan[10] || '')?.[0] ?? ''
  const length = pick(plan[3], 9) + (random(8) === 0 ? random(3) - 1 : 0)
  let national = random(2) ? leading : ''
  while (national.length < length) national += random(10)
  return national
}

/** The library's reading of a text; null if it is impossible, or if we would not store it. */
function libraryReads(text: string, country?: string): string | null {
  const parsed = parsePhoneNumberFromString(
    text,
    { extract: false, ...(country && { defaultCountry: country as CountryCode }) },
    metadata,
  )
  const number = parsed?.isPossible() ? parsed.number.slice(1) : ''
  return stored.test(number) ? number : null
}

/** The library does not know renumbered phones: our reading is the current form of its own, even if the old form is invalid for it. */
function isSame(ours: string | null, theirs: string | null): boolean {
  if (ours === theirs) return true
  const forms = ours === null ? [] : spellingsOf(ours)
  return forms.length > 1 && (theirs === null || forms.includes(theirs))
}
