import type { Message } from '@heliogram/sdk'
import { useEffect, useState } from 'react'
import { Link } from 'wouter'
import { useCall, useCalls } from '../../../api.ts'
import { Json } from '../../../kit/json.tsx'
import { Loaded } from '../../../kit/page.tsx'
import { Facts, formatNumber, Moment } from '../../../kit/show.tsx'
import { inOrder, postSteps, stepsOf, tellDelta, tellStep, type Decision, type Step } from './steps.ts'

const everyMs = 2000
/** Posts end some seconds after the message does. Milliseconds. */
const postsForMs = 60_000

export function Timeline({ of: message, onNewer }: { of: Message; onNewer: () => unknown }) {
  const { id, sequence, final, updated_at: updatedAt } = message
  const isLive = !final || Date.now() - Date.parse(updatedAt) < postsForMs
  const live = isLive ? { every: everyMs } : {}
  const call = useCall('explainMessage', { path: { id } }, live)
  const events = useCall('listEvents', { query: { message: id, limit: 20 } }, { ...live, isSide: true })
  const posts = useCalls(
    'listEventDeliveries',
    (events.data?.data ?? []).map((event) => ({ path: { id: event.id } })),
    { ...live, isSide: true },
  )
  const { refetch } = call
  // Also after the last change, when polling ends.
  useEffect(() => {
    void refetch()
  }, [refetch, sequence])
  // The timeline and the message are read by two calls.
  const newest = call.data?.decisions.findLast(({ step }) => step === 'outcome')?.decision
  const isNewer = newest !== undefined && newest !== message.status
  useEffect(() => {
    if (isNewer) void onNewer()
  }, [isNewer, newest, onNewer])
  return (
    <Loaded call={call}>
      {({ decisions }) => {
        // A query shows those of another event until its own arrive.
        const answered = new Map(posts.flatMap(({ data }) => data?.data ?? []).map((post) => [post.id, post]))
        const steps = inOrder([
          ...stepsOf(decisions, message),
          ...postSteps(events.data?.data ?? [], [...answered.values()]),
        ])
        return (
          <ol className="timeline" aria-label="Timeline">
            {steps.map((step, n) => (
              <li key={`${step.at} ${step.title} ${step.post?.attempt.id ?? ''}`} className={step.tone}>
                <OneStep of={step} before={steps[n - 1]} />
              </li>
            ))}
          </ol>
        )
      }}
    </Loaded>
  )
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hourCycle: 'h23',
})

function OneStep({ of: step, before }: { of: Step; before: Step | undefined }) {
  // Bodies of events are long: only those in view are written.
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <strong>{step.title}</strong>
        <span className="timeline-delta">{before ? tellDelta(step.at - before.at) : '0 ms'}</span>
        <span className="timeline-detail">{withoutCalls(step.detail)}</span>
        <time dateTime={new Date(step.at).toISOString()}>{clock.format(step.at)}</time>
      </summary>
      {isOpen && (step.post ? <PostDetails of={step.post} /> : <Decisions of={step.decisions} />)}
    </details>
  )
}

/** The API tells programs what to call; the page has buttons. */
const withoutCalls = (detail: string): string => detail.replace(/; [A-Z]+ \/v1\/\S+ [^.]+/, '')

const Decisions = ({ of: decisions }: { of: readonly Decision[] }) => (
  <div className="timeline-more decisions">
    {decisions.map((decision, n) => (
      <DecisionDetails key={n} of={decision} />
    ))}
  </div>
)

function DecisionDetails({ of: decision }: { of: Decision }) {
  const { step, detail, rule, try: attempt, carrier, carrier_message_id: carrierId } = decision
  const codes = [
    [step === 'receipt' ? 'State' : 'Decision', decision.decision],
    [step === 'receipt' ? 'Error code' : 'Rule', rule],
    ['Attempt', attempt],
    ['Carrier', carrier !== decision.decision && carrier],
    ['Carrier message ID', carrierId],
  ] as const
  return (
    <>
      <h3>{tellStep(step)}</h3>
      <div>
        <p>
          {withoutCalls(detail)}
          {decision.possible_duplicate && ' The carrier may have it twice.'}
        </p>
        <p className="small">
          {codes
            .filter(([, code]) => code)
            .map(([name, code]) => (
              <span key={name}>
                {name} <Code of={String(code)} />
              </span>
            ))}
        </p>
      </div>
    </>
  )
}

const Code = ({ of }: { of: string }) =>
  of.startsWith('rte_') ? (
    <Link href={`/routes/${of}`}>
      <code>{of}</code>
    </Link>
  ) : (
    <code>{of}</code>
  )

function PostDetails({ of: { attempt, event } }: { of: NonNullable<Step['post']> }) {
  const { request, response, response_headers: headers, status_code: status, timing } = attempt
  return (
    <div className="timeline-more">
      <h3>Request</h3>
      <Facts
        facts={[
          ['Address', request.url && <code>{request.url}</code>],
          [
            'Event',
            <Link key="event" href={`/events/${event.id}`}>
              {event.type}
            </Link>,
          ],
          ['Webhook', attempt.webhook && <Link href={`/webhooks/${attempt.webhook}`}>{attempt.webhook}</Link>],
          ['Started', <Moment key="at" at={attempt.created_at} />],
        ]}
      />
      <Json of={request.headers} label="Request headers" />
      <Json of={event} label="Request body" />
      <h3>Response</h3>
      <Facts
        facts={[
          ['Status', status ?? attempt.outcome.replaceAll('_', ' ')],
          ['Connect', timing.connect_ms !== null && `${formatNumber(timing.connect_ms)} ms`],
          ['First byte', timing.first_byte_ms !== null && `${formatNumber(timing.first_byte_ms)} ms`],
          ['Total', `${formatNumber(timing.total_ms)} ms`],
          ['Next attempt', attempt.next_attempt_at && <Moment at={attempt.next_attempt_at} />],
        ]}
      />
      {headers && <Json of={headers} label="Response headers" />}
      {response && <pre aria-label="Response body">{response}</pre>}
    </div>
  )
}
