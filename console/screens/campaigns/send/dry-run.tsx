import type { Operations } from '@heliogram/sdk'
import { download } from '../../../api.ts'
import { Section } from '../../../kit/page.tsx'
import { Facts, Figure, Figures, formatNumber, PhoneNumber, tellCount } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { DownloadButton } from '../../../kit/task.tsx'
import type { Order } from './draft.ts'

export type DryRun = Extract<Operations['sendCampaign']['answer'], { object: 'dry_run' }>

interface DryRunProps {
  result: DryRun
  /** The draft has changed since. */
  isStale: boolean
  campaign: string
  order: Order
}

export function DryRunResult({ result, isStale, campaign, order }: DryRunProps) {
  const { recipients, messages, segments, encodings, cost, skipped, skips, sample, segments_max: most } = result
  return (
    <section aria-label="What it would be">
      {isStale && <p className="notice">The order was changed since: look again.</p>}
      <Figures>
        <Figure value={formatNumber(recipients)} label="recipients" />
        <Figure value={formatNumber(messages)} label="messages" tone="good" />
        <Figure value={formatNumber(segments)} label="segments" />
        {cost.map(({ amount, currency }) => (
          <Figure key={currency} value={amount} label={`${currency}, estimated`} />
        ))}
      </Figures>
      {sample !== null && (
        <Section title="For the first recipient">
          <p className="sample">{sample}</p>
        </Section>
      )}
      <Section title="In numbers">
        <Facts
          facts={[
            ['Longest message', tellCount(most, 'segment')],
            ['In GSM-7', encodings['GSM-7'] > 0 ? formatNumber(encodings['GSM-7']) : null],
            ['In UCS-2', encodings['UCS-2'] > 0 ? formatNumber(encodings['UCS-2']) : null],
            ...(cost.length === 0 ? [['Cost', 'no prices are known'] as const] : []),
            ...Object.entries(skipped).map(
              ([reason, count]) => [`Passed over: ${reason.replaceAll('_', ' ')}`, formatNumber(count)] as const,
            ),
          ]}
        />
      </Section>
      {skips.length > 0 && <Skips skips={skips} campaign={campaign} order={order} />}
    </section>
  )
}

function Skips({ skips, campaign, order }: Pick<DryRunProps, 'campaign' | 'order'> & Pick<DryRun, 'skips'>) {
  const request = { path: { campaign }, body: { ...order, dry_run: true } }
  const asCsv = { headers: { accept: 'text/csv' } }
  return (
    <Section
      title={skips.length < 100 ? 'Passed over' : 'Passed over: the first 100'}
      actions={
        <DownloadButton
          does="sendCampaign"
          label="Download all as CSV"
          onDownload={() => download('sendCampaign', request, `passed-over-${campaign}.csv`, asCsv)}
        />
      }
    >
      <Table
        label="Passed over"
        rows={skips}
        keyOf={({ contact }) => contact}
        to={({ contact }) => `/campaigns/${campaign}/contacts/${contact}`}
        columns={[
          { title: 'Number', cell: ({ phone_number }) => <PhoneNumber of={phone_number} /> },
          { title: 'Reason', cell: ({ reason }) => <code>{reason}</code> },
          { title: 'Why', isWide: true, cell: ({ detail }) => <span className="wrap">{detail}</span> },
        ]}
        empty={null}
      />
    </Section>
  )
}
