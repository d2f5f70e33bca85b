/** Findings in a file of numbers, for responses on contacts and opt-outs. */
import { Type } from 'typebox'
import { Nullable } from '../http/http.ts'
import { adviceFor, warnOfCountry, type AdvisedFile, type TableWarning } from './advice.ts'
import type { FaultGroup } from './fault-groups.ts'
import { isCut } from '../numbers/cell.ts'
import { repairs } from '../numbers/imported.ts'
import { countriesOf, type Doubt } from '../numbers/national.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

/** Repairs by kind. */
export const repairCounts = Object.fromEntries(
  Object.entries(repairs).map(([name, what]) => [name, Count(`Repaired numbers. ${what}`)]),
)

export const Faults = Type.Array(
  Type.Object({
    code: Type.String(),
    column: Nullable(Type.String()),
    count: Count('Rows that have it.'),
    line: Type.Integer({ description: 'The first of them.' }),
    detail: Type.String({ description: 'What is wrong with all of them.' }),
    advice: Nullable(Type.String({ description: 'What would make such rows pass.' })),
  }),
  { description: 'What is wrong with rows, equal faults together, most frequent first; at most 20 kinds.' },
)

export const Warnings = Type.Array(
  Type.Object({ code: Type.String(), column: Nullable(Type.String()), detail: Type.String() }),
  {
    description:
      'What to check: a column that may say who must not be written to, and was not followed (`consent_unread`); numbers without a country ' +
      'code if no country is known (`country_missing`); cells of an opt-out list with more than a number (`more_than_a_number`).',
  },
)

export function showFindings(
  {
    faults,
    warnings,
    doubt,
  }: { faults: readonly FaultGroup[]; warnings: readonly TableWarning[]; doubt: Doubt | null },
  file: Omit<AdvisedFile, 'likelyCountries' | 'isCut'>,
  numberColumn: string,
) {
  const likelyCountries = doubt ? countriesOf(doubt) : []
  return {
    faults: faults.map((group) => {
      const { code, column, count, line, detail } = group
      const advice = adviceFor(group, { ...file, likelyCountries, isCut })
      return { code, column, count, line, detail, advice }
    }),
    warnings: [...warnings, ...(doubt ? [warnOfCountry(numberColumn, doubt, likelyCountries)] : [])],
  }
}
