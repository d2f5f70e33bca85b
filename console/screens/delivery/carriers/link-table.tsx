/** The links of all processes, at most a few seconds old. */
import type { ReactNode } from 'react'
import type { Carrier, Link } from '@heliogram/sdk'
import { Link as Address } from 'wouter'
import { tellLinkError } from '../../../kit/link-error.ts'
import { Badge, formatNumber, Time } from '../../../kit/show.tsx'
import { Table, type Column } from '../../../kit/table.tsx'

interface Row {
  carrier: Carrier
  link: Link
}

const columns: Column<Row>[] = [
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
  {
    title: 'In flight',
    isNumber: true,
    cell: ({ link }) => (
      <span title="Unanswered submits, of those that there may be">
        {formatNumber(link.in_flight)} of {formatNumber(link.window)}
      </span>
    ),
  },
  {
    title: 'Rate',
    isNumber: true,
    cell: ({ link }) => (
      <span title="Segments a second over the last minute, of what is allowed now">
        {formatNumber(link.rate_1m)} of {formatNumber(link.pace)}/s
      </span>
    ),
  },
  {
    title: 'Answers in',
    isNumber: true,
    cell: ({ link: { response } }) =>
      response ? (
        <span title={`p50 ${response.p50_ms}, p95 ${response.p95_ms}, p99 ${response.p99_ms} ms of ${response.count}`}>
          {response.p50_ms} · {response.p95_ms} ms
        </span>
      ) : (
        '–'
      ),
  },
  { title: 'Heartbeat', cell: ({ link }) => <Time at={link.last_enquire_link_at} /> },
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

/** `isOfOne`: links of one carrier; otherwise rows link to their carriers. */
export function LinkTable({
  label,
  rows,
  isOfOne = false,
  empty,
}: {
  label: string
  rows: readonly Row[]
  isOfOne?: boolean
  empty: ReactNode
}) {
  const keyOf = ({ link }: Row) => link.id
  const numberOf = ({ link }: Row) => (
    <span title={link.id}>Link {rows.findIndex((row) => row.link.id === link.id) + 1}</span>
  )
  return isOfOne ? (
    <Table
      label={label}
      rows={rows}
      keyOf={keyOf}
      columns={[{ title: 'Link', cell: numberOf }, ...columns]}
      empty={empty}
    />
  ) : (
    <Table
      label={label}
      rows={rows}
      keyOf={keyOf}
      to={({ carrier }) => `/carriers/${carrier.id}`}
      columns={[{ title: 'Carrier', cell: ({ carrier }) => carrier.name }, ...columns]}
      empty={empty}
    />
  )
}

/** The last error, below the state because carriers' texts can be long. */
function LastError({ of: { last_error, last_error_at } }: { of: Link }) {
  if (last_error === null) return null
  return (
    <span className="note">
      {tellLinkError(last_error)}, <Time at={last_error_at} />
    </span>
  )
}
