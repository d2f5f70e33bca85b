import { share, type Colour } from './pictures.tsx'

export function Sparkline({
  label,
  values,
  colour = 'delivered',
}: {
  label: string
  values: readonly number[]
  colour?: Colour
}) {
  const most = Math.max(1, ...values)
  const points = values.map(
    (value, n) => `${(n / Math.max(1, values.length - 1)) * 100},${(30 - share(value, most) * 28 - 1).toFixed(2)}`,
  )
  return (
    <svg
      className={`sparkline stroke-${colour}`}
      viewBox="0 0 100 30"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polygon points={`0,30 ${points.join(' ')} 100,30`} />
      <polyline points={points.join(' ')} vectorEffect="non-scaling-stroke" />
    </svg>
  )
}
