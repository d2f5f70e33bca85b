/** Links to carriers: how full, how fast, and what they did in the last half hour. */
import type { Link as LinkOf, Summary } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall, useZone } from '../../api.ts'
import { halfHourOf, LinkStrip, minutes, RateGauge, WindowGauge } from '../../kit/link-pictures.tsx'
import { NoCarriers } from '../../kit/no-carriers.tsx'
import { Section } from '../../kit/page.tsx'
import { Table } from '../../kit/table.tsx'
import { Badge, formatNumber } from '../../kit/show.tsx'

// Each asks for itself.
const stripsMax = 12

export function Links({ carriers }: { carriers: NonNullable<Summary['carriers']> }) {
  const rows = carriers.flatMap((carrier) => carrier.links.map((link) => ({ carrier, link })))
  return (
    <Section title="Carriers" actions={<Link href="/carriers">All carriers</Link>}>
      <Table
        label="Carriers"
        rows={rows}
        keyOf={({ link }) => link.id}
        to={({ carrier }) => `/carriers/${carrier.id}`}
        columns={[
          { title: 'Carrier', cell: ({ carrier }) => carrier.name },
          { title: 'State', cell: ({ link }) => <Badge status={link.state} /> },
          {
            title: `Last ${minutes} min`,
            cell: ({ link }) => rows.length <= stripsMax && <Strip link={link} />,
          },
          {
            title: 'Window',
            cell: ({ link }) => <WindowGauge of={link} />,
          },
          {
            title: 'Rate',
            cell: ({ link }) => <RateGauge of={link} />,
          },
          {
            title: 'p50 · p95',
            isNumber: true,
            cell: ({ link: { response } }) =>
              response && `${formatNumber(response.p50_ms)} · ${formatNumber(response.p95_ms)} ms`,
          },
        ]}
        empty={<NoCarriers />}
      />
    </Section>
  )
}

function Strip({ link }: { link: LinkOf }) {
  const zone = useZone()
  const { data } = useCall('getSeries', { query: halfHourOf(link) }, { every: 60_000 })
  return <LinkStrip link={link} series={data} zone={zone} />
}
