/**
 * The benchmark's senders: a process that sends one HTTP request per message over keep-alive connections, each waiting for its response before
 * the next. Requests are rendered before the clock starts, to save CPU.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { createHttpReader } from './http1.ts'
import { renderRequest, type RequestShape } from './request.ts'
import { answerParent, nowMs } from './worker.ts'

export type LoadInput = {
  shape: RequestShape
  base: number
  size: number
  connections: number
  accepted: number
  perSecond?: number
}

/** `sentMs` and `answerMs` are by `number - base`, `refusals` are the first few other responses. */
export type LoadOutput = {
  accepted: number
  statuses: Record<number, number>
  refusals: string[]
  firstMs: number
  lastMs: number
  sentMs: Float64Array
  answerMs: Float64Array
}

async function run(input: LoadInput): Promise<LoadOutput> {
  const requests = Array.from({ length: input.size }, (_, index) => renderRequest(input.shape, input.base + index))
  const output: LoadOutput = {
    accepted: 0,
    statuses: {},
    refusals: [],
    firstMs: 0,
    lastMs: 0,
    sentMs: new Float64Array(input.size),
    answerMs: new Float64Array(input.size),
  }
  const { ports = [input.shape.port] } = input.shape
  const sockets = await Promise.all(Array.from({ length: input.connections }, (_, n) => dial(ports[n % ports.length])))
  try {
    await sendAll(sockets, requests, input, output)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
  return output
}

function sendAll(sockets: Socket[], requests: Buffer[], input: LoadInput, output: LoadOutput): Promise<void> {
  return new Promise((resolve, reject) => {
    const idle: ((index: number) => void)[] = []
    let due = input.perSecond === undefined ? requests.length : 0
    let next = 0
    let answered = 0

    const dispatch = () => {
      // In turn, because the server closes connections without requests as slow attacks.
      while (next < due && idle.length > 0) idle.shift()?.(next++)
    }
    for (const socket of sockets) {
      let current = 0
      const send = (index: number) => {
        const request = requests[index]
        if (request === undefined) return
        current = index
        // At a steady pace the clock starts when the message was due, so that waiting for a connection counts.
        if (output.sentMs[index] === 0) output.sentMs[index] = nowMs()
        socket.write(request)
      }
      const read = createHttpReader(({ bytes, start, end }) => {
        output.lastMs = nowMs()
        output.answerMs[current] = output.lastMs
        const status = Number(bytes.toString('latin1', start + 9, start + 12))
        output.statuses[status] = (output.statuses[status] ?? 0) + 1
        if (status === input.accepted) output.accepted += 1
        else if (output.refusals.length < 3)
          output.refusals.push(bytes.toString('utf8', start, Math.min(end, start + 1000)))
        answered += 1
        if (answered === requests.length) return resolve()
        if (next < due) send(next++)
        else idle.push(send)
      })
      socket.on('data', (chunk) => {
        try {
          read(chunk)
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
      })
      socket.on('error', reject)
      socket.on('close', () => reject(new Error(`the server closed a connection after ${answered} answers`)))
      idle.push(send)
    }
    output.firstMs = nowMs()
    dispatch()
    if (input.perSecond === undefined) return
    const perMs = input.perSecond / 1000
    const pace = setInterval(() => {
      const atMs = nowMs()
      const nowDue = Math.min(requests.length, Math.floor((atMs - output.firstMs) * perMs))
      while (due < nowDue) output.sentMs[due++] = atMs
      dispatch()
      if (due === requests.length) clearInterval(pace)
    }, 1)
  })
}

async function dial(port = 0): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  return socket
}

answerParent({ run })
