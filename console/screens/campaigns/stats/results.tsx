import type { Campaign } from '@heliogram/sdk'
import { PartsBar } from '../../../kit/pictures.tsx'
import { Figure, Figures, formatNumber, tellCount } from '../../../kit/show.tsx'
import { outcomeParts } from './outcome.ts'

export const Results = ({
  stats,
  hasClicks = false,
}: {
  stats: NonNullable<Campaign['stats']>
  hasClicks?: boolean
}) => (
  <>
    <PartsBar label={tellCount(stats.recipients, 'recipient')} parts={outcomeParts(stats)} />
    <div className="section">
      <Figures>
        <Figure value={formatNumber(stats.recipients)} label="recipients" />
        <Figure value={formatNumber(stats.delivered)} label="delivered" tone="good" />
        <Figure value={formatNumber(stats.failed)} label="failed" {...(stats.failed > 0 && { tone: 'bad' })} />
        <Figure value={formatNumber(stats.replies)} label="replies" />
        <Figure value={formatNumber(stats.opt_outs)} label="opt-outs" />
        {(hasClicks || stats.clicks > 0) && <Figure value={formatNumber(stats.clicks)} label="clicks" />}
        <Figure value={formatNumber(stats.segments)} label="segments" />
        {stats.cost.map(({ amount, currency }) => (
          <Figure key={currency} value={amount} label={`${currency}, estimated`} />
        ))}
      </Figures>
    </div>
  </>
)
