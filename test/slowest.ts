/** Prints the ten slowest files of a large run. */
import type { Reporter, TestModule } from 'vitest/node'

const shown = 10

export default class Slowest implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= shown) return
    const timed = modules.map((module) => ({ name: module.relativeModuleId, ms: msOf(module) }))
    console.log('Slowest files:')
    for (const { name, ms } of timed.toSorted((a, b) => b.ms - a.ms).slice(0, shown))
      console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${name}`)
  }
}

function msOf(module: TestModule): number {
  const { setupDuration, collectDuration, duration } = module.diagnostic()
  return setupDuration + collectDuration + duration
}
