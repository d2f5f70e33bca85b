import type { Answer } from '@heliogram/sdk'
import type { Cli } from '../cli.ts'
import { note, say } from './output.ts'
import { sayTable } from './table.ts'
import { safeJson } from './text.ts'
import { localTime } from './times.ts'

type Told = Answer<'getUsage'> | Answer<'getCampaignStats'>

const counts = [
  'messages',
  'queued',
  'sent',
  'delivered',
  'failed',
  'unconfirmed',
  'canceled',
  'replies',
  'segments',
] as const
// The dimension of each row; of a campaign's segments, segments per message.
const dimensions = [
  'hour',
  'day',
  'month',
  'country',
  'carrier',
  'campaign',
  'type',
  'account',
  'error',
  'segments_per_message',
]

type Row = Record<string, unknown> & { cost: { amount: string; currency: string }[] }

export async function sayStats(cli: Cli, told: Told): Promise<void> {
  if (cli.isJson) return say(safeJson(told))
  // A series has every hour and day, also empty ones.
  const rows = (told.data as unknown as Row[]).filter(({ messages, replies }) => messages !== 0 || replies !== 0)
  if (rows.length === 0) return note(`Nothing was sent from ${localTime(told.from)} to ${localTime(told.to)}.`)
  const shown = dimensions.filter((name) => rows.some((row) => name in row))
  const total: Row = { ...told.total, [shown[0] ?? '']: 'all' }
  await sayTable(rows.length > 1 ? [...rows, total] : rows, [
    ...shown.map((name) => ({
      title: name.toUpperCase().replaceAll('_', ' '),
      of: (row: Row) => (row === total && name !== shown[0] ? '' : (row[name] as string | null)),
    })),
    ...counts.map((name) => ({
      title: name.toUpperCase(),
      isExtra: !['messages', 'delivered', 'failed'].includes(name),
      of: (row: Row) => row[name] as number,
      isNumber: true,
    })),
    {
      title: 'COST',
      of: ({ cost }: Row) => cost.map(({ amount, currency }) => `${amount} ${currency}`).join(' + '),
      isNumber: true,
    },
  ])
}
