/** What waits for a person, by place: the numbers in the navigation. */
import { useCall } from '../api.ts'

interface Count {
  number: number
  /** What is counted, for screen readers. */
  of: string
}

const everyMs = 10_000

/** The place for each kind of attention, by the first word of its type. */
const places: Record<string, string> = {
  broadcast: 'Campaigns',
  guard: 'Carriers',
  link: 'Carriers',
  message: 'Messages',
  opt_out: 'Audience',
  reply: 'Carriers',
  sender: 'Carriers',
  webhook: 'Developers',
}

export function useCounts(): Partial<Record<string, Count>> {
  const { data } = useCall('getSummary', {}, { every: everyMs, isSide: true })
  const counts: Partial<Record<string, Count>> = {}
  for (const { type, count } of data?.attention ?? []) {
    const place = places[type.split('.')[0] ?? '']
    if (place !== undefined)
      counts[place] = { number: (counts[place]?.number ?? 0) + (count ?? 1), of: 'need attention' }
  }
  const unread = data?.unread_conversations ?? 0
  if (unread > 0) counts['Inbox'] = { number: unread, of: 'unread' }
  return counts
}
