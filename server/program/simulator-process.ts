/** The simulated carrier as a child process: a carrier is another program, and can be killed like one. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Config } from './config.ts'
import type { Log } from '../ground/db/log.ts'

interface SimulatorOptions {
  port: number
  httpPort: number
  apiUrl: string
  log: Log
}

interface Ports {
  smppPort: number
  httpPort: number
}

export interface SimulatorProcess extends Ports {
  close(): Promise<void>
}

// A killed simulator returns like a carrier after a fault.
const restartMs = 1000

/** Starts the demo's simulator, whose ports were checked (`requireFreePorts`). */
export function openSimulator(config: Config, log: Log): Promise<SimulatorProcess> {
  return startSimulator({
    port: config.simulatorPort,
    httpPort: config.simulatorHttpPort,
    apiUrl: config.publicUrl,
    log,
  })
}

/** Starts the simulator, waits until it listens, and restarts it whenever it ends. @throws if its ports are taken. */
export async function startSimulator({ port, httpPort, apiUrl, log }: SimulatorOptions): Promise<SimulatorProcess> {
  let child: ChildProcess
  let isClosing = false
  const launch = async (ports: Ports): Promise<Ports> => {
    const started = spawn(
      process.execPath,
      [
        fileURLToPath(new URL('../../simulator/main.ts', import.meta.url)),
        '--port',
        String(ports.smppPort),
        '--http-port',
        String(ports.httpPort),
        '--api-url',
        apiUrl,
        '--json',
      ],
      // The channel ends with this process, even if killed: the simulator then ends too. In its own process group it does not get the
      // terminal's Ctrl-C: the carrier stays until the links have unbound.
      { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true },
    )
    child = started
    let complaint = ''
    started.stderr?.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString()).slice(-2000)
    })
    return new Promise((resolve, reject) => {
      createInterface({ input: started.stdout as NodeJS.ReadableStream }).once('line', (line) =>
        resolve(JSON.parse(line)),
      )
      started.once('error', reject)
      started.once('exit', (code, signal) => {
        reject(new Error(complaint.trim() || `the simulator ended with ${code ?? signal}`))
        if (isClosing) return
        log.warn({ code, signal }, 'the simulator ended')
      })
    })
  }
  const ports = await launch({ smppPort: port, httpPort })
  const launchAgain = (): void => {
    if (isClosing) return
    launch(ports).then(watch, (error: unknown) => {
      log.error({ error }, 'the simulator did not start again')
      setTimeout(launchAgain, restartMs)
    })
  }
  const watch = (): void => void child.once('exit', () => setTimeout(launchAgain, restartMs))
  watch()
  return {
    ...ports,
    close: async () => {
      isClosing = true
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      await ended
    },
  }
}
