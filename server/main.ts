/** The entry: reads the settings, listens, and loads what was asked for. */
import { readFileSync } from 'node:fs'
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

const gates = await listen(readStart())
const { run } = await import('./program/run.ts')
await run(version, gates)
