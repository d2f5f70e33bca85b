import type { Operations } from '@heliogram/sdk'
import { download, useCall } from '../../../api.ts'

import { Button } from '../../../kit/button.tsx'
import { FilterDay, FilterSelect } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Chart } from '../../../kit/chart.tsx'
import { outcomeLines } from '../../../kit/outcome-lines.ts'
import { Loaded, Page, Section } from '../../../kit/page.tsx'
import { Figure, Figures, formatNumber } from '../../../kit/show.tsx'
import { DownloadButton } from '../../../kit/task.tsx'
import { periods, rangeOf } from './period.ts'
import { UsageTable } from './table.tsx'

const groups: readonly (readonly [string, string])[] = [
  ['', 'By day'],
  ['month', 'By month'],
  ['country', 'By country'],
  ['carrier', 'By carrier'],
  ['campaign', 'By campaign'],
  ['type', 'By type'],
  ['account', 'By account'],
  ['month,country', 'By month and country'],
  ['month,account', 'By month and account'],
  ['month,account,country,carrier', 'As for an invoice'],
]

export function UsageScreen() {
  const { filters, set } = useFilters(['group', 'period', 'from', 'to', 'account', 'test'])
  const { group = 'day', period, from, to, account, test } = filters
  const query = {
    group,
    ...rangeOf(period, from, to),
    ...(account && { account }),
    ...(test && { test: true }),
  }
  const usage = useCall('getUsage', { query }, { every: 5000 })
  const isByTime = group === 'day' || group === 'month'
  return (
    <Page
      title="Usage"
      lead="What was sent, by the hour in which it was accepted (UTC), with what it is estimated to cost."
      actions={<DownloadButton does="getUsage" label="Export CSV" onDownload={() => saveCsv(query)} />}
    >
      <div className="filters">
        <FilterSelect label="Period" value={period} onChange={(value) => set('period', value)} options={periods} />
        {period === 'own' && (
          <>
            <FilterDay label="From" value={from} onChange={(value) => set('from', value)} />
            <FilterDay label="To" value={to} onChange={(value) => set('to', value)} />
          </>
        )}
        <FilterSelect label="Group" value={filters.group} onChange={(value) => set('group', value)} options={groups} />
        <FilterSelect
          label="Mode"
          value={test}
          onChange={(value) => set('test', value)}
          options={[
            ['', 'Live'],
            ['yes', 'Test mode'],
          ]}
        />
        {account && (
          <Button kind="quiet" onClick={() => set('account', '')}>
            Only {account} ✕
          </Button>
        )}
      </div>
      <Loaded call={usage}>
        {({ data, total, group: shown }) => (
          <>
            <Totals of={total} />
            {isByTime && shown === group && data.length > 0 && (
              <Chart
                label={`Messages by ${group}`}
                times={data.map(({ day, month }) => Date.parse(day ?? month ?? ''))}
                lines={outcomeLines(data)}
                zone="UTC"
                isStacked
              />
            )}
            <Section>
              <UsageTable lines={data} groups={shown.split(',')} total={total.messages} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const Totals = ({ of }: { of: Operations['getUsage']['answer']['total'] }) => (
  <Figures>
    <Figure value={formatNumber(of.messages)} label="messages" />
    <Figure value={formatNumber(of.delivered)} label="delivered" tone="good" />
    <Figure value={formatNumber(of.queued + of.sent)} label="on their way" />
    <Figure value={formatNumber(of.failed)} label="failed" {...(of.failed > 0 && { tone: 'bad' })} />
    <Figure value={formatNumber(of.unconfirmed)} label="unconfirmed" {...(of.unconfirmed > 0 && { tone: 'warning' })} />
    <Figure value={formatNumber(of.canceled)} label="canceled" />
    <Figure value={formatNumber(of.replies)} label="replies" />
    <Figure value={formatNumber(of.segments)} label="segments" />
    {of.cost.map(({ amount, currency }) => (
      <Figure key={currency} value={amount} label={`${currency}, estimated`} />
    ))}
  </Figures>
)

const saveCsv = (query: Operations['getUsage']['query']): Promise<void> =>
  download('getUsage', { query }, `usage-by-${query?.group?.replaceAll(',', '-') ?? 'day'}.csv`, {
    headers: { accept: 'text/csv' },
  })
