/**
 * The benchmark's carrier: a process that answers every submit_sm immediately and reports it delivered after a fixed delay. It takes several
 * times what any product here submits, so it is never the bottleneck (`sinklimit.ts` proves it).
 */
import { createServer, type Socket } from 'node:net'
import {
  command,
  invalidCommandId,
  readSubmit,
  readUint32,
  receiptLengthMax,
  receiptTextAt,
  submitResponseLength,
  writeHeader,
  writeReceipt,
  writeSubmitResponse,
  type Submit,
} from './frames.ts'
import { countsOf, createTally, note, numberDigits, readNumber, type Counts } from './tally.ts'
import { answerParent, listenAnywhere, nowMs } from './worker.ts'

export type SinkCounts = Counts & {
  submits: number
  receiptsAsked: number
  receiptsSent: number
  receiptsAnswered: number
}

/** Receipts of one read, rendered already; they become due together. */
type Batch = { session: Session; dueMs: number; receivedMs: number; receipts: Buffer; numbers: number[] }
type Session = { socket: Socket; tail: Buffer; receiptSequence: number; unanswered: number }

// A carrier limits unanswered receipts; this is far above what any client here leaves open.
const unansweredMax = 2000
const empty = Buffer.alloc(0)
const queue: Batch[] = []
const sessions = new Set<Session>()
const submit: Submit = { source: 0, destination: 0, destinationEnd: 0, isReceiptAsked: false, text: 0, textEnd: 0 }

let receiptDelayMs = 1000
let tally = createTally(0, 0)
let heldMs = new Float64Array(0)
let totals = { submits: 0, receiptsAsked: 0, receiptsSent: 0, receiptsAnswered: 0 }
let lastId = 1_000_000_000
let receiptText = receiptTextAt(Date.now())
let timer: NodeJS.Timeout | undefined

const server = createServer({ noDelay: true }, (socket) => {
  const session: Session = { socket, tail: empty, receiptSequence: 0, unanswered: 0 }
  sessions.add(session)
  socket.on('data', (chunk) => readChunk(session, chunk))
  socket.on('error', () => socket.destroy())
  socket.on('close', () => sessions.delete(session))
})

/** Answers every whole PDU of a chunk with one write, and queues their receipts. */
function readChunk(session: Session, chunk: Buffer): void {
  const bytes = session.tail.length === 0 ? chunk : Buffer.concat([session.tail, chunk])
  // Responses are no longer than requests; the floor is for the shortest submit_sm.
  const out = Buffer.allocUnsafe(bytes.length + submitResponseLength)
  const receivedMs = nowMs()
  const batch: Batch = { session, dueMs: receivedMs + receiptDelayMs, receivedMs, receipts: empty, numbers: [] }
  let receipts: Buffer = empty
  let receiptsEnd = 0
  let written = 0
  let at = 0
  while (at + 16 <= bytes.length) {
    const length = readUint32(bytes, at)
    if (length < 16 || length > 65_536) {
      session.socket.destroy()
      return
    }
    if (at + length > bytes.length) break
    const sequence = readUint32(bytes, at + 12)
    const id = readUint32(bytes, at + 4)
    if (id === command.submit) {
      readSubmit(bytes, at, submit)
      const number = readNumber(bytes, submit.textEnd - numberDigits)
      note(tally, number, receivedMs)
      totals.submits += 1
      lastId += 1
      written = writeSubmitResponse(out, written, sequence, lastId)
      if (submit.isReceiptAsked) {
        totals.receiptsAsked += 1
        if (receiptsEnd + receiptLengthMax > receipts.length) receipts = grow(receipts, receiptsEnd)
        session.receiptSequence = (session.receiptSequence % 0x7fffffff) + 1
        receiptsEnd = writeReceipt(receipts, receiptsEnd, session.receiptSequence, lastId, bytes, submit, receiptText)
        batch.numbers.push(number)
      }
    } else if (id === command.response + command.deliver) {
      totals.receiptsAnswered += 1
      session.unanswered -= 1
    } else if (id < command.response) written = writeOther(out, written, id, sequence)
    at += length
  }
  session.tail = at === bytes.length ? empty : bytes.subarray(at)
  if (written > 0) session.socket.write(out.subarray(0, written))
  if (batch.numbers.length > 0) {
    batch.receipts = receipts.subarray(0, receiptsEnd)
    queue.push(batch)
  }
  if (queue.length > 0) releaseDue()
}

/** Answers other PDUs: binds with our name, known ones with ROK, the rest with generic_nack. */
function writeOther(out: Buffer, at: number, id: number, sequence: number): number {
  if (id === command.bindReceiver || id === command.bindTransmitter || id === command.bindTransceiver) {
    const to = writeHeader(out, at, 21, id + command.response, 0, sequence)
    return to + out.write('sink\0', to, 'latin1')
  }
  if (id === command.enquireLink || id === command.unbind)
    return writeHeader(out, at, 16, id + command.response, 0, sequence)
  return writeHeader(out, at, 16, command.response, invalidCommandId, sequence)
}

/** Sends due receipts in order, one write per batch; all delays are equal, so the first is due first. */
function releaseDue(): void {
  const atMs = nowMs()
  let released = 0
  for (const batch of queue) {
    const isGone = batch.session.socket.destroyed
    if (batch.dueMs > atMs || (!isGone && batch.session.unanswered >= unansweredMax)) break
    released += 1
    if (isGone) continue
    batch.session.unanswered += batch.numbers.length
    totals.receiptsSent += batch.numbers.length
    for (const number of batch.numbers) {
      const index = number - tally.base
      if (index >= 0 && index < heldMs.length) heldMs[index] = atMs - batch.receivedMs
    }
    batch.session.socket.write(batch.receipts)
  }
  if (released > 0) queue.splice(0, released)
  const first = queue[0]
  if (timer === undefined && first !== undefined) {
    timer = setTimeout(
      () => {
        timer = undefined
        releaseDue()
      },
      Math.max(1, Math.floor(first.dueMs - atMs)),
    )
  }
}

function grow(receipts: Buffer, used: number): Buffer {
  const larger = Buffer.allocUnsafe(Math.max(4 * receiptLengthMax, 2 * receipts.length))
  receipts.copy(larger, 0, 0, used)
  return larger
}

setInterval(() => {
  receiptText = receiptTextAt(Date.now())
}, 10_000).unref()

answerParent({
  listen: (input: { receiptDelayMs: number }) => {
    receiptDelayMs = input.receiptDelayMs
    return listenAnywhere(server)
  },
  begin: (run: { base: number; size: number }) => {
    tally = createTally(run.base, run.size)
    heldMs = new Float64Array(run.size)
    totals = { submits: 0, receiptsAsked: 0, receiptsSent: 0, receiptsAnswered: 0 }
  },
  counts: (): SinkCounts => ({ ...countsOf(tally), ...totals }),
  sessions: () => sessions.size,
  // The actual hold of each message's receipt in ms by number, to subtract it from latency.
  heldMs: () => heldMs,
})
