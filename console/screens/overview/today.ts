/** Today and yesterday on the account's clock, by the hours in which messages were accepted. */
import type { Operations } from '@heliogram/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import { useCall, useZone } from '../../api.ts'
import { useMay } from '../../kit/may.tsx'
import { startOfDay } from './day.ts'

type Usage = Operations['getUsage']['answer']

export interface Day {
  today: Usage['total']
  countries: Usage['data']
  yesterday: Usage['total'] | undefined
  /** The start of today, in milliseconds since 1970. */
  since: number
}

export const failedStatuses = 'failed,undelivered,rejected,expired'

/** Undefined without access to counts, and until they are there. */
export function useDay(): { day: Day | undefined; call: UseQueryResult<Usage> } {
  const zone = useZone()
  const isClockKnown = !useMay('getSettings') || zone !== undefined
  const enabled = useMay('getUsage') && isClockKnown
  const since = startOfDay(zone, Date.now())
  const from = new Date(since).toISOString()
  const call = useCall('getUsage', { query: { from, group: 'country' } }, { every: 15_000, enabled })
  const before = useCall(
    'getUsage',
    { query: { from: new Date(startOfDay(zone, Date.now(), 1)).toISOString(), to: from, group: 'type' } },
    { every: 120_000, enabled },
  )
  const day = call.data && { today: call.data.total, countries: call.data.data, yesterday: before.data?.total, since }
  return { day, call }
}
