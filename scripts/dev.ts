/** npm run dev: the service, restarted whenever a file of it changes, each line with where it comes from; and the console, as it is edited. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'
import { readOptions } from './options.ts'

const usage = `npm run dev: the service with the simulated carrier, restarted whenever a file of it changes, and the
console on a port of its own, whose screens change as their files do.
Its settings come from the environment: ./bin/heliogram help settings lists them.`
readOptions(usage, {})

const server = spawn(
  process.execPath,
  // Restarts are announced below the last screen instead of clearing it: the first start's key must stay readable.
  ['--watch', '--watch-preserve-output', fileURLToPath(new URL('../server/main.ts', import.meta.url)), 'start'],
  { stdio: ['inherit', 'pipe', 'pipe'] },
)

const isColored = process.stdout.isTTY
const paint = (color: number, text: string): string => (isColored ? `\x1b[${color}m${text}\x1b[0m` : text)

const debug = { from: 0, word: 'debug', color: 90 }
const levels = [
  { from: 50, word: 'error', color: 31 },
  { from: 40, word: 'warn', color: 33 },
  { from: 30, word: 'info', color: 32 },
]

/** Log records become `time word message fields`; anything else stays as it is. */
function render(line: string): string {
  if (!line.startsWith('{"level":')) return line
  try {
    const { level, time, msg, ...fields } = JSON.parse(line) as { level: number; time: string; msg: string }
    const { word, color } = levels.find((one) => level >= one.from) ?? debug
    const rest = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    return [time.slice(11, 23), paint(color, word), msg, paint(90, rest.join(' '))].join(' ')
  } catch {
    return line
  }
}

function prefix(name: string, color: number, stream: Readable): void {
  createInterface({ input: stream }).on('line', (line) => {
    process.stdout.write(`${paint(color, name.padEnd(6))} ${render(line)}\n`)
  })
}

prefix('server', 36, server.stdout)
prefix('log', 35, server.stderr)

// The screens from their files, everything else from the service.
const service = `http://127.0.0.1:${process.env['HELIOGRAM_PORT'] ?? '8080'}`
const screens = await createServer({
  configFile: fileURLToPath(new URL('../console/vite.config.ts', import.meta.url)),
  logLevel: 'warn',
  server: { host: '127.0.0.1', proxy: { '^/(?!console/)|^/console/session/': service } },
})
await screens.listen()
console.log(`${paint(33, 'screens')} ${screens.resolvedUrls?.local[0] ?? ''}`)
// Ctrl-C reaches the whole group; waiting here lets the service stop in order.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => server.kill('SIGTERM'))
server.once('exit', (code) => {
  process.exitCode = code ?? 0
  void screens.close()
})
