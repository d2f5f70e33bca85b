/** What waits for a person, by place: the numbers in the navigation. */
import { useCall } from '../api.ts'

interface Count {
  /** At most one page is counted: `50+`. */
  text: string
  /** What is counted, for screen readers. */
  of: string
}

const limit = 50
const everyMs = 60_000
/** A new reply is noticed sooner. */
const repliesEveryMs = 15_000

export function useCounts(): Partial<Record<string, Count>> {
  const side = { every: everyMs, isSide: true }
  const unread = useCall(
    'listConversations',
    { query: { unread: true, limit } },
    { every: repliesEveryMs, isSide: true },
  ).data
  const alerts = useCall('listAlerts', { query: { status: 'open' } }, side).data
  const suspected = useCall('listSuspectedOptOuts', { query: { limit } }, side).data
  const approvals = useCall('listAllBroadcasts', { query: { status: 'awaiting_approval', limit } }, side).data
  const webhooks = alerts?.data.filter(({ type }) => type.startsWith('webhook.'))
  return {
    Inbox: count(unread, 'unread'),
    Campaigns: count(approvals, 'to approve'),
    Audience: count(suspected, 'to decide'),
    Carriers: alerts && count({ data: alerts.data.filter((alert) => webhooks?.includes(alert) !== true) }, 'alerts'),
    Developers: webhooks && count({ data: webhooks }, 'alerts'),
  }
}

function count(page: { data: readonly unknown[]; has_more?: boolean } | undefined, of: string): Count | undefined {
  const number = page?.data.length ?? 0
  return number === 0 ? undefined : { text: `${number}${page?.has_more === true ? '+' : ''}`, of }
}
