/** Helper processes of the benchmark: each is forked, told what to do over IPC, and answers once per question. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

type Question = { number: number; name: string; input: unknown }
type Answer = { number: number; output?: unknown; error?: string }

/** A running helper process. */
export type Worker = {
  pid: number
  /** Asks the helper's handler of that name; rejects with its error, or when the process ends first. */
  ask<Output>(name: string, input?: unknown): Promise<Output>
  stop(): Promise<void>
}

/** Forks a TypeScript file of this folder that calls `answerParent`. */
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

/** Serves the parent's questions in a helper process; a question may take as long as it needs. */
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
  // The parent died without stopping us: nobody is left to ask.
  process.on('disconnect', () => process.exit(0))
}

/** Milliseconds of the machine's monotonic clock, comparable between processes (unlike `performance.now`). */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
