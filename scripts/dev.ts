/** npm run dev: the service, restarted when a source changes, with labelled output; and the console with live reload. */
import { spawn, type ChildProcess } from 'node:child_process'
import { join, relative } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { createServer } from 'vite'
import { renderLogLine } from '../server/program/log-lines.ts'
import { hostInUrl } from '../server/ground/base/network.ts'
import { readOptions, readSettings } from './options.ts'

const usage = `npm run dev: the service with the simulated carrier, restarted whenever a file of it changes, and the
console on a port of its own, whose screens change as their files do.
Its settings come from the environment: ./bin/heliogram help settings lists them.`
readOptions(usage, {})
const { host, port } = readSettings()
if (port === 0) {
  console.error('The screens must know where the service is: set HELIOGRAM_PORT to a port, not to 0.')
  process.exit(1)
}

const isColored = process.stdout.isTTY
const paint = (color: number, text: string): string => (isColored ? `\x1b[${color}m${text}\x1b[0m` : text)

function prefix(name: string, color: number, stream: Readable, onLine = (_line: string): void => {}): void {
  createInterface({ input: stream }).on('line', (line) => {
    process.stdout.write(`${paint(color, name.padEnd(6))} ${renderLogLine(line)}\n`)
    onLine(line)
  })
}

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = ['server', 'smpp', 'simulator', 'docs'].map((folder) => join(root, folder))
/** Milliseconds without changes before a restart, because editors save many files one after the other. */
const restMs = 200

let service: ChildProcess | null = null
let isEnding = false
let changed: string | null = null

function launch(): void {
  changed = null
  service = spawn(process.execPath, [join(root, 'server/main.ts'), 'start'], { stdio: ['inherit', 'pipe', 'pipe'] })
  const [output, log] = [service.stdout, service.stderr]
  // Repeated after the greeting, whose address leads to the built console.
  if (output) prefix('server', 36, output, (line) => line.startsWith('Ctrl-C stops') && tellScreens())
  if (log) prefix('log', 35, log)
  service.once('exit', (code) => {
    service = null
    if (isEnding) {
      process.exitCode = code ?? 0
      void screens.close()
    } else if (changed !== null) launch()
    else
      console.log(
        `${paint(33, 'dev')}    the service has ended (${code ?? 'by a signal'}): it starts again when a file changes`,
      )
  })
}

function restart(): void {
  // It has restarted by itself meanwhile, with the changes.
  if (changed === null) return
  console.log(`${paint(33, 'dev')}    ${changed} has changed: the service starts again`)
  if (service) service.kill('SIGTERM')
  else launch()
}

// Screens come from their files, all else from the service; unlike files, responses below /console/session have no dot in their names.
const screens = await createServer({
  configFile: join(root, 'console/vite.config.ts'),
  logLevel: 'warn',
  server: {
    host: '127.0.0.1',
    proxy: {
      '^/(?!console/)|^/console/session/[^.?]+($|\\?)': `http://${hostInUrl(host)}:${port}`,
    },
  },
})
const tellScreens = (): void =>
  console.log(`${paint(33, 'screens')} as they are edited: ${screens.resolvedUrls?.local[0] ?? ''}`)

let timer: NodeJS.Timeout | undefined
screens.watcher.add(sources).on('all', (_event, path) => {
  const isSource = /\.(ts|sql|json|md|css|js|html|svg)$/.test(path) && !path.endsWith('.test.ts')
  if (isEnding || !isSource || !sources.some((folder) => path.startsWith(`${folder}/`))) return
  changed = relative(root, path)
  clearTimeout(timer)
  timer = setTimeout(restart, restMs)
})
await screens.listen()
tellScreens()
launch()

// Ctrl-C reaches the whole group; waiting here lets the service stop in order.
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    isEnding = true
    clearTimeout(timer)
    if (service) service.kill('SIGTERM')
    else void screens.close()
  })
