/** Bar charts: a series, or one whole in parts. Numbers appear on hovering, and in tables for screen readers. */
import { formatNumber, type Tone } from './show.tsx'

export interface Part {
  name: string
  value: number
  tone: Tone
}

interface BarsProps {
  /** For screen readers. */
  label: string
  bars: readonly { name: string; parts: readonly Part[] }[]
}

const sum = (parts: readonly Part[]): number => parts.reduce((all, { value }) => all + value, 0)
const tell = (parts: readonly Part[]): string =>
  parts
    .filter(({ value }) => value > 0)
    .map(({ name, value }) => `${formatNumber(value)} ${name}`)
    .join(', ')

/** The highest bar takes the full height, with its number beside it. */
export function Bars({ label, bars }: BarsProps) {
  const most = Math.max(1, ...bars.map(({ parts }) => sum(parts)))
  // Few bars are as narrow as those of days.
  const slots = Math.max(bars.length, 24)
  return (
    <figure className="bars">
      <figcaption>
        <span>{label}</span>
        <span>at most {formatNumber(most)}</span>
      </figcaption>
      <svg viewBox={`0 0 ${slots} 100`} preserveAspectRatio="none" role="img" aria-label={label}>
        {bars.map(({ name, parts }, n) => (
          <g key={name}>
            <title>{`${name}: ${tell(parts) || 'none'}`}</title>
            <rect className="ground" x={n} y={0} width={1} height={100} />
            {stack(parts, most).map(({ part, from, size }) => (
              <rect key={part.name} className={part.tone} x={n + 0.1} y={100 - from - size} width={0.8} height={size} />
            ))}
          </g>
        ))}
      </svg>
      <div className="ends">
        <span>{bars[0]?.name}</span>
        <span>{bars.length > 1 && bars.at(-1)?.name}</span>
      </div>
    </figure>
  )
}

export function PartsBar({ label, parts }: { label: string; parts: readonly Part[] }) {
  const whole = Math.max(1, sum(parts))
  return (
    <div className="parts">
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" role="img" aria-label={`${label}: ${tell(parts) || 'none'}`}>
        <rect className="ground" x={0} y={0} width={100} height={1} />
        {stack(parts, whole).map(({ part, from, size }) => (
          <rect key={part.name} className={part.tone} x={from} y={0} width={size} height={1}>
            <title>{`${formatNumber(part.value)} ${part.name}`}</title>
          </rect>
        ))}
      </svg>
      <ul>
        {parts.map(({ name, value, tone }) => (
          <li key={name} className={tone}>
            <strong>{formatNumber(value)}</strong> {name}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Offset and size of each part, of 100. */
function stack(parts: readonly Part[], whole: number): { part: Part; from: number; size: number }[] {
  let from = 0
  return parts
    .filter(({ value }) => value > 0)
    .map((part) => {
      const size = (part.value / whole) * 100
      from += size
      return { part, from: from - size, size }
    })
}
