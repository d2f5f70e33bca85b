import type { Carrier } from '@heliogram/sdk'
import { Empty, Section } from '../../../kit/page.tsx'
import { Copy, Facts, formatNumber, Time, tellCount } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { formatLatency } from '../format.ts'
import { LinkTable } from './link-table.tsx'
import { CarrierQueue } from './queue.tsx'

export function NowPart({ carrier }: { carrier: Carrier }) {
  const { latency, inbound } = carrier
  return (
    <>
      <LinkTable
        label="Links"
        isOfOne
        rows={carrier.links.map((link) => ({ carrier, link }))}
        empty={<Empty title="It has no links" />}
      />
      {inbound && (
        <Section title="To enter at the carrier">
          <Facts
            facts={[
              ['Receipts go to', inbound.receipts_url && <Copy key="receipts" text={inbound.receipts_url} />],
              ['Replies go to', inbound.replies_url && <Copy key="replies" text={inbound.replies_url} />],
              ['Refused', `${formatNumber(inbound.refused)} requests without a right signature, or not readable`],
            ]}
          />
          <p className="hint">
            Anyone who knows these addresses can pose as the carrier, so only people who can change the carrier see
            them. Another version of the addresses, in its settings, makes new ones.
          </p>
        </Section>
      )}
      <CarrierQueue queue={carrier.queue} />
      <Section title="How fast it is">
        <Table
          label="How fast it is"
          rows={[
            { country: 'All countries', response: latency.response, receipt: latency.receipt },
            ...latency.countries,
          ]}
          keyOf={({ country }) => country}
          columns={[
            { title: 'To', cell: ({ country }) => country },
            { title: 'Answers (p50 · p95 · p99)', isNumber: true, cell: ({ response }) => formatLatency(response) },
            { title: 'Receipts (p50 · p95 · p99)', isNumber: true, cell: ({ receipt }) => formatLatency(receipt) },
            {
              title: 'Receipts counted',
              isNumber: true,
              cell: ({ receipt }) => (receipt ? formatNumber(receipt.count) : '–'),
            },
          ]}
          empty={null}
        />
        <p className="hint">
          Over the last five to ten minutes: from a submit to its answer, and on to the last receipt.
        </p>
      </Section>
      <Section title="About it">
        <Facts
          facts={[
            ['Id', <Copy key="id" text={carrier.id} />],
            ['Pace', `${tellCount(carrier.pace, 'segment')} a second a link`],
            ['Priority', `${carrier.priority}, lower goes first`],
            ['Secrets', carrier.has_password ? 'stored' : 'none'],
            ['Added', <Time key="created" at={carrier.created_at} />],
            ['Changed', <Time key="updated" at={carrier.updated_at} />],
          ]}
        />
      </Section>
    </>
  )
}
