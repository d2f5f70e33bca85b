/**
 * Ends this process if it stops running while it holds sessions. A frozen process keeps its connections, and a carrier would count them
 * beside those of the process that takes over its leases. Only another process can see it, so a small shell is told each second how long the
 * leases run on. Silence for that long is answered by SIGKILL, with which the kernel closes the connections. What is frozen together with this
 * process, such as a virtual machine, it cannot help: there the carrier refuses binds, and they are tried again.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import type { Log } from '../ground/db/log.ts'

// The timer of `read` is monotonic. After a sleep of the machine both wake up at once: this process has a second to be heard first.
const script = `
trap '' INT TERM HUP
hear() { read -r -t "$1" left; case $? in 0) ;; 1) exit ;; *) return 1 ;; esac; }
left=7
while hear "$left" || hear 1; do :; done
kill -KILL $PPID`

const everyMs = 1000
// Without a lease, as while the database is away, this process may still be stalled for so long by its machine.
const leastSeconds = 5

interface WatchdogOptions {
  log: Log
  /** Until when sessions are leased, on `performance.now()`; null: there are none. */
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
    // The kernel lets nobody in a container end its first process.
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
    // The last of them is the second for who wakes up.
    this.#child.stdin?.write(`${(seconds - 1).toFixed(1)}\n`)
  }

  #hire(): ChildProcess {
    // In a session of its own: Ctrl-C in a terminal is for this process, which is watched until it has unbound.
    const child = spawn('bash', ['-c', script], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
    child.unref()
    child.stdin.on('error', () => {})
    child.on('error', (error) => this.#giveUp(error.message))
    // With the next second there is another one.
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
    this.#options.log.warn({ reason }, 'nothing ends this process if it freezes')
  }
}
