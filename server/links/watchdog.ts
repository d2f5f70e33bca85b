/**
 * Kills this process if it freezes while it holds sessions. A frozen process keeps its connections, and a carrier would count them with those of the
 * process that takes over its leases. A small shell gets the remaining time of the leases each second. If it hears nothing for that long, it sends
 * SIGKILL, and the kernel closes the connections. It cannot help if it freezes too, as with a virtual machine: then the carrier refuses the new
 * binds, and they are retried.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import type { Log } from '../ground/db/log.ts'

// The timer of `read` is monotonic. After a suspend both wake up together, and this process has one second to report. `read` can time out within a
// line; what follows lacks the `=` then. An empty time would make `read` return at once, forever.
export const script = `
trap '' INT TERM HUP
left=7
hear() {
  local line
  read -r -t "$1" line
  case $? in 0) ;; 1) exit ;; *) return 1 ;; esac
  if [[ $line == =* ]]; then left=\${line#=}; fi
}
while hear "$left" || hear 1; do :; done
kill -KILL $PPID`

const everyMs = 1000
// Leases cannot be renewed while the database is away, and a busy machine may stall this process for so long.
const leastSeconds = 5

interface WatchdogOptions {
  log: Log
  /** The end of the sessions' leases, on `performance.now()`; null: none. */
  leasedUntil: () => number | null
}

export class Watchdog {
  readonly #options: WatchdogOptions
  readonly #timer: NodeJS.Timeout
  #child: ChildProcess | null = null
  #isImpossible = false

  constructor(options: WatchdogOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#tell(), everyMs)
    this.#timer.unref()
    // The kernel ignores SIGKILL from inside a container for its first process.
    if (process.pid === 1) this.#giveUp('process 1 of a container cannot be ended from inside: give it an init')
  }

  close(): void {
    clearInterval(this.#timer)
    this.#dismiss()
  }

  #tell(): void {
    const until = this.#options.leasedUntil()
    if (until === null) return this.#dismiss()
    if (this.#isImpossible) return
    this.#child ??= this.#hire()
    const seconds = Math.max(leastSeconds, (until - performance.now()) / 1000)
    // The shell adds one second, for a process that wakes up.
    this.#child.stdin?.write(`=${(seconds - 1).toFixed(1)}\n`)
  }

  #hire(): ChildProcess {
    // Its own session keeps Ctrl-C from it: this process is watched until it has unbound.
    const child = spawn('bash', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
    child.unref()
    child.stdin.on('error', () => {})
    child.on('error', (error) => this.#giveUp(error.message))
    // The next second starts another one.
    child.on('exit', () => {
      if (this.#child === child) this.#child = null
    })
    return child
  }

  /** It ends with its pipe. */
  #dismiss(): void {
    this.#child?.stdin?.end()
    this.#child = null
  }

  #giveUp(reason: string): void {
    this.#isImpossible = true
    this.#options.log.warn({ reason }, 'no watchdog ends this process if it freezes')
  }
}
