/** Outcomes of a campaign's messages: by hour as bars, and by country, carrier, error or segments as a table. */
import type { Operations } from '@heliogram/sdk'
import { download, useCall } from '../../../api.ts'
import { Chart } from '../../../kit/chart.tsx'
import { outcomeLines } from '../../../kit/outcome-lines.ts'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { formatNumber, Money } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { DownloadButton } from '../../../kit/task.tsx'
import { oneOf } from '../../../kit/typed.ts'

type Line = Operations['getCampaignStats']['answer']['data'][number]

const groups = [
  ['country', 'By country', 'Country'],
  ['carrier', 'By carrier', 'Carrier'],
  ['error', 'By error', 'Error'],
  ['segments', 'By segments', 'Segments each'],
] as const

export function Breakdown({ campaign }: { campaign: string }) {
  const hours = useCall('getCampaignStats', { path: { campaign }, query: { group: 'hour' } }, { every: 5000 })
  return (
    <>
      <Loaded call={hours}>
        {({ data }) =>
          // One hour shows no course.
          data.length > 1 && (
            <Section title="By hour">
              <Chart
                label="Messages by the hour in which they were accepted"
                times={data.map(({ hour }) => Date.parse(hour ?? ''))}
                lines={outcomeLines(data)}
                isStacked
              />
            </Section>
          )
        }
      </Loaded>
      <ByGroup campaign={campaign} />
    </>
  )
}

function ByGroup({ campaign }: { campaign: string }) {
  const { filters, set } = useFilters(['group'])
  const kinds = groups.map(([name]) => name)
  const group = oneOf(kinds, filters.group ?? '', 'country')
  const stats = useCall('getCampaignStats', { path: { campaign }, query: { group } }, { every: 5000 })
  // Without access to carriers, their ids are shown.
  const carriers = useCall('listCarriers', {}, { isSide: true, enabled: group === 'carrier' })
  const names = new Map(carriers.data?.data.map(({ id, name }) => [id, name]))
  return (
    <Section
      title="Breakdown"
      actions={
        <>
          <select aria-label="Group by" value={group} onChange={(event) => set('group', event.target.value)}>
            {groups.map(([value, title]) => (
              <option key={value} value={value}>
                {title}
              </option>
            ))}
          </select>
          <DownloadButton
            does="exportCampaignStats"
            label="Export CSV"
            onDownload={() => download('exportCampaignStats', { path: { campaign } }, `stats-${campaign}.csv`)}
          />
        </>
      }
    >
      <Loaded call={stats}>
        {({ data, group: shown }) => (
          <Table
            label="Results of messages"
            rows={data}
            keyOf={(line) => keyOf(line)}
            {...(shown === 'error' && {
              to: ({ error }: Line) => `/messages?campaign=${campaign}${error ? `&error_code=${error}` : ''}`,
            })}
            columns={[
              {
                title: groups.find(([name]) => name === shown)?.[2] ?? '',
                cell: (line) => names.get(line.carrier ?? '') ?? keyOf(line),
              },
              { title: 'Messages', isNumber: true, cell: ({ messages }) => formatNumber(messages) },
              { title: 'Queued', isNumber: true, cell: ({ queued }) => formatNumber(queued) },
              { title: 'Sent', isNumber: true, cell: ({ sent }) => formatNumber(sent) },
              { title: 'Delivered', isNumber: true, cell: ({ delivered }) => formatNumber(delivered) },
              { title: 'Failed', isNumber: true, cell: ({ failed }) => formatNumber(failed) },
              { title: 'Unconfirmed', isNumber: true, cell: ({ unconfirmed }) => formatNumber(unconfirmed) },
              { title: 'Canceled', isNumber: true, cell: ({ canceled }) => formatNumber(canceled) },
              { title: 'Segments', isNumber: true, cell: ({ segments }) => formatNumber(segments) },
              {
                title: 'Estimated cost',
                isNumber: true,
                cell: ({ cost }) =>
                  cost.length === 0 ? '–' : cost.map((one) => <Money key={one.currency} of={one} />),
              },
            ]}
            empty={
              <Empty title={shown === 'error' ? 'No failed or canceled messages' : 'No messages yet'}>
                Messages appear here as soon as they are accepted.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Section>
  )
}

function keyOf({ country, carrier, error, segments_per_message: segments }: Line): string {
  if (country !== undefined) return country ?? 'No country'
  if (carrier !== undefined) return carrier ?? 'No carrier'
  if (error !== undefined) return error ?? 'Canceled'
  return String(segments ?? '')
}
