import type { Operations } from '@heliogram/sdk'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { Empty } from '../../../kit/page.tsx'
import { formatNumber, None, Progress } from '../../../kit/show.tsx'
import { tellCountry } from '../../../kit/country.ts'
import { Table, type Column } from '../../../kit/table.tsx'

type UsageLine = Operations['getUsage']['answer']['data'][number]

interface UsageTableProps {
  lines: readonly UsageLine[]
  groups: readonly string[]
  /** Messages of all lines. */
  total: number
}

const keys = ['day', 'month', 'country', 'carrier', 'campaign', 'type', 'account'] as const
type Key = (typeof keys)[number]

const titles: Record<Key, string> = {
  day: 'Day',
  month: 'Month',
  country: 'Country',
  carrier: 'Carrier',
  campaign: 'Campaign',
  type: 'Type',
  account: 'Account',
}

const nothing: Partial<Record<Key, string>> = { country: 'No country', carrier: 'No carrier', campaign: 'No campaign' }

export function UsageTable({ lines, groups, total }: UsageTableProps) {
  const shown = keys.filter((key) => groups.includes(key))
  const names = useNames(shown)
  const cell = (key: Key, value: string | null | undefined): ReactNode => {
    if (value === null || value === undefined) return <span className="none">{nothing[key] ?? '–'}</span>
    if (key === 'country') return `${tellCountry(value)} (${value})`
    if (key === 'carrier') return <Link href={`/carriers/${value}`}>{names.get(value) ?? value}</Link>
    if (key === 'campaign') return <Link href={`/campaigns/${value}`}>{names.get(value) ?? value}</Link>
    return names.get(value) ?? value
  }
  const isByTime = shown.every((key) => key === 'day' || key === 'month')
  const rows = isByTime ? lines.toReversed() : lines
  const columns: Column<UsageLine>[] = [
    ...shown.map((key): Column<UsageLine> => ({ title: titles[key], cell: (line) => cell(key, line[key]) })),
    ...(isByTime
      ? []
      : [
          {
            title: 'Share',
            cell: ({ messages }: UsageLine) => <Progress done={messages} of={total} label="Share of all messages" />,
          },
        ]),
    { title: 'Messages', isNumber: true, cell: ({ messages }) => formatNumber(messages) },
    { title: 'Delivered', isNumber: true, cell: ({ delivered }) => formatNumber(delivered) },
    { title: 'On their way', isNumber: true, cell: ({ queued, sent }) => formatNumber(queued + sent) },
    { title: 'Failed', isNumber: true, cell: ({ failed }) => formatNumber(failed) },
    { title: 'Unconfirmed', isNumber: true, cell: ({ unconfirmed }) => formatNumber(unconfirmed) },
    { title: 'Replies', isNumber: true, cell: ({ replies }) => formatNumber(replies) },
    { title: 'Segments', isNumber: true, cell: ({ segments }) => formatNumber(segments) },
    {
      title: 'Cost, estimated',
      isNumber: true,
      cell: ({ cost }) =>
        cost.length === 0 ? <None /> : cost.map(({ amount, currency }) => `${amount} ${currency}`).join(', '),
    },
  ]
  return (
    <Table
      label="Usage"
      rows={rows}
      keyOf={(line) => shown.map((key) => line[key]).join()}
      columns={columns}
      empty={<Empty title="Nothing was sent">Messages of this time appear here as soon as they are accepted.</Empty>}
    />
  )
}

/** Names of carriers, campaigns and accounts by id, as far as the login may read them. */
function useNames(shown: readonly Key[]): Map<string, string> {
  const query = { limit: 200 }
  const carriers = useCall('listCarriers', {}, { isSide: true, enabled: shown.includes('carrier') })
  const campaigns = useCall('listCampaigns', { query }, { enabled: shown.includes('campaign') })
  const accounts = useCall('listAccounts', { query }, { isSide: true, enabled: shown.includes('account') })
  const settings = useCall('getSettings', {}, { enabled: shown.includes('account') })
  const named = [
    ...(carriers.data?.data ?? []),
    ...(campaigns.data?.data ?? []),
    ...(accounts.data?.data ?? []),
    ...(settings.data ? [settings.data.account] : []),
  ]
  return new Map(named.map(({ id, name }) => [id, name]))
}
