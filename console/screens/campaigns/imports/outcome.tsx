/** An import or its check: progress, counts, and the problems of rows. */
import type { Import } from '@heliogram/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import { useCall } from '../../../api.ts'
import { Fold } from '../../../kit/fold.tsx'
import { Section } from '../../../kit/page.tsx'
import { PartsBar } from '../../../kit/pictures.tsx'
import { formatNumber, Progress, tellCount } from '../../../kit/show.tsx'
import { BadRows } from './bad-rows.tsx'
import { Faults, type Fixes } from './faults.tsx'
import { Sample } from './sample.tsx'

export const useImport = (id: string): UseQueryResult<Import> =>
  useCall('getImport', { path: { import: id } }, { every: (one) => (one?.completed_at ? undefined : 700) })

const repairs: Record<string, string> = {
  apostrophe: 'with an apostrophe before it',
  formula: 'inside a formula',
  decimal_point: 'ending in .0',
  thousands_separators: 'grouped like an amount',
  double_zero: 'with 00 instead of the plus sign',
  national: 'without a country code',
  missing_plus: 'without a plus sign',
  renumbered: 'in an old form of its country',
  several_numbers: 'from cells with several numbers: the first was used',
}

interface OutcomeProps {
  of: Import
  fixes?: Fixes
}

export function Outcome({ of, fixes }: OutcomeProps) {
  const { counts, dry_run: isDry, completed_at: over, failure, warnings } = of
  return (
    <>
      {over === null && (
        <div className="card">
          <p>
            <strong>{isDry ? 'Checking the file …' : 'Importing …'}</strong> {tellCount(counts.processed, 'row')}
            {counts.total !== null && ` of ${formatNumber(counts.total)}`} read
          </p>
          <Progress done={Math.round(of.progress * 100)} of={100} label="File read" />
        </div>
      )}
      {failure && (
        <div className="problem" role="alert">
          <strong>{failure.detail.replace(/ `faults` lists.*$/, '')}</strong>
        </div>
      )}
      {(over !== null || counts.processed > 0) && (
        <div className="below">
          <PartsBar
            label={tellCount(counts.processed, 'row')}
            parts={(
              [
                { name: 'new', value: counts.created, tone: 'good' },
                { name: 'updated', value: counts.updated, tone: 'busy' },
                { name: 'unchanged', value: counts.skipped, tone: 'neutral' },
                { name: counts.duplicate === 1 ? 'duplicate' : 'duplicates', value: counts.duplicate, tone: 'neutral' },
                { name: 'hidden', value: counts.hidden, tone: 'neutral' },
                { name: counts.failed === 1 ? 'bad row' : 'bad rows', value: counts.failed, tone: 'bad' },
              ] as const
            ).filter(({ name, value }) => value > 0 || name === 'new')}
          />
        </div>
      )}
      {counts.duplicate > 0 && (
        <p className="hint below">Of rows with the same number, the first {isDry ? 'is' : 'was'} imported.</p>
      )}
      {counts.opted_out > 0 && (
        <p className="notice">
          {tellCount(counts.opted_out, 'contact')} {counts.opted_out === 1 ? 'has' : 'have'} opted out. They{' '}
          {isDry ? 'will be' : 'were'} imported, but get no messages.
        </p>
      )}
      {warnings.map(({ code, column, detail }) => (
        <p key={`${code} ${column ?? ''}`} className="notice">
          {column && <strong>{column}: </strong>}
          {detail}
        </p>
      ))}
      {counts.failed > 0 && (
        <Section
          title={`${tellCount(counts.failed, 'row')} ${isDry ? 'can’t be' : counts.failed === 1 ? 'wasn’t' : 'weren’t'} imported`}
        >
          <p className="hint">
            {isDry
              ? 'All other rows can. Fix the problems here or in the file, or go on without these rows.'
              : 'All other rows were imported. Fix these rows and import the file of bad rows.'}
          </p>
          <Faults of={of} fixes={fixes} />
          <BadRows of={of} />
        </Section>
      )}
      <Repairs of={of} />
      {of.sample && of.sample.length > 0 && (
        <div className="section">
          <Fold title="Preview of imported rows">
            <Sample rows={of.sample} />
          </Fold>
        </div>
      )}
    </>
  )
}

function Repairs({ of }: { of: Import }) {
  const mended = Object.entries(of.repairs).filter(([kind, count]) => count && kind in repairs)
  if (mended.length === 0) return null
  return (
    <p className="hint below">
      Numbers corrected: {mended.map(([kind, count]) => `${formatNumber(count)} ${repairs[kind] ?? kind}`).join('; ')}.
    </p>
  )
}
