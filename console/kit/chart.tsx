/** Values over time, drawn by uPlot: a legend with the values under the cursor, which the mouse and the arrow keys move. */
import { useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatTick, tellStep } from './chart-times.ts'
import { formatNumber } from './show.tsx'

export interface Line {
  name: string
  /** The name of a custom property of the style sheets, such as `--chart-sent`. */
  colour: string
  values: readonly (number | null)[]
  kind?: 'line' | 'area' | 'dashed'
}

interface ChartProps {
  /** For screen readers. */
  label: string
  /** The start of each step, in milliseconds since 1970. */
  times: readonly number[]
  lines: readonly Line[]
  /** IANA; without one the browser's. */
  zone?: string | undefined
  /** Behind each value: `/s`. */
  unit?: string
  height?: number
  /** Shown if all values are 0. */
  empty?: string
  /** Bars, each line on the one before it. */
  isStacked?: boolean
}

export function Chart({ label, times, lines, zone, unit = '', height = 200, empty, isStacked = false }: ChartProps) {
  const frame = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot>(null)
  const [at, setAt] = useState<number | null>(null)
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const stepMs = (times[1] ?? 0) - (times[0] ?? 0)
  const shape = lines.map(({ name, colour, kind }) => `${name} ${colour} ${kind}`).join() + isStacked
  // A line that is dropped or added needs another plot; new values do not.
  useLayoutEffect(() => {
    const place = frame.current
    if (!place) return undefined
    const made = new uPlot(optionsOf(place, { lines, zone, height, isStacked }, setAt), [[]], place)
    plot.current = made
    const onResize = new ResizeObserver(() => made.setSize({ width: place.clientWidth, height }))
    onResize.observe(place)
    const stop = watchTheme(() => made.redraw(false))
    return () => {
      stop()
      onResize.disconnect()
      made.destroy()
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [shape, zone, height])
  useLayoutEffect(() => {
    const values = lines.map((line) => (hidden.has(line.name) ? line.values.map(() => null) : [...line.values]))
    plot.current?.setData([times.map((ms) => ms / 1000), ...(isStacked ? stack(values) : values)])
  }, [times, lines, hidden, isStacked, shape, zone, height])
  const last = times.length - 1
  const shown = Math.min(at ?? last, last)
  const isQuiet = lines.every(({ values }) => values.every((value) => !value))
  const move = (event: KeyboardEvent) => {
    const to = { ArrowLeft: shown - 1, ArrowRight: shown + 1, Home: 0, End: last, Escape: null }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const place = to === null ? null : Math.max(0, Math.min(last, to))
    const made = plot.current
    const ms = place === null ? undefined : times[place]
    made?.setCursor({ left: ms === undefined ? -10 : made.valToPos(ms / 1000, 'x'), top: 0 })
    setAt(place)
  }
  const told = tellStep(times[shown], stepMs, zone)
  const tell = ({ values }: Line) => {
    const value = values[shown] ?? null
    return value === null ? '–' : `${formatNumber(round(value))}${unit}`
  }
  return (
    <figure className="chart">
      <figcaption className="chart-legend">
        {lines.map((line) => (
          <button
            key={line.name}
            type="button"
            aria-pressed={!hidden.has(line.name)}
            onClick={() => setHidden(toggled(hidden, line.name))}
          >
            <svg viewBox="0 0 14 10" aria-hidden="true">
              <line x1="1" x2="13" y1="5" y2="5" className={`${line.colour.slice(2)} ${line.kind ?? 'line'}`} />
            </svg>
            {line.name} <strong>{tell(line)}</strong>
          </button>
        ))}
        <span className="chart-at">{told}</span>
      </figcaption>
      <div
        ref={frame}
        className="chart-plot"
        role="slider"
        aria-orientation="horizontal"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={Math.max(last, 0)}
        aria-valuenow={Math.max(shown, 0)}
        aria-valuetext={`${told}: ${lines.map((line) => `${line.name} ${tell(line)}`).join(', ')}`}
        tabIndex={0}
        onKeyDown={move}
        onBlur={() => setAt(null)}
      />
      {isQuiet && empty && <p className="chart-empty">{empty}</p>}
    </figure>
  )
}

/** The sums up to each line, the highest first, since uPlot draws the next one over it. */
const stack = (lines: readonly (number | null)[][]): number[][] =>
  lines
    .map(
      (_, n) =>
        lines[0]?.map((__, at) => lines.slice(0, n + 1).reduce((sum, values) => sum + (values[at] ?? 0), 0)) ?? [],
    )
    .toReversed()

const toggled = (some: ReadonlySet<string>, name: string): ReadonlySet<string> =>
  some.has(name) ? new Set([...some].filter((one) => one !== name)) : new Set([...some, name])

const round = (value: number): number => (value >= 10 ? Math.round(value) : Math.round(value * 10) / 10)

function optionsOf(
  place: HTMLElement,
  {
    lines,
    zone,
    height,
    isStacked,
  }: Required<Pick<ChartProps, 'lines' | 'height' | 'isStacked'>> & Pick<ChartProps, 'zone'>,
  onMove: (at: number | null) => void,
): uPlot.Options {
  // Read at each drawing, so that a change of theme needs no other plot.
  const colour = (name: string) => () => getComputedStyle(place).getPropertyValue(name).trim()
  const axis: uPlot.Axis = {
    stroke: () => getComputedStyle(place).color,
    font: `11px ${getComputedStyle(place).fontFamily}`,
    grid: { stroke: colour('--chart-grid'), width: 1 },
    ticks: { show: false },
  }
  const bars = isStacked ? uPlot.paths.bars?.({ size: [0.7, 48] }) : undefined
  return {
    width: place.clientWidth,
    height,
    legend: { show: false },
    padding: [8, 8, 0, 0],
    ...(zone && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), zone) }),
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7, show: !isStacked } },
    scales: {
      // The first and the last bar whole.
      ...(isStacked && { x: { range: ({ data: [x] }, from, to) => widen(x, from, to) } }),
      y: { range: (_, __, most) => [0, Math.max(1, most * 1.08)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 80,
        values: (_, at, __, ___, step) => at.map((seconds) => formatTick(seconds * 1000, step, zone)),
      },
      { ...axis, size: 48, space: 36, values: (_, at) => at.map((value) => formatNumber(value)) },
    ],
    series: [
      {},
      ...(isStacked ? lines.toReversed() : lines).map((line): uPlot.Series => {
        const stroke = colour(line.colour)
        return {
          label: line.name,
          points: { show: false },
          ...(bars
            ? { paths: bars, width: 0, fill: stroke }
            : {
                stroke,
                width: 1.75,
                ...(line.kind === 'dashed' && { dash: [4, 4] }),
                ...(line.kind === 'area' && { fill: () => `color-mix(in srgb, ${stroke()} 16%, transparent)` }),
              }),
        }
      }),
    ],
    hooks: {
      setCursor: [({ cursor: { idx, left } }) => onMove(left === undefined || left < 0 ? null : (idx ?? null))],
    },
  }
}

/** By half a step; a single one is a day. */
function widen(x: uPlot.AlignedData[0], from: number, to: number): [number, number] {
  const half = ((x[1] ?? (x[0] ?? 0) + 86_400) - (x[0] ?? 0)) / 2
  return [from - half, to + half]
}

/** The system's theme, or one that the user chose, which is an attribute of the document. */
function watchTheme(tell: () => void): () => void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const chosen = new MutationObserver(tell)
  system.addEventListener('change', tell)
  chosen.observe(document.documentElement, { attributes: true })
  return () => {
    system.removeEventListener('change', tell)
    chosen.disconnect()
  }
}
