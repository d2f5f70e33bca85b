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
  gone: 'Your server answered HTTP 410 (gone).',
  failing: 'Every delivery failed for five days.',
  request: 'A person paused this webhook.',
}

/** Empty if all is well. */
export function WebhookTrouble({ of: { enabled, disabled_reason, disabled_at, failing_since } }: { of: Webhook }) {
  if (!enabled)
    return (
      <div className="notice" role="status">
        <p>
          <strong>Disabled</strong> since <Moment at={disabled_at} />. {reasons[disabled_reason ?? ''] ?? ''}
        </p>
        <p>
          The event log still records events. Enable the webhook, then choose “Replay events” to send the events that it
          missed.
        </p>
      </div>
    )
  if (failing_since === null) return null
  return (
    <div className="problem" role="status">
      <p>
        <strong>
          Failing since <Moment at={failing_since} />.
        </strong>{' '}
        Each event is retried for three days. After five days without a success the webhook is disabled. The deliveries
        below show the responses.
      </p>
    </div>
  )
}
