/** Helper processes of the benchmark: each is forked, and answers questions over IPC. */
import { once } from 'node:events'
import type { AddressInfo, Server } from 'node:net'
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

type Question = { number: number; name: string; input: unknown }
type Answer = { number: number; output?: unknown; error?: string }

export type Worker = {
  pid: number
  /** Calls the helper's handler; rejects with its error, or if the process ends first. */
  ask<Output>(name: string, input?: unknown): Promise<Output>
  stop(): Promise<void>
}

export function startWorker(file: string): Worker {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { serialization: 'advanced' })
  const waiting = new Map<number, { resolve: (output: unknown) => void; reject: (error: Error) => void }>()
  let lastNumber = 0
  const ended = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      for (const asked of waiting.values()) asked.reject(new Error(`${file} ended early (${code ?? signal})`))
      waiting.clear()
      resolve()
    })
  })
  child.on('message', (answer: Answer) => {
    const asked = waiting.get(answer.number)
    waiting.delete(answer.number)
    if (answer.error === undefined) asked?.resolve(answer.output)
    else asked?.reject(new Error(`${file}: ${answer.error}`))
  })
  return {
    pid: child.pid ?? 0,
    ask: <Output>(name: string, input?: unknown) =>
      new Promise<Output>((resolve, reject) => {
        lastNumber += 1
        waiting.set(lastNumber, { resolve: (output) => resolve(output as Output), reject })
        child.send({ number: lastNumber, name, input } satisfies Question)
      }),
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

export function answerParent(handlers: Record<string, (input: never) => unknown>): void {
  const answer = async ({ number, name, input }: Question): Promise<Answer> => {
    const handler = handlers[name]
    if (handler === undefined) return { number, error: `no handler for ${name}` }
    try {
      return { number, output: await handler(input as never) }
    } catch (error) {
      return { number, error: error instanceof Error ? error.message : String(error) }
    }
  }
  process.on('message', (question: Question) => {
    void answer(question).then((result) => process.send?.(result))
  })
  // The parent died without stopping us.
  process.on('disconnect', () => process.exit(0))
}

/** The machine's monotonic clock in milliseconds, comparable between processes (unlike `performance.now`). */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Returns the free port that it listens on. */
export async function listenAnywhere(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
