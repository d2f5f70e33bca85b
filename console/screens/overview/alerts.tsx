/** Current alerts, first on the page; nothing if there are none. */
import type { Alert } from '@heliogram/sdk'
import type { ReactElement } from 'react'
import { Link } from 'wouter'
import { useCall } from '../../api.ts'
import { tellLinkError } from '../../kit/link-error.ts'
import { tellPostError } from '../../kit/post-error.ts'
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

/** Each kind of alert in words, with a link to its screen. */
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
        Messages from <PhoneNumber of={sender} /> often fail to arrive:
      </strong>{' '}
      {delivered} delivered, {failed} failed,
    </>
  ),
  'webhook.failing': ({ webhook, last_error }) => (
    <>
      <strong>
        <WebhookLink of={webhook} /> is failing:
      </strong>{' '}
      {tellPostError(last_error)},
    </>
  ),
  'webhook.disabled': ({ webhook, reason }) => (
    <>
      <strong>
        <WebhookLink of={webhook} /> was disabled:
      </strong>{' '}
      {reason === 'gone' ? 'it answered 410,' : 'it did nothing but fail for five days,'}
    </>
  ),
  'reply.orphaned': ({ carrier, sender }) => (
    <>
      <strong>
        Replies at <CarrierLink of={carrier} part="/replies" /> reach no account:
      </strong>{' '}
      nobody here has <PhoneNumber of={sender} />,
    </>
  ),
}

const WebhookLink = ({ of }: { of: string | null }) =>
  of === null ? 'A webhook' : <Link href={`/webhooks/${of}`}>A webhook</Link>

function CarrierLink({ of, part = '' }: { of: Alert['carrier']; part?: string }) {
  const may = useMay('getCarrier')
  if (of === null) return 'a carrier'
  return may ? <Link href={`/carriers/${of.id}${part}`}>{of.name}</Link> : of.name
}
