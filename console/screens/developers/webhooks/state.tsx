/** An endpoint's state, in a word and in sentences. */
import type { Webhook } from '@heliogram/sdk'
import { Badge, Moment } from '../../../kit/show.tsx'

export function WebhookState({ of: { enabled, disabled_reason, failing_since } }: { of: Webhook }) {
  if (!enabled)
    return disabled_reason === 'request' ? (
      <Badge status="paused" />
    ) : (
      <Badge status="disabled" tone={disabled_reason === null ? 'neutral' : 'bad'} />
    )
  return failing_since === null ? <Badge status="enabled" /> : <Badge status="failing" tone="bad" />
}

const reasons: Record<string, string> = {
  gone: 'It answered 410, which means that it is gone for good.',
  failing: 'It did nothing but fail for five days.',
  request: 'Somebody paused it.',
}

/** Empty if all is well. */
export function WebhookTrouble({ of: { enabled, disabled_reason, disabled_at, failing_since } }: { of: Webhook }) {
  if (!enabled)
    return (
      <div className="notice" role="status">
        <p>
          <strong>Nothing is posted to it</strong> since <Moment at={disabled_at} />.{' '}
          {reasons[disabled_reason ?? ''] ?? ''}
        </p>
        <p>
          Events are still kept in the event log. After you enable it again, use “Post again” to send it what it missed.
        </p>
      </div>
    )
  if (failing_since === null) return null
  return (
    <div className="problem" role="status">
      <p>
        <strong>
          Every post has failed since <Moment at={failing_since} />.
        </strong>{' '}
        Each event is tried again for three days; the posts below show the answers. After five days without a success
        the webhook is disabled.
      </p>
    </div>
  )
}
