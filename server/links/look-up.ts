/**
 * Looks up carriers' hosts, few at a time: the system's resolver occupies a thread of the pool that checks passwords and reads files, for as long as
 * a name server is silent. Names that failed last time wait behind the others.
 */
import { lookup as ask } from 'node:dns'
import type { LookupFunction } from 'node:net'

// Of Node's four threads.
const runningMax = 2
const doubtfulMax = 1

interface Question {
  host: string
  options: Parameters<LookupFunction>[1]
  /** The callers; a link that gave up and dials again is one more. */
  callbacks: Parameters<LookupFunction>[2][]
}

/** Names to look up, in order and without duplicates. */
const waiting = new Map<string, Question>()
const doubtful = new Set<string>()
const running = { sound: 0, doubtful: 0 }

/** Looks up a host like `dns.lookup`, in its turn. */
export const lookUp: LookupFunction = (host, options, callback) => {
  const key = `${host} ${JSON.stringify(options)}`
  const question = waiting.get(key)
  if (question) question.callbacks.push(callback)
  else waiting.set(key, { host, options, callbacks: [callback] })
  begin()
}

function begin(): void {
  for (const [key, question] of waiting) {
    const kind = doubtful.has(question.host) ? 'doubtful' : 'sound'
    if (running.sound + running.doubtful >= runningMax) return
    if (kind === 'doubtful' && running.doubtful >= doubtfulMax) continue
    waiting.delete(key)
    running[kind]++
    ask(question.host, question.options, (error, address, family) => {
      running[kind]--
      if (error) doubtful.add(question.host)
      else doubtful.delete(question.host)
      for (const callback of question.callbacks) callback(error, address, family)
      begin()
    })
  }
}
