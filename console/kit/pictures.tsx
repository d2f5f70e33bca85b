/** Small pictures beside figures. Each has its values as a text, too. */
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { formatNumber, type Tone } from './show.tsx'

/** A meaning, or a line of charts. */
export type Colour = Tone | 'accent' | 'accepted' | 'sent' | 'delivered' | 'failed'

/** From 0 to 1; what is outside, and nothing of nothing, is cut. */
export const share = (value: number, of: number): number => (of > 0 ? Math.max(0, Math.min(1, value / of)) : 0)

export const percent = (part: number): string => `${Math.round(part * 1000) / 10}%`

const Bar = ({ part, colour }: { part: number; colour: Colour }) => (
  <span className="bar" aria-hidden="true">
    {/* A value above 0 is never invisible. */}
    {part > 0 && <span className={`fill-${colour}`} style={{ width: `max(2px, ${percent(part)})` }} />}
  </span>
)

interface GaugeProps {
  /** For screen readers. */
  label: string
  value: number
  max: number
  /** Default: `780 / 1,000`. */
  children?: ReactNode
  /** Default: a warning from nine tenths on. */
  colour?: Colour
}

export function Gauge({ label, value, max, children, colour }: GaugeProps) {
  const part = share(value, max)
  const text = `${formatNumber(value)} / ${formatNumber(max)}`
  return (
    <div className="gauge">
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuenow={value}
        aria-valuetext={text}
      >
        <Bar part={part} colour={colour ?? (part >= 0.9 ? 'warning' : 'good')} />
      </div>
      <span>{children ?? text}</span>
    </div>
  )
}

export interface Part {
  name: string
  value: number
  tone: Tone
}

/** One whole in parts, with a legend. */
export function PartsBar({ label, parts }: { label: string; parts: readonly Part[] }) {
  const some = parts.filter(({ value }) => value > 0)
  const told = some.map(({ name, value }) => `${formatNumber(value)} ${name}`).join(', ') || 'none'
  return (
    <div className="parts">
      <div className="bar" role="img" aria-label={`${label}: ${told}`}>
        {some.map(({ name, value, tone }) => (
          <span
            key={name}
            className={`fill-${tone}`}
            style={{ flexGrow: value }}
            title={`${formatNumber(value)} ${name}`}
          />
        ))}
      </div>
      <ul>
        {parts.map(({ name, value, tone }) => (
          <li key={name}>
            <i className={`fill-${tone}`} aria-hidden="true" />
            <strong>{formatNumber(value)}</strong> {name}
          </li>
        ))}
      </ul>
    </div>
  )
}

export interface Cell {
  colour: Colour
  /** Shown on hovering: `16:03 down`. */
  title: string
}

/** One cell for each step of time, oldest first. `summary`: for screen readers. */
export const StateStrip = ({ summary, cells }: { summary: string; cells: readonly Cell[] }) => (
  <div className="strip" role="img" aria-label={summary}>
    {cells.map(({ colour, title }, n) => (
      <span key={n} className={`fill-${colour}`} title={title} />
    ))}
  </div>
)

export interface Ranked {
  name: ReactNode
  /** Tells apart. */
  key: string
  value: number
  /** Behind the number: `98.2%`. */
  note?: ReactNode
  to?: string
  colour?: Colour
}

/** Largest first, as they come. The longest takes the whole width. */
export function RankedBars({ label, rows }: { label: string; rows: readonly Ranked[] }) {
  const most = Math.max(0, ...rows.map(({ value }) => value))
  return (
    <ol className="ranked" aria-label={label}>
      {rows.map(({ key, name, value, note, to, colour = 'accent' }) => (
        <li key={key}>
          <span className="ranked-name">{to === undefined ? name : <Link href={to}>{name}</Link>}</span>
          <Bar part={share(value, most)} colour={colour} />
          <span className="ranked-value">
            {formatNumber(value)}
            {note !== undefined && <span className="ranked-note">{note}</span>}
          </span>
        </li>
      ))}
    </ol>
  )
}

/** Steps that each lose some: the first is the whole. */
export function Funnel({
  label,
  steps,
}: {
  label: string
  steps: readonly (Omit<Ranked, 'note' | 'key'> & { name: string })[]
}) {
  const whole = steps[0]?.value ?? 0
  return (
    <RankedBars
      label={label}
      rows={steps.map((step, n) => ({
        ...step,
        key: step.name,
        ...(n > 0 && { note: percent(share(step.value, whole)) }),
      }))}
    />
  )
}
