/** A link as it is now, and in its last half hour. */
import type { Carrier, Link } from '@heliogram/sdk'
import { Link as Address } from 'wouter'
import { useCall, useZone } from '../../../api.ts'
import { tellLinkError } from '../../../kit/link-error.ts'
import { halfHourOf, LinkStrip, minutes, RateGauge, WindowGauge } from '../../../kit/link-pictures.tsx'
import { Badge, formatNumber, tellCount, Time } from '../../../kit/show.tsx'
import { Sparkline } from '../../../kit/sparkline.tsx'

interface LinkPanelProps {
  carrier: Carrier
  link: Link
  name: string
}

export function LinkPanel({ carrier, link, name }: LinkPanelProps) {
  const zone = useZone()
  const { data } = useCall('getSeries', { query: halfHourOf(link) }, { every: 60_000, isSide: true })
  const sent = data?.counts.sent?.slice(-minutes) ?? []
  const { response, unmatched_receipts: unmatched } = link
  return (
    <section className="card link-panel" aria-label={name}>
      <header>
        <h2 title={link.id}>{name}</h2>
        <Badge status={isTested(link) ? 'binding' : link.state} />
        {data && <LinkStrip link={link} series={data} zone={zone} />}
      </header>
      <Connection of={link} host={hostOf(carrier)} />
      <dl className="link-figures">
        <div>
          <dt>Window</dt>
          <dd>
            <WindowGauge of={link} />
          </dd>
        </div>
        <div>
          <dt>Rate</dt>
          <dd>
            <RateGauge of={link} />
          </dd>
        </div>
        <div>
          <dt>Response time</dt>
          <dd>
            {response ? (
              <>
                <strong>{formatNumber(response.p50_ms)} ms</strong> p50 ·{' '}
                <strong>{formatNumber(response.p95_ms)} ms</strong> p95
              </>
            ) : (
              <span className="none">No responses in 10 minutes</span>
            )}
          </dd>
        </div>
        <div>
          <dt>Sent, last {minutes} min</dt>
          <dd>
            <Sparkline
              label={`Segments sent in the last ${minutes} minutes: ${formatNumber(sent.reduce((sum, one) => sum + one, 0))}`}
              values={sent}
              colour="sent"
            />
          </dd>
        </div>
      </dl>
      {unmatched > 0 && (
        <p className="small">
          <Address href={`/carriers/${link.carrier}/receipts`}>{tellCount(unmatched, 'unmatched receipt')}</Address>
        </p>
      )}
    </section>
  )
}

/** Not bound yet, without an error. */
const isTested = ({ state, last_error }: Link): boolean =>
  state === 'binding' || (state === 'down' && last_error === null)

const hostOf = ({ settings }: Carrier): string | null =>
  'host' in settings ? `${settings.host}:${settings.port}` : null

/** What the carrier answered, or why there is no connection. */
function Connection({ of: link, host }: { of: Link; host: string | null }) {
  const { state, sessions, last_error: error, last_error_at: errorAt } = link
  const to = host === null ? '' : ` to ${host}`
  if (state === 'disabled') return <p className="small">Disabled. No messages are sent over this link.</p>
  if (state === 'down' && error !== null)
    return (
      <p className="link-error" role="status">
        <strong>Not connected{to}.</strong> {tellLinkError(error)}, <Time at={errorAt} />. Heliogram keeps trying.
      </p>
    )
  if (isTested(link))
    return (
      <p className="small" role="status">
        Testing the connection{to}…
      </p>
    )
  return (
    <p className="small">
      Connected{to}
      {host !== null && `, ${tellCount(sessions, 'session')} bound`}.
      {error !== null && (
        <>
          {' '}
          Last error: {tellLinkError(error)}, <Time at={errorAt} />.
        </>
      )}
    </p>
  )
}
