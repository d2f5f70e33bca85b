/** What is wrong right now, in front of everything else; nothing where nothing is. */
import type { Alert } from '@heliogram/sdk'
import type { ReactElement } from 'react'
import { Link } from 'wouter'
import { useCall } from '../../api.ts'
import { tellLinkError } from '../../kit/link-error.ts'
import { useMay } from '../../kit/may.tsx'
import { PhoneNumber, Time } from '../../kit/show.tsx'

export function AlertList() {
  const { data } = useCall('listAlerts', { query: { status: 'open' } }, { every: 10_000 })
  if (!data || data.data.length === 0) return null
  return (
    <div className="problem" role="alert">
      <ul className={data.data.length === 1 ? 'one' : undefined}>
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

/** What each kind of alert says, and where one sees to it. */
const sentences: Record<Alert['type'], (alert: Alert) => ReactElement> = {
  'link.down': ({ carrier, last_error }) => (
    <>
      <strong>
        A link to <CarrierLink of={carrier} /> is down.
      </strong>{' '}
      {last_error && `${tellLinkError(last_error)},`}
    </>
  ),
  'link.throttled': ({ carrier, pace, allowed_pace }) => (
    <>
      <strong>
        A link to <CarrierLink of={carrier} /> is throttled:
      </strong>{' '}
      {allowed_pace} of {pace} segments a second,
    </>
  ),
  'sender.degraded': ({ sender, delivered, failed }) => (
    <>
      <strong>
        Messages from <PhoneNumber of={sender} /> seldom arrive:
      </strong>{' '}
      {delivered} delivered, {failed} failed,
    </>
  ),
  'webhook.disabled': ({ webhook, reason }) => (
    <>
      <strong>{webhook ? <Link href={`/webhooks/${webhook}`}>A webhook</Link> : 'A webhook'} was disabled:</strong>{' '}
      {reason === 'gone' ? 'it answered 410,' : 'it has only failed for five days,'}
    </>
  ),
}

function CarrierLink({ of }: { of: Alert['carrier'] }) {
  const may = useMay('getCarrier')
  if (of === null) return 'a carrier'
  return may ? <Link href={`/carriers/${of.id}`}>{of.name}</Link> : of.name
}
