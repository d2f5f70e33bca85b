import { paint } from './output.ts'

const good = ['delivered', 'received', 'completed', 'bound', 'ok', 'active', 'opted_in', 'enabled']
const bad = [
  'undelivered',
  'rejected',
  'failed',
  'expired',
  'down',
  'failing',
  'gone',
  'disabled',
  'canceled',
  'opted_out',
]
const open = [
  'unconfirmed',
  'paused',
  'throttled',
  'degraded',
  'binding',
  'awaiting_approval',
  'completed_with_errors',
  'withdrawn',
]

/** Green for success, red for failure, yellow for attention. */
export function paintStatus(status: string): string {
  if (good.includes(status)) return paint('green', status)
  if (bad.includes(status)) return paint('red', status)
  return open.includes(status) ? paint('yellow', status) : status
}
