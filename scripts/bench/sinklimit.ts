/** Submits per second that the sink takes, with receipts, from a sender that only writes bytes. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { command, readUint32, submitResponseLength, writeDecimal, writeHeader } from './frames.ts'
import type { SinkCounts } from './sink.ts'
import { numberDigits } from './tally.ts'
import { nowMs, startWorker } from './worker.ts'

const windowMax = 1000

/** Over `size` messages in a window of 1000, with receipts; checks that all were counted. */
export async function measureSinkLimit(size: number): Promise<number> {
  const sink = startWorker('./sink.ts')
  try {
    const port = await sink.ask<number>('listen', { receiptDelayMs: 1000 })
    await sink.ask('begin', { base: 0, size })
    const ms = await blast(port, size)
    const counts = await sink.ask<SinkCounts>('counts')
    if (counts.distinct !== size || counts.duplicates !== 0 || counts.receiptsAsked !== size) {
      throw new Error(`the sink miscounted ${size} submits: ${JSON.stringify(counts)}`)
    }
    return (size / ms) * 1000
  } finally {
    await sink.stop()
  }
}

async function blast(port: number, size: number): Promise<number> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await once(socket, 'connect')
  const bind = Buffer.alloc(16 + 7)
  writeHeader(bind, 0, bind.length, command.bindTransceiver, 0, 1)
  socket.write(bind)
  await once(socket, 'data')

  const startedMs = nowMs()
  let submitted = 0
  let answered = 0
  let tail: Buffer = Buffer.alloc(0)
  const refill = () => {
    const count = Math.min(windowMax - (submitted - answered), size - submitted)
    if (count < windowMax / 2 && submitted + count < size) return
    const out = Buffer.allocUnsafe(count * submitLength)
    for (let at = 0; at < out.length; at += submitLength) {
      template.copy(out, at)
      out.writeUInt32BE(submitted + 2, at + 12)
      writeDecimal(out, at + submitLength - numberDigits, submitted, numberDigits)
      submitted += 1
    }
    if (count > 0) socket.write(out)
  }
  return new Promise((resolve, reject) => {
    socket.on('error', reject)
    socket.on('data', (chunk) => {
      const bytes = tail.length === 0 ? chunk : Buffer.concat([tail, chunk])
      let acknowledged = 0
      let at = 0
      while (at + 16 <= bytes.length) {
        const length = readUint32(bytes, at)
        if (at + length > bytes.length) break
        if (length === submitResponseLength && readUint32(bytes, at + 4) === command.response + command.submit)
          answered += 1
        else acknowledged += 1
        at += length
      }
      tail = bytes.subarray(at)
      // Receipts are answered, so that the sink's work for them counts.
      if (acknowledged > 0) socket.write(deliverResponses(acknowledged))
      if (answered < size) return refill()
      socket.destroy()
      resolve(nowMs() - startedMs)
    })
    refill()
  })
}

const text = `Heliogram benchmark message ${'0'.repeat(numberDigits)}`
const body = `\0\x01\x0115557654321\0\x01\x0115551231000\0\0\0\0\0\0\x01\0\0\0${String.fromCharCode(text.length)}${text}`
const submitLength = 16 + body.length
const template = Buffer.concat([Buffer.alloc(16), Buffer.from(body, 'latin1')])
writeHeader(template, 0, submitLength, command.submit, 0, 0)

function deliverResponses(count: number): Buffer {
  const out = Buffer.alloc(count * 17)
  for (let at = 0; at < out.length; at += 17) writeHeader(out, at, 17, command.response + command.deliver, 0, 0)
  return out
}
