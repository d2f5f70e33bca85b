import type { Attempt } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall } from '../../api.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { Json } from '../../kit/json.tsx'
import { textHidden, useMayReadTexts } from '../../kit/may.tsx'
import { Badge, CopyButton, Facts, Moment } from '../../kit/show.tsx'
import { curlOf } from './curl.ts'

const reasons: Record<string, string> = {
  redirect: 'redirect',
  gone: 'HTTP 410',
  dns: 'host not found',
  tls: 'TLS',
  refused: 'connection refused',
  reset: 'connection reset',
  private_address: 'private address',
  not_allowed: 'address not allowed',
  too_large: 'response headers too large',
  protocol: 'not HTTP',
}

export function Outcome({ of: { outcome, status_code } }: { of: Attempt }) {
  if (outcome === 'ok') return <Badge status="Succeeded" tone="good" />
  const reason = reasons[outcome] ?? (outcome === 'status' ? `HTTP ${status_code}` : outcome)
  return <Badge status={`Failed (${reason})`} tone="bad" />
}

const linesOfHeaders = (headers: Record<string, string | string[]>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') : value}`)
    .join('\n')

const ms = (value: number | null): string | undefined => (value === null ? undefined : `${value} ms`)

export function AttemptDialog({ of, onClose }: { of: Attempt; onClose: () => void }) {
  const { event, event_type, request, response, response_headers, status_code, timing } = of
  const mayRead = useMayReadTexts()
  const posted = useCall('getEvent', { path: { id: event } }, { isSide: true })
  return (
    <Dialog title={`Attempt ${of.try}: ${event_type ?? 'event'}`} onClose={onClose}>
      <div className="form">
        <Facts
          facts={[
            ['Outcome', <Outcome key="outcome" of={of} />],
            ['Response', status_code === null ? 'none' : `HTTP ${status_code}`],
            ['URL', request.url],
            [
              'Event',
              <Link key="event" href={`/events/${event}`}>
                {event}
              </Link>,
            ],
            ['Started', <Moment key="at" at={of.created_at} />],
            ['Connected after', ms(timing.connect_ms)],
            ['First byte after', ms(timing.first_byte_ms)],
            ['Duration', ms(timing.total_ms)],
            ['Next retry', of.next_attempt_at && <Moment key="next" at={of.next_attempt_at} />],
          ]}
        />
        {posted.data && request.url !== null && (
          <div className="buttons">
            <CopyButton
              text={curlOf(request.url, request.headers, posted.data)}
              label="Copy as curl"
              about="a command that signs this event with your secret and posts it"
            />
          </div>
        )}
        <h3>Request headers</h3>
        <pre tabIndex={0}>{`${linesOfHeaders(request.headers)}\nwebhook-signature: v1,… (not stored)`}</pre>
        {posted.data && (
          <>
            <h3>Request body</h3>
            <Json of={posted.data} label="Request body" />
          </>
        )}
        {response_headers && Object.keys(response_headers).length > 0 && (
          <>
            <h3>Response headers</h3>
            <pre tabIndex={0}>{linesOfHeaders(response_headers)}</pre>
          </>
        )}
        <h3>Response body</h3>
        {response ? <pre tabIndex={0}>{response}</pre> : <p className="hint">{mayRead ? 'Empty' : textHidden}</p>}
      </div>
    </Dialog>
  )
}
