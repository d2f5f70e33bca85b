import type { Webhook } from '@heliogram/sdk'
import { useState } from 'react'
import { Link } from 'wouter'
import { heliogram, useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { SelectField } from '../../../kit/form.tsx'
import { Section } from '../../../kit/page.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { useTask } from '../../../kit/task.tsx'
import { toast } from '../../../kit/toast.tsx'
import { Outcome } from '../attempt.tsx'
import { eventGroups, type EventType } from '../event-types.ts'

const testType: EventType = 'webhook.test'
const otherTypes = eventGroups
  .flatMap(({ choices }) => choices.map(({ value }) => value))
  .filter((type) => type !== testType)

interface Sent {
  event: string
  at: number
}

/** Sends an event made for the test, or the latest real event of another type. */
export function TestButton({ webhook: { id, enabled } }: { webhook: Webhook }) {
  const [type, setType] = useState<EventType>(testType)
  const [sent, setSent] = useState<Sent>()
  const test = useAction('testWebhook')
  const replay = useAction('replayWebhook')
  const { run, isBusy, problem } = useTask(async () => {
    const at = Date.now()
    if (type === testType) {
      const done = await test.run({ path: { id } })
      if (done) setSent({ event: done.answer.event, at })
      return
    }
    const found = (await heliogram.call('listEvents', { query: { type, limit: 1 } })).data[0]
    if (!found) {
      toast(`There is no ${type} event yet to send`, { isError: true })
      return
    }
    const since = found.timestamp
    const until = new Date(Date.parse(since) + 1).toISOString()
    if (await replay.run({ path: { id }, body: { since, until, types: [type] } })) setSent({ event: found.id, at })
  })
  const fault = problem ?? test.problem ?? replay.problem
  return (
    <Section title="Test">
      <div className="card form">
        <div className="test-event">
          <SelectField
            label="Event"
            name="type"
            value={type}
            onChange={(value) => setType(otherTypes.find((one) => one === value) ?? testType)}
            options={[
              [testType, `${testType} (made for the test)`],
              ...otherTypes.map((value) => [value, `${value} (the latest)`] as const),
            ]}
          />
          <Button does="testWebhook" isBusy={isBusy} disabled={!enabled} onClick={() => void run()}>
            Send test event
          </Button>
        </div>
        {!enabled && <p className="hint">Enable the webhook to test it.</p>}
        {fault && <Problem of={fault} />}
        {sent && <TestResult key={sent.at} webhook={id} sent={sent} />}
      </div>
    </Section>
  )
}

function TestResult({ webhook, sent: { event, at } }: { webhook: string; sent: Sent }) {
  const isIt = (one: { webhook: string | null; created_at: string }) =>
    // The server's clock may be behind.
    one.webhook === webhook && Date.parse(one.created_at) > at - 5000
  const { data, error } = useCall(
    'listEventDeliveries',
    { path: { id: event }, query: { limit: 10 } },
    { every: (tries) => (tries?.data.some(isIt) ? undefined : 700) },
  )
  const attempt = data?.data.find(isIt)
  if (error) return <Problem of={error} />
  if (!attempt)
    return (
      <p aria-busy="true">
        Sending <Link href={`/events/${event}`}>the event</Link> …
      </p>
    )
  const { status_code, duration_ms, response } = attempt
  return (
    <div role="status">
      <p>
        <Outcome of={attempt} /> {status_code === null ? 'No response' : `HTTP ${status_code}`} after {duration_ms} ms.{' '}
        <Link href={`/events/${event}`}>View event</Link>
      </p>
      {response && <pre tabIndex={0}>{response}</pre>}
    </div>
  )
}
