/** A text as a phone shows it, above its segments. */
import '../style/compose.css'
import { formatNumber, tellCount } from '../kit/show.tsx'
import type { Measure } from './text.ts'

export const Phone = ({ from, text }: { from: string; text: string }) => (
  <div className="phone-screen">
    <p className="phone-from">{from}</p>
    <p className="bubble text" dir="auto">
      {text}
    </p>
  </div>
)

/** One bar a segment; the last is as full as it is. */
export function Ruler({ of: { encoding, segments, characters, left } }: { of: Measure }) {
  const size = segments === 1 ? { 'GSM-7': 160, 'UCS-2': 70 } : { 'GSM-7': 153, 'UCS-2': 67 }
  const whole = size[encoding]
  return (
    <div className="ruler">
      <div aria-hidden="true">
        {Array.from({ length: segments }, (_, n) => (
          <svg key={n} viewBox={`0 0 ${whole} 1`} preserveAspectRatio="none">
            <rect width={n === segments - 1 ? whole - left : whole} height={1} />
          </svg>
        ))}
      </div>
      <p>
        <strong>{tellCount(segments, 'segment')}</strong> · {encoding} · {tellCount(characters, 'character')}
      </p>
      <p className="hint">{`${formatNumber(left)} left${segments > 1 ? ' in the last segment' : ''}`}</p>
    </div>
  )
}
