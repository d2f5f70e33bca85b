/** The span of time that charts show, chosen once a screen and kept in the address. */
import { useSearchParams } from 'wouter'

/** `step`: the finest that the API keeps for so long. `everyMs`: how often a chart changes. */
const ranges = [
  { name: '15m', title: '15 min', ms: 15 * 60_000, step: '10s', everyMs: 10_000 },
  { name: '24h', title: '24 h', ms: 86_400_000, step: '1m', everyMs: 30_000 },
  { name: '7d', title: '7 d', ms: 7 * 86_400_000, step: '1h', everyMs: 60_000 },
  { name: '30d', title: '30 d', ms: 30 * 86_400_000, step: '1h', everyMs: 60_000 },
] as const

export type Range = (typeof ranges)[number]

/** `?range=24h`; without one 15 minutes. */
export function useRange(): [Range, (range: Range) => void] {
  const [params, setParams] = useSearchParams()
  const range = ranges.find(({ name }) => name === params.get('range')) ?? ranges[0]
  const choose = ({ name }: Range) =>
    setParams(
      (now) => {
        const next = new URLSearchParams(now)
        if (name === ranges[0].name) next.delete('range')
        else next.set('range', name)
        return next
      },
      { replace: true },
    )
  return [range, choose]
}

export const RangeChoice = ({ range, onChange }: { range: Range; onChange: (range: Range) => void }) => (
  <div className="segmented" role="group" aria-label="Time range">
    {ranges.map((one) => (
      <button key={one.name} type="button" aria-pressed={one === range} onClick={() => onChange(one)}>
        {one.title}
      </button>
    ))}
  </div>
)
