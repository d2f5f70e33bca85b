/** The links of all processes, at most a few seconds old. */
import type { ReactNode } from 'react'
import type { Carrier, Link } from '@heliogram/sdk'
import { Link as Address } from 'wouter'
import { tellLinkError } from '../../../kit/link-error.ts'
import { RateGauge, WindowGauge } from '../../../kit/link-pictures.tsx'
import { Badge, formatNumber, Time } from '../../../kit/show.tsx'
import { Table, type Column } from '../../../kit/table.tsx'

interface Row {
  carrier: Carrier
  link: Link
}

const columns: Column<Row>[] = [
  { title: 'Carrier', cell: ({ carrier }) => carrier.name },
  {
    title: 'State',
    cell: ({ link }) => (
      <>
        <Badge status={link.state} />
        <LastError of={link} />
      </>
    ),
  },
  { title: 'Sessions', isNumber: true, cell: ({ link }) => formatNumber(link.sessions) },
  { title: 'Window', cell: ({ link }) => <WindowGauge of={link} /> },
  { title: 'Rate', cell: ({ link }) => <RateGauge of={link} /> },
  {
    title: 'Response p50 · p95',
    isNumber: true,
    cell: ({ link: { response } }) =>
      response ? `${formatNumber(response.p50_ms)} · ${formatNumber(response.p95_ms)} ms` : '–',
  },
  {
    title: 'Unmatched',
    isNumber: true,
    cell: ({ link }) =>
      link.unmatched_receipts === 0 ? (
        '0'
      ) : (
        <Address href={`/carriers/${link.carrier}/receipts`} title="Receipts whose message is not known (yet)">
          {formatNumber(link.unmatched_receipts)}
        </Address>
      ),
  },
]

/** Links of all carriers. */
export const LinkTable = ({ label, rows, empty }: { label: string; rows: readonly Row[]; empty: ReactNode }) => (
  <Table
    label={label}
    rows={rows}
    keyOf={({ link }) => link.id}
    to={({ carrier }) => `/carriers/${carrier.id}`}
    columns={columns}
    empty={empty}
  />
)

/** The last error, below the state because carriers' texts can be long. */
function LastError({ of: { last_error, last_error_at } }: { of: Link }) {
  if (last_error === null) return null
  return (
    <span className="note">
      {tellLinkError(last_error)}, <Time at={last_error_at} />
    </span>
  )
}
