import type { Carrier } from '@heliogram/sdk'
import { lazy, Suspense } from 'react'
import { Allowed } from '../../../kit/may.tsx'
import { loadPart } from '../../../kit/outdated.ts'
import { Loading, Section } from '../../../kit/page.tsx'
import { Copy, Facts, formatNumber, Time, tellCount } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { formatLatency } from '../format.ts'
import { LinkPanel } from './link-panel.tsx'
import { CarrierQueue } from './queue.tsx'

// With the charts, which are large.
const Traffic = lazy(() => loadPart(() => import('./traffic.tsx')))

export function NowPart({ carrier }: { carrier: Carrier }) {
  const { latency, inbound } = carrier
  return (
    <>
      <div className="link-panels">
        {carrier.links.map((link, n) => (
          <LinkPanel key={link.id} carrier={carrier} link={link} name={`Link ${n + 1}`} />
        ))}
      </div>
      <Allowed to="getSeries">
        <Suspense fallback={<Loading />}>
          <Traffic carrier={carrier} />
        </Suspense>
      </Allowed>
      {inbound && (
        <Section title="Set these addresses at the carrier">
          <Facts
            facts={[
              ['Receipts go to', inbound.receipts_url && <Copy key="receipts" text={inbound.receipts_url} />],
              ['Replies go to', inbound.replies_url && <Copy key="replies" text={inbound.replies_url} />],
              ['Refused', `${tellCount(inbound.refused, 'request')} with a wrong signature or an unreadable body`],
            ]}
          />
          <p className="hint">
            Anyone who knows these addresses can pose as the carrier, so only people who may change the carrier see
            them. To replace them, change the version of the addresses in the settings.
          </p>
        </Section>
      )}
      <CarrierQueue queue={carrier.queue} />
      {latency.countries.length > 0 && (
        <Section title="Latency by country" note="last 10 minutes">
          <Table
            label="Latency by country"
            rows={latency.countries}
            keyOf={({ country }) => country}
            columns={[
              { title: 'Country', cell: ({ country }) => country },
              { title: 'Response (p50 · p95 · p99)', isNumber: true, cell: ({ response }) => formatLatency(response) },
              { title: 'Receipt (p50 · p95 · p99)', isNumber: true, cell: ({ receipt }) => formatLatency(receipt) },
              {
                title: 'Receipts',
                isNumber: true,
                cell: ({ receipt }) => (receipt ? formatNumber(receipt.count) : '–'),
              },
            ]}
            empty={null}
          />
        </Section>
      )}
      <Section title="Details">
        <Facts
          facts={[
            ['ID', <Copy key="id" text={carrier.id} />],
            ['Pace', `${tellCount(carrier.pace, 'segment')} per second and link`],
            ['Priority', `${carrier.priority} (lower is used first)`],
            ['Secrets', carrier.has_password ? 'stored' : 'none'],
            ['Added', <Time key="created" at={carrier.created_at} />],
            ['Updated', <Time key="updated" at={carrier.updated_at} />],
          ]}
        />
      </Section>
    </>
  )
}
