/** Links to carriers: how full, how fast, and what they did in the last half hour. */
import type { Link as LinkOf, Summary } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall } from '../../api.ts'
import { LinkButton } from '../../kit/button.tsx'
import { tellStep } from '../../kit/chart-times.ts'
import { Empty, Section } from '../../kit/page.tsx'
import { Gauge, StateStrip, type Cell } from '../../kit/pictures.tsx'
import { Table } from '../../kit/table.tsx'
import { Badge, formatNumber } from '../../kit/show.tsx'
import { useZone } from './today.ts'

const minutes = 30
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
            cell: ({ link }) => <Gauge label="Window in use" value={link.in_flight} max={link.window} />,
          },
          {
            title: 'Rate',
            cell: ({ link }) => (
              <Gauge label="Segments a second" value={link.rate_1m} max={link.pace}>
                {formatNumber(link.rate_1m)} / {formatNumber(link.pace)} per s
              </Gauge>
            ),
          },
          {
            title: 'p50 · p95',
            isNumber: true,
            cell: ({ link: { response } }) =>
              response && `${formatNumber(response.p50_ms)} · ${formatNumber(response.p95_ms)} ms`,
          },
        ]}
        empty={
          <Empty
            title="No carriers yet"
            action={
              <LinkButton to="/carriers/new" does="createCarrier">
                Add a carrier
              </LinkButton>
            }
          >
            A carrier takes messages to phones, over SMPP or HTTP.
          </Empty>
        }
      />
    </Section>
  )
}

function Strip({ link }: { link: LinkOf }) {
  const zone = useZone()
  // Of ten minutes, so that the address stays the same for a while.
  const since = new Date(Math.floor(Date.now() / 600_000 - minutes / 10) * 600_000).toISOString()
  const { data } = useCall('getSeries', { query: { by: 'link', id: link.id, step: '1m', since } }, { every: 60_000 })
  const last = (name: 'sent' | 'failed' | 'throttled') => data?.counts[name]?.slice(-minutes) ?? []
  const [sent, failed, throttled] = [last('sent'), last('failed'), last('throttled')]
  const cells = sent.map((count, n): Cell => {
    const [refused, slowed] = [failed[n] ?? 0, throttled[n] ?? 0]
    const isLast = n === sent.length - 1
    const time = tellStep(Date.parse(data?.until ?? '') - (sent.length - n) * 60_000, 30_000, zone)
    return {
      colour: colourOf(count, refused, slowed, isLast ? link.state : null),
      title: `${time}: ${formatNumber(count)} sent, ${formatNumber(refused)} failed, ${formatNumber(slowed)} throttled`,
    }
  })
  const sum = (values: readonly number[]): string => formatNumber(values.reduce((all, one) => all + one, 0))
  return (
    <StateStrip
      summary={`Last ${minutes} minutes: ${sum(sent)} sent, ${sum(failed)} failed, ${sum(throttled)} throttled`}
      cells={cells}
    />
  )
}

/** `state`: in the present minute. */
function colourOf(sent: number, failed: number, throttled: number, state: LinkOf['state'] | null): Cell['colour'] {
  if (state === 'down') return 'bad'
  if (throttled > 0 || failed > sent) return 'warning'
  return sent > 0 || state === 'bound' ? 'good' : 'neutral'
}
