/** Formats of values: times, numbers, money, statuses, copyable texts. */
import { use, useState, useSyncExternalStore, type CSSProperties, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { partsOf } from './country.ts'
import { formatDistance, formatMoment, formatMoney, formatNumber } from './format.ts'
import { tellNumber } from './number.ts'
import { Viewer } from './viewer.ts'

export { formatNumber }

export const None = () => <span className="none dash">–</span>

/** An ISO 8601 time: relative, and in full on hovering. None: a dash. */
export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <None />
  return <Ago at={at} date={new Date(at)} />
}

function Ago({ at, date }: { at: string; date: Date }) {
  const { zone } = use(Viewer)
  const text = useSyncExternalStore(watchSeconds, () => formatDistance((date.getTime() - Date.now()) / 1000))
  return (
    <time dateTime={at} title={formatMoment(date, zone)}>
      {text}
    </time>
  )
}

/** Relative times are refreshed every second. */
function watchSeconds(tell: () => void): () => void {
  const timer = setInterval(tell, 1000)
  return () => clearInterval(timer)
}

/** In full; the API's form on hovering. */
export function Moment({ at }: { at: string | null | undefined }) {
  const { zone } = use(Viewer)
  if (!at) return <None />
  return (
    <time dateTime={at} title={at}>
      {formatMoment(new Date(at), zone)}
    </time>
  )
}

/** `1 message`, `2 messages`. */
export const tellCount = (count: number, one: string): string =>
  `${formatNumber(count)} ${count === 1 ? one : one.replace(/y$/, 'ie')}${count === 1 ? '' : 's'}`

/** In groups of digits, with the country on hovering. What is copied has no blanks. */
export function PhoneNumber({ of }: { of: string | null | undefined }) {
  if (!of) return <None />
  const parts = partsOf(of)
  if (!parts) return <span className="phone">{tellNumber(of)}</span>
  return (
    <span className="phone" title={parts.country}>
      {parts.code}
      {parts.groups.map((group, n) => (
        <span key={n}>{group}</span>
      ))}
    </span>
  )
}

export const Money = ({ of }: { of: { amount: string; currency: string } | null | undefined }) =>
  of ? <span className="money">{formatMoney(of)}</span> : <None />

export type Tone = 'good' | 'bad' | 'busy' | 'warning' | 'neutral'

const tones: Record<string, Tone> = {
  delivered: 'good',
  succeeded: 'good',
  completed: 'good',
  bound: 'good',
  active: 'good',
  live: 'good',
  enabled: 'good',
  ok: 'good',
  received: 'good',
  failed: 'bad',
  undelivered: 'bad',
  rejected: 'bad',
  expired: 'bad',
  down: 'bad',
  disabled: 'neutral',
  unconfirmed: 'warning',
  throttled: 'warning',
  paused: 'warning',
  suspended: 'warning',
  completed_with_errors: 'warning',
  held: 'warning',
  awaiting_approval: 'warning',
  sending: 'busy',
  sent: 'busy',
  running: 'busy',
  binding: 'busy',
  queued: 'busy',
  scheduled: 'busy',
  pending: 'busy',
  processing: 'busy',
  test: 'busy',
}

export const Badge = ({ status, tone = tones[status] ?? 'neutral' }: { status: string; tone?: Tone }) => (
  <span className={`badge ${tone}`}>{status.replaceAll('_', ' ')}</span>
)

/** Missing values are skipped with their names. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== undefined && value !== null && value !== '' && value !== false)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}

const singular: Record<string, string> = {
  messages: 'message',
  segments: 'segment',
  replies: 'reply',
  recipients: 'recipient',
  'opt-outs': 'opt-out',
  clicks: 'click',
  rows: 'row',
  'bad rows': 'bad row',
  'messages made': 'message made',
}

export const Figure = ({ value, label, tone }: { value: ReactNode; label: string; tone?: Tone }) => (
  <div
    className={`figure ${tone ?? ''}`}
    style={{ '--chars': typeof value === 'string' ? value.length : 8 } as CSSProperties}
  >
    <strong>{value}</strong>
    <span>{value === '1' ? (singular[label] ?? label) : label}</span>
  </div>
)

export const Figures = ({ children }: { children: ReactNode }) => <div className="figures">{children}</div>

export const Copy = ({ text, label = 'Copy' }: { text: string; label?: string }) => (
  <span className="copy">
    <code>{text}</code>
    <CopyButton text={text} label={label} about={text} />
  </span>
)

interface CopyButtonProps {
  text: string
  label?: string
  /** For screen readers. */
  about: string
}

/** Only on https and localhost, where browsers allow copying. */
export function CopyButton({ text, label = 'Copy', about }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false)
  if (!('clipboard' in navigator)) return null
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 2000)
  }
  return (
    <Button kind="quiet" onClick={() => void copy()} aria-label={`${label}: ${about}`}>
      {isCopied ? 'Copied' : label}
    </Button>
  )
}

/** `of` 0: nothing to do yet. */
export const Progress = ({ done, of, label }: { done: number; of: number; label: string }) => (
  <progress
    value={done}
    max={Math.max(of, 1)}
    aria-label={label}
    title={`${formatNumber(done)} of ${formatNumber(of)}`}
  />
)
