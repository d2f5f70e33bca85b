/**
 * The benchmark's client: a process that takes all callbacks and responds 200, as cheaply as possible. A callback is one HTTP request, GET or
 * POST, or one of several events in a request; its message number follows a marker.
 */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:net'
import { createHttpReader, type Frame } from './http1.ts'
import { countsOf, createTally, note, readNumber, type Counts } from './tally.ts'
import { answerParent, listenAnywhere, nowMs } from './worker.ts'

export type CallbackShape = {
  marker: string
  /** Bytes that occur only in callbacks of delivered messages. */
  delivered: string
  /** The Standard Webhooks secret (`whsec_…`); if given, every 100th signature is verified. */
  secret?: string
  /** A request may have several callbacks. */
  isBatch?: boolean
}

export type ReceiverCounts = Counts & {
  callbacks: number
  delivered: number
  verified: number
  forged: number
  lastMs: number
}

// Verification costs 10 µs; a sample shows that signatures are real without making the receiver the bottleneck. A request with several callbacks
// is verified if one of them is a hundredth.
const verifyEvery = 100
const ok = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
let tally = createTally(0, 0)
let totals = { callbacks: 0, delivered: 0, verified: 0, forged: 0 }
let marker = Buffer.from('id=')
let delivered = Buffer.from('delivered')
let secret: Buffer | undefined
let isBatch = false

const server = createServer({ noDelay: true }, (socket) => {
  let answers = 0
  const read = createHttpReader((frame) => {
    answers += 1
    take(frame)
  })
  socket.on('data', (chunk) => {
    read(chunk)
    if (answers > 0) socket.write(answers === 1 ? ok : Buffer.concat(Array<Buffer>(answers).fill(ok)))
    answers = 0
  })
  socket.on('error', () => socket.destroy())
})

function take(frame: Frame): void {
  const before = totals.callbacks
  const request = frame.bytes.subarray(frame.start, frame.end)
  if (isBatch) takeEach(request)
  else {
    const at = request.indexOf(marker)
    totals.callbacks += 1
    note(tally, at < 0 ? -1 : readNumber(request, at + marker.length), nowMs())
    if (request.includes(delivered)) totals.delivered += 1
  }
  if (secret !== undefined && Math.floor(totals.callbacks / verifyEvery) > Math.floor(before / verifyEvery)) {
    if (isSigned(frame, secret)) totals.verified += 1
    else totals.forged += 1
  }
}

/** Each callback has the marker once, and says "delivered" at most once. */
function takeEach(request: Buffer): void {
  const atMs = nowMs()
  for (let at = request.indexOf(marker); at >= 0; at = request.indexOf(marker, at + marker.length)) {
    totals.callbacks += 1
    note(tally, readNumber(request, at + marker.length), atMs)
  }
  for (let at = request.indexOf(delivered); at >= 0; at = request.indexOf(delivered, at + delivered.length))
    totals.delivered += 1
}

function isSigned(frame: Frame, key: Buffer): boolean {
  const head = frame.bytes.toString('latin1', frame.start, frame.headEnd)
  const header = (name: string) => new RegExp(`\r\n${name}: *([^\r]*)`, 'i').exec(head)?.[1] ?? ''
  const signed = createHmac('sha256', key)
    .update(`${header('webhook-id')}.${header('webhook-timestamp')}.`)
    .update(frame.bytes.subarray(frame.headEnd, frame.end))
    .digest('base64')
  return header('webhook-signature').split(' ').includes(`v1,${signed}`)
}

answerParent({
  listen: () => listenAnywhere(server),
  begin: (run: { base: number; size: number; shape: CallbackShape }) => {
    tally = createTally(run.base, run.size)
    totals = { callbacks: 0, delivered: 0, verified: 0, forged: 0 }
    isBatch = run.shape.isBatch ?? false
    marker = Buffer.from(run.shape.marker)
    delivered = Buffer.from(run.shape.delivered)
    secret = run.shape.secret === undefined ? undefined : Buffer.from(run.shape.secret.replace('whsec_', ''), 'base64')
  },
  counts: (): ReceiverCounts => ({ ...countsOf(tally), ...totals, lastMs: tally.lastMs }),
  /** Resolves when every message was called back, or none for `stallMs`. */
  finished: (input: { stallMs: number }) =>
    new Promise<void>((resolve) => {
      let seen = -1
      let changedMs = nowMs()
      const timer = setInterval(() => {
        if (tally.distinct !== seen) changedMs = nowMs()
        seen = tally.distinct
        if (seen < tally.size && nowMs() - changedMs < input.stallMs) return
        clearInterval(timer)
        resolve()
      }, 25)
    }),
  firstMs: () => tally.firstMs,
})
