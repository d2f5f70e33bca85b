/** Broadcasts side by side: shares of their messages, so that large and small ones compare. */
import type { Broadcast } from '@heliogram/sdk'
import type { ReactNode } from 'react'
import { formatShare } from '../../../kit/format.ts'
import { Badge, formatNumber, Time } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { titleOf } from './title.ts'

interface BroadcastTableProps {
  rows: readonly Broadcast[]
  /** The broadcast whose page this is. */
  here?: string
  /** Names of campaigns, if the list has several. */
  campaigns?: ReadonlyMap<string, string>
  empty: ReactNode
}

type Stats = NonNullable<Broadcast['stats']>

export function BroadcastTable({ rows, here, campaigns, empty }: BroadcastTableProps) {
  const share = (title: string, countOf: (stats: Stats) => number) => ({
    title,
    isNumber: true,
    cell: ({ stats, messages }: Broadcast) =>
      stats &&
      messages > 0 && <span title={formatNumber(countOf(stats))}>{formatShare(countOf(stats), messages)}</span>,
  })
  const hasClicks = rows.some(({ stats }) => (stats?.clicks ?? 0) > 0)
  return (
    <Table
      label="Broadcasts"
      rows={rows}
      keyOf={({ id }) => id}
      to={({ id }) => `/broadcasts/${id}`}
      columns={[
        {
          title: 'Broadcast',
          cell: ({ id, message }) => `${titleOf(message)}${id === here ? ' (this one)' : ''}`,
        },
        ...(campaigns ? [{ title: 'Campaign', cell: ({ campaign }: Broadcast) => campaigns.get(campaign) }] : []),
        {
          title: 'Status',
          cell: ({ status, send_at, send_at_local }) => (
            <>
              <Badge status={status} /> {status === 'scheduled' && (send_at_local ?? <Time at={send_at} />)}
            </>
          ),
        },
        { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
        { title: 'Recipients', isNumber: true, cell: ({ recipients }) => formatNumber(recipients) },
        share('Delivered', ({ delivered }) => delivered),
        share('Failed', ({ failed }) => failed),
        ...(hasClicks ? [share('Clicked', ({ clicks }) => clicks)] : []),
        share('Replied', ({ replies }) => replies),
        share('Opted out', ({ opt_outs }) => opt_outs),
      ]}
      empty={empty}
    />
  )
}
