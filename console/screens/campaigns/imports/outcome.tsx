/** An import or its preview: progress, counts, repairs, good rows, and reasons for bad ones. */
import type { Import } from '@heliogram/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import { useCall } from '../../../api.ts'
import { PartsBar } from '../../../kit/pictures.tsx'
import { Badge, formatNumber, Progress, tellCount } from '../../../kit/show.tsx'
import { BadRows } from './bad-rows.tsx'
import { Sample } from './sample.tsx'

export const useImport = (id: string): UseQueryResult<Import> =>
  useCall('getImport', { path: { import: id } }, { every: (one) => (one?.completed_at ? undefined : 700) })

const repairs: Record<string, string> = {
  apostrophe: 'an apostrophe stood before the number',
  formula: 'the number stood in a formula',
  decimal_point: 'it ended in .0',
  thousands_separators: 'its digits were grouped as an amount',
  double_zero: '00 stood for the plus sign',
  national: 'it had no country code, and got the one of the default country',
  missing_plus: 'it had its country code and no plus sign',
  renumbered: 'its country has renumbered, and it got the current form',
  several_numbers: 'the cell had several numbers, and the first was taken',
}

export function Outcome({ of }: { of: Import }) {
  const { counts, dry_run: isDry, completed_at: over, failure } = of
  return (
    <>
      <div className="section-head">
        <h2>{isDry ? 'What it would do' : over === null ? 'So far' : 'What it did'}</h2>
        <Badge status={of.status} />
      </div>
      {over === null && (
        <>
          <Progress done={Math.round(of.progress * 100)} of={100} label="Part of the file that was read" />
          <p className="hint">
            {tellCount(counts.processed, 'row')} read{counts.total !== null && ` of ${formatNumber(counts.total)}`}
          </p>
        </>
      )}
      {failure && (
        <div className="problem" role="alert">
          <strong>{failure.detail}</strong> <code>{failure.code}</code>
        </div>
      )}
      <PartsBar
        label={tellCount(counts.processed, 'row')}
        parts={[
          { name: isDry ? 'would be new' : 'new', value: counts.created, tone: 'good' },
          { name: isDry ? 'would be updated' : 'updated', value: counts.updated, tone: 'busy' },
          { name: 'left as they are', value: counts.skipped, tone: 'neutral' },
          { name: 'twice in the file', value: counts.duplicate, tone: 'neutral' },
          { name: 'bad', value: counts.failed, tone: 'bad' },
        ]}
      />
      {counts.opted_out > 0 && (
        <p className="notice">{formatNumber(counts.opted_out)} of them have opted out: nothing is sent to these.</p>
      )}
      <Repairs of={of} />
      {of.sample && of.sample.length > 0 && <Sample rows={of.sample} />}
      {counts.failed > 0 && <BadRows of={of} />}
    </>
  )
}

function Repairs({ of }: { of: Import }) {
  const mended = Object.entries(of.repairs).filter(([, count]) => count)
  if (mended.length === 0) return null
  return (
    <p className="hint">
      Numbers that were mended:{' '}
      {mended.map(([kind, count]) => `${formatNumber(count)} (${repairs[kind] ?? kind})`).join('; ')}.
    </p>
  )
}
