import type { Attempt } from '@heliogram/sdk'
import { Link } from 'wouter'
import { Dialog } from '../../kit/dialog.tsx'
import { textHidden, useMayReadTexts } from '../../kit/may.tsx'
import { Badge, Facts, Moment } from '../../kit/show.tsx'

const words: Record<string, string> = {
  ok: 'taken',
  status: 'refused',
  gone: 'gone (410)',
  dns: 'no such host',
  tls: 'TLS failed',
  refused: 'connection refused',
  reset: 'connection reset',
  protocol: 'not HTTP',
}

export const Outcome = ({ of: { outcome } }: { of: Attempt }) => (
  <Badge status={words[outcome] ?? outcome} tone={outcome === 'ok' ? 'good' : 'bad'} />
)

const linesOfHeaders = (headers: Record<string, string | string[]>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : value}`)
    .join('\n')

const ms = (value: number | null): string | undefined => (value === null ? undefined : `${value} ms`)

export function AttemptDialog({ of, onClose }: { of: Attempt; onClose: () => void }) {
  const { event, event_type, request, response, response_headers, status_code, timing } = of
  const mayRead = useMayReadTexts()
  return (
    <Dialog title={`Try ${of.try} of ${event_type ?? 'an event'}`} onClose={onClose}>
      <div className="form">
        <Facts
          facts={[
            ['Outcome', <Outcome key="outcome" of={of} />],
            ['Answer', status_code === null ? 'none' : `HTTP ${status_code}`],
            ['To', request.url],
            [
              'Event',
              <Link key="event" href={`/events/${event}`}>
                {event}
              </Link>,
            ],
            ['Began', <Moment key="at" at={of.created_at} />],
            ['Connected in', ms(timing.connect_ms)],
            ['Answered in', ms(timing.first_byte_ms)],
            ['Took', ms(timing.total_ms)],
            ['Tried again', of.next_attempt_at && <Moment key="next" at={of.next_attempt_at} />],
          ]}
        />
        <h3>What was sent with it</h3>
        <pre tabIndex={0}>{linesOfHeaders(request.headers)}</pre>
        {response_headers && Object.keys(response_headers).length > 0 && (
          <>
            <h3>Headers of the answer</h3>
            <pre tabIndex={0}>{linesOfHeaders(response_headers)}</pre>
          </>
        )}
        <h3>The answer</h3>
        {response ? (
          <pre tabIndex={0}>{response}</pre>
        ) : (
          <p className="hint">{mayRead ? 'It had no text.' : textHidden}</p>
        )}
      </div>
    </Dialog>
  )
}
