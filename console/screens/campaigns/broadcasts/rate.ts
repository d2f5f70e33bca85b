/** How fast a broadcast goes, from the counts of the last polls. */
import { useRef } from 'react'

interface Sample {
  at: number
  count: number
}

/** Long enough to smooth the steps of a poll. Milliseconds. */
const spanMs = 20_000

/** Per second over the last samples; null before there are two, and when the count fell. */
export function rateOf(samples: readonly Sample[]): number | null {
  const last = samples.at(-1)
  const first = samples.find(({ at }) => last !== undefined && at >= last.at - spanMs)
  if (!first || !last || last.at - first.at < 1000 || last.count < first.count) return null
  return ((last.count - first.count) * 1000) / (last.at - first.at)
}

/** `at`: when the count was received, in milliseconds. */
export function useRate(count: number, at: number): number | null {
  const samples = useRef<Sample[]>([])
  if (at > (samples.current.at(-1)?.at ?? 0))
    samples.current = [...samples.current.filter((one) => one.at >= at - spanMs), { at, count }]
  return rateOf(samples.current)
}

/** `45 s`, `3 min`, `2 h 10 min`, `3 days`. */
export function tellDuration(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`
  return `${Math.round(hours / 24)} days`
}
