/** Bars side by side, each of parts on top of another: what came when. */

export interface Bar {
  /** What it stands for, such as a day. */
  title: string
  /** In the order of the series, from the bottom. */
  parts: readonly number[]
}

interface BarsProps {
  /** What all of it shows, for screen readers. */
  label: string
  bars: readonly Bar[]
  /** What the parts are; `className` gives the colour. */
  series: readonly { title: string; className: string }[]
}

const height = 100
const step = 10

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

export function Bars({ label, bars, series }: BarsProps) {
  const top = Math.max(1, ...bars.map(({ parts }) => sum(parts)))
  return (
    <figure className="bars">
      <figcaption>
        <span>at most {new Intl.NumberFormat('en').format(top)}</span>
        <span className="legend">
          {series.map(({ title, className }) => (
            <span key={title}>
              <i className={className} /> {title}
            </span>
          ))}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${bars.length * step} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {bars.map(({ title, parts }, n) => (
          <g key={title}>
            <title>{`${title}: ${series.map((one, i) => `${parts[i] ?? 0} ${one.title}`).join(', ')}`}</title>
            <rect className="ground" x={n * step} y={0} width={step} height={height} />
            {parts.map((part, i) => (
              <rect
                key={series[i]?.title ?? i}
                className={series[i]?.className}
                x={n * step + 1}
                width={step - 2}
                y={height - (height * sum(parts.slice(0, i + 1))) / top}
                height={(height * part) / top}
              />
            ))}
          </g>
        ))}
      </svg>
      <div className="bars-ends">
        <span>{bars[0]?.title}</span>
        {bars.length > 1 && <span>{bars.at(-1)?.title}</span>}
      </div>
    </figure>
  )
}
