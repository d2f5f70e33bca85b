/** The entry: reads the settings, listens, and loads the program (`program.ts`), which takes a second of the processor. */
import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { readConfig, type Config } from './program/config.ts'
import { Gate, type Gates } from './program/gate.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

/** The settings of a start; null where something else is asked for, or they are wrong, which the program explains. */
function readStart(): Config | null {
  const words = process.argv.slice(2)
  if (words.length !== 1 || words[0] !== 'start') return null
  try {
    return readConfig()
  } catch {
    return null
  }
}

async function listen(config: Config | null): Promise<Gates> {
  if (!config) return { api: null, metrics: null }
  const { host, port, metricsPort, roles } = config
  const open = (at: number): Promise<Gate | null> => Gate.open(host, at, version)
  return {
    api: roles.includes('api') ? await open(port) : null,
    metrics: metricsPort === null ? null : await open(metricsPort),
  }
}

/** Parts of the program, in an order in which each loads about as much as the others: between two of them, requests are answered. */
const parts = [
  () => import('./program/storage.ts'),
  () => import('./ground/http/http.ts'),
  () => import('./program/app.ts'),
  () => import('./program/pipeline.ts'),
  () => import('./links/submit.ts'),
  () => import('./campaigns/http.ts'),
  () => import('./program/rooms.ts'),
]

const gates = await listen(readStart())
for (const load of gates.api || gates.metrics ? parts : []) {
  await load()
  await turn()
}
const { run } = await import('./program/program.ts')
await run(version, gates)
