import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { readPast } from '../input/moments.ts'
import { sayStats } from '../terminal/stats.ts'

interface UsageOptions {
  group: string
  since?: string
  until?: string
  account?: string
  test?: true
}

export function build(cli: Cli): Command {
  return new Command('usage')
    .option('--group <by>', 'day, month, country, carrier, campaign, type, account; up to four, with commas', 'day')
    .option('--since <time>', 'from the hour of this time on: 7d, 2026-11-01', readPast)
    .option('--until <time>', 'to this time', readPast)
    .option('--account <account>', 'of an account below yours')
    .option('--test', 'messages sent in test mode')
    .action(async ({ group, since, until, account, test }: UsageOptions) => {
      await sayStats(cli, await cli.call('getUsage', { query: { group, from: since, to: until, account, test } }))
    })
}
