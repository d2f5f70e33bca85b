import type { Webhook } from '@heliogram/sdk'
import { useState } from 'react'
import { Link } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Section } from '../../../kit/page.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { Outcome } from '../attempt.tsx'

export function TestButton({ webhook: { id, enabled } }: { webhook: Webhook }) {
  const [event, setEvent] = useState<string>()
  const { run, isBusy, problem } = useAction('testWebhook')
  const test = async () => {
    const done = await run({ path: { id } })
    if (done) setEvent(done.answer.event)
  }
  return (
    <Section
      title="Test it"
      actions={
        <Button does="testWebhook" isBusy={isBusy} disabled={!enabled} onClick={() => void test()}>
          Send a test event
        </Button>
      }
    >
      {problem && <Problem of={problem} />}
      {event === undefined ? (
        <p className="hint">
          {enabled
            ? 'Posts an event of the type webhook.test, whatever it subscribes to.'
            : 'Nothing is posted to it while it is disabled.'}
        </p>
      ) : (
        <TestResult key={event} event={event} />
      )}
    </Section>
  )
}

function TestResult({ event }: { event: string }) {
  const { data, error } = useCall(
    'listEventDeliveries',
    { path: { id: event }, query: { limit: 1 } },
    { every: (tries) => (tries?.data.length ? undefined : 700) },
  )
  const attempt = data?.data.find((one) => one.event === event)
  if (error) return <Problem of={error} />
  if (!attempt)
    return (
      <p aria-busy="true">
        <Link href={`/events/${event}`}>The test event</Link> is on its way …
      </p>
    )
  const { status_code, duration_ms, response } = attempt
  return (
    <div className="card" role="status">
      <p>
        <Outcome of={attempt} /> {status_code === null ? 'There was no answer' : `The answer was HTTP ${status_code}`}{' '}
        after {duration_ms} ms. <Link href={`/events/${event}`}>The test event</Link>
      </p>
      {response && <pre tabIndex={0}>{response}</pre>}
    </div>
  )
}
