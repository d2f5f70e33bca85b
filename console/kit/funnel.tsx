/** Counts below each other, each with its bar and its share of the first one. */
import { Link } from 'wouter'
import { formatNumber } from './show.tsx'

export interface Step {
  name: string
  value: number
  /** The class of its bar. */
  kind: 'all' | 'accepted' | 'sent' | 'delivered' | 'failed' | 'neutral'
  to?: string | undefined
}

const percent = new Intl.NumberFormat('en', { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** `96.2%`; a dash for a share of nothing. Only all is 100%, and only nothing is 0%. */
export function tellShare(value: number, of: number): string {
  if (of === 0) return '–'
  if (value === 0 || value === of) return value === 0 ? '0%' : '100%'
  const share = value / of
  return share < 0.001 ? '<0.1%' : percent.format(share > 0.999 && share < 1 ? 0.999 : share)
}

export const Funnel = ({ label, of, steps }: { label: string; of: number; steps: readonly Step[] }) => (
  <ul className="funnel" aria-label={label}>
    {steps.map(({ name, value, kind, to }) => (
      <li key={name}>
        {to && value > 0 ? <Link href={to}>{name}</Link> : <span>{name}</span>}
        <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
          <rect className="ground" width={100} height={1} />
          <rect className={kind} width={of === 0 ? 0 : Math.min(100, (value / of) * 100)} height={1} />
        </svg>
        <strong>{formatNumber(value)}</strong>
        <span className="part-share">{tellShare(value, of)}</span>
      </li>
    ))}
  </ul>
)
