/** Waits for the next hour if it is near: hourly and daily counters of guards restart with it. */
export async function passTurnOfHour(): Promise<void> {
  const leftMs = 3_600_000 - (Date.now() % 3_600_000)
  if (leftMs < 20_000) await new Promise((resolve) => setTimeout(resolve, leftMs + 100))
}
