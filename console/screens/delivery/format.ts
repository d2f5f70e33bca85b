/** In the largest unit of which there is at least one. */
export function formatSeconds(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return '–'
  if (seconds < 1) return 'under 1 s'
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

/** As `12 · 30 · 45 ms`. */
export const formatLatency = (times: { p50_ms: number; p95_ms: number; p99_ms: number } | null): string =>
  times ? `${times.p50_ms} · ${times.p95_ms} · ${times.p99_ms} ms` : '–'
