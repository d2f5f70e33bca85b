import type { Broadcast, Page } from '@heliogram/sdk'
import type { ReactNode } from 'react'
import { Badge, formatNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'

const tell = (count: number | undefined): string => (count === undefined ? '–' : formatNumber(count))

export const BroadcastTable = ({ page, empty }: { page: Page<Broadcast>; empty: ReactNode }) => (
  <>
    <Table
      label="Broadcasts"
      rows={page.data}
      keyOf={({ id }) => id}
      to={({ id }) => `/broadcasts/${id}`}
      columns={[
        { title: 'Ordered', cell: ({ created_at }) => <Time at={created_at} /> },
        {
          title: 'Status',
          cell: ({ status, send_at, send_at_local }) => (
            <>
              <Badge status={status} /> {status === 'scheduled' && (send_at_local ?? <Time at={send_at} />)}
            </>
          ),
        },
        { title: 'Text', isWide: true, cell: ({ message }) => message },
        { title: 'Recipients', isNumber: true, cell: ({ recipients }) => formatNumber(recipients) },
        { title: 'Delivered', isNumber: true, cell: ({ stats }) => tell(stats?.delivered) },
        { title: 'Failed', isNumber: true, cell: ({ stats }) => tell(stats?.failed) },
        { title: 'Replies', isNumber: true, cell: ({ stats }) => tell(stats?.replies) },
        { title: 'Opt-outs', isNumber: true, cell: ({ stats }) => tell(stats?.opt_outs) },
      ]}
      empty={empty}
    />
    <Pager page={page} />
  </>
)
