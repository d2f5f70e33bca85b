/** What is wrong right now, in front of everything else; nothing where nothing is. */
import { useCall } from '../../api.ts'
import { PhoneNumber, Time } from '../../kit/show.tsx'
import type { Alert } from '@heliogram/sdk'
import type { ReactElement } from 'react'

export function AlertList() {
  const { data } = useCall('listAlerts', { query: { status: 'open' } }, { every: 5000 })
  if (!data || data.data.length === 0) return null
  return (
    <div className="problem" role="alert">
      <ul>
        {data.data.map((alert) => (
          <li key={alert.id}>
            <Sentence of={alert} />{' '}
            <span className="small">
              since <Time at={alert.opened_at} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  )
}

function Sentence({
  of: { type, carrier, sender, last_error, pace, allowed_pace, delivered, failed, reason },
}: {
  of: Alert
}): ReactElement {
  switch (type) {
    case 'link.down':
      return (
        <>
          <strong>A link to {carrier?.name ?? 'a carrier'} is down.</strong> {last_error}
        </>
      )
    case 'link.throttled':
      return (
        <>
          <strong>{carrier?.name ?? 'A carrier'} throttles a link:</strong> {allowed_pace} of {pace} segments a second.
        </>
      )
    case 'sender.degraded':
      return (
        <>
          <strong>
            Messages from <PhoneNumber of={sender} /> seldom arrive:
          </strong>{' '}
          {delivered} delivered, {failed} failed.
        </>
      )
    case 'webhook.disabled':
      return (
        <>
          <strong>A webhook was disabled:</strong>{' '}
          {reason === 'gone' ? 'it answered 410.' : 'it has only failed for five days.'}
        </>
      )
  }
}
