import { useCall } from '../../../api.ts'
import { Section } from '../../../kit/page.tsx'
import { Copy, formatNumber, Time } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'

export function MessageLinks({ id, live }: { id: string; live: { every?: number } }) {
  // Clicks come long after the end, so polling continues slowly.
  const { data } = useCall('listMessageLinks', { path: { id } }, { every: 10_000, ...live })
  if (!data || data.data.length === 0) return null
  return (
    <Section title="Short links">
      <Table
        label="Short links"
        rows={data.data}
        keyOf={({ short_url, url }) => `${short_url} ${url}`}
        columns={[
          {
            title: 'Short link',
            cell: ({ short_url }) => (short_url ? <Copy text={short_url} /> : <span className="none">hidden</span>),
          },
          { title: 'Address', isWide: true, cell: ({ url }) => url ?? <span className="none">hidden</span> },
          { title: 'Clicks', isNumber: true, cell: ({ clicks }) => formatNumber(clicks) },
          { title: 'Bot clicks', isNumber: true, cell: ({ bot_clicks: bots }) => formatNumber(bots) },
          { title: 'First click', cell: ({ first_clicked_at: at }) => <Time at={at} /> },
          { title: 'Last click', cell: ({ last_clicked_at: at }) => <Time at={at} /> },
        ]}
        empty={null}
      />
    </Section>
  )
}
