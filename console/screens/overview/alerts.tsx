/** What is wrong right now, in front of everything else; nothing where nothing is. */
import { useCall } from '../../api.ts'
import { PhoneNumber, Time } from '../../kit/show.tsx'
import type { Alert } from '@heliogram/sdk'
import type { ReactElement } from 'react'

export function AlertList() {
  const { data } = useCall('listAlerts', { query: { status: 'open' } }, { every: 10_000 })
  if (!data || data.data.length === 0) return null
  return (
    <div className="problem" role="alert">
      <ul>
        {data.data.map((alert) => (
          <li key={alert.id}>
            {sentences[alert.type](alert)}{' '}
            <span className="small">
              since <Time at={alert.opened_at} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** What each kind of alert says. */
const sentences: Record<Alert['type'], (alert: Alert) => ReactElement> = {
  'link.down': ({ carrier, last_error }) => (
    <>
      <strong>A link to {carrier?.name ?? 'a carrier'} is down.</strong> {last_error}
    </>
  ),
  'link.throttled': ({ carrier, pace, allowed_pace }) => (
    <>
      <strong>{carrier?.name ?? 'A carrier'} throttles a link:</strong> {allowed_pace} of {pace} segments a second.
    </>
  ),
  'sender.degraded': ({ sender, delivered, failed }) => (
    <>
      <strong>
        Messages from <PhoneNumber of={sender} /> seldom arrive:
      </strong>{' '}
      {delivered} delivered, {failed} failed.
    </>
  ),
  'webhook.disabled': ({ reason }) => (
    <>
      <strong>A webhook was disabled:</strong>{' '}
      {reason === 'gone' ? 'it answered 410.' : 'it has only failed for five days.'}
    </>
  ),
}
