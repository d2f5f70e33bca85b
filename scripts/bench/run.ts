import { type Running, readCpuSeconds, waitUntil, waitUntilQuiet } from './product.ts'
import type { LoadInput, LoadOutput } from './load.ts'
import type { ReceiverCounts } from './receiver.ts'
import type { SinkCounts } from './sink.ts'
import { quantile } from './tally.ts'
import { startWorker, type Worker } from './worker.ts'

/** The carrier's receipt delay: long enough that nothing is coalesced by luck. */
const receiptDelayMs = 1000

/** The processes around the products, shared by a comparison. */
export type Stage = {
  sink: Worker
  receiver: Worker
  load: Worker
  ends: { carrierPort: number; receiverPort: number }
}

export async function startStage(): Promise<Stage> {
  const [sink, receiver, load] = [startWorker('./sink.ts'), startWorker('./receiver.ts'), startWorker('./load.ts')]
  const carrierPort = await sink.ask<number>('listen', { receiptDelayMs })
  const receiverPort = await receiver.ask<number>('listen')
  return { sink, receiver, load, ends: { carrierPort, receiverPort } }
}

export async function stopStage(stage: Stage): Promise<void> {
  await Promise.all([stage.load.stop(), stage.receiver.stop(), stage.sink.stop()])
}

/** Latencies run from request to callback, without the receipt's delay. */
export type Result = {
  /** From the first request to the last callback, with the receipt's delay, in which a product works. */
  messagesPerSecond: number
  /** From the first request to the last 202. */
  acceptedPerSecond: number
  /** CPU of all the product's processes until they are idle, without that of rest, divided by messages. */
  cpuUsPerMessage: number
  callbackMs: { p50: number; p99: number }
  acceptMs: { p50: number; p99: number }
}

/** `perSecond` makes it a run of latency instead of throughput. `restPercent`: CPU at rest, in percent of a core. */
export type RunInput = { size: number; connections: number; perSecond?: number; restPercent?: number }

// After so long without a callback the run ends, and its counts show what is missing.
const stallMs = 10_000
let nextBase = 0

export function takeNumbers(size: number): { base: number; size: number } {
  const base = nextBase
  nextBase += size
  return { base, size }
}

/** Sends `size` messages through a started product, waits for every callback, and throws unless all counts agree. */
export async function runOnce(stage: Stage, product: Running, input: RunInput): Promise<Result> {
  const run = takeNumbers(input.size)
  const { restPercent = 0, ...paced } = input
  const loadInput: LoadInput = { ...run, ...paced, shape: product.request, accepted: product.acceptedStatus }
  const {
    sent: load,
    receiver,
    cpuSeconds,
    seconds,
  } = await runThrough(stage, product, run, () => stage.load.ask<LoadOutput>('run', loadInput))

  const [firstMs, heldMs] = await Promise.all([
    stage.receiver.ask<Float64Array>('firstMs'),
    stage.sink.ask<Float64Array>('heldMs'),
  ])
  const callbackMs = Array.from(firstMs, (atMs, index) => atMs - (load.sentMs[index] ?? 0) - (heldMs[index] ?? 0))
  const acceptMs = Array.from(load.answerMs, (atMs, index) => atMs - (load.sentMs[index] ?? 0))
  return {
    messagesPerSecond: (input.size / (receiver.lastMs - load.firstMs)) * 1000,
    acceptedPerSecond: (input.size / (load.lastMs - load.firstMs)) * 1000,
    cpuUsPerMessage: ((cpuSeconds - (restPercent / 100) * seconds) * 1e6) / input.size,
    callbackMs: { p50: quantile(callbackMs, 0.5), p99: quantile(callbackMs, 0.99) },
    acceptMs: { p50: quantile(acceptMs, 0.5), p99: quantile(acceptMs, 0.99) },
  }
}

/** Sends the messages of `run`, waits for their callbacks and for idleness, and throws unless all counts agree. */
export async function runThrough<Sent extends Accepted>(
  stage: Stage,
  product: Running,
  run: { base: number; size: number },
  send: () => Promise<Sent>,
): Promise<{ sent: Sent; receiver: ReceiverCounts; cpuSeconds: number; seconds: number }> {
  await Promise.all([
    stage.sink.ask('begin', run),
    stage.receiver.ask('begin', { ...run, shape: product.callback }),
    waitUntilQuiet(product.rootPids),
  ])
  const cpuBefore = readCpuSeconds(product.rootPids)
  const startedAt = performance.now()
  const sent = await send()
  await stage.receiver.ask('finished', { stallMs })
  await waitUntilQuiet(product.rootPids)
  const cpuSeconds = readCpuSeconds(product.rootPids) - cpuBefore
  const seconds = (performance.now() - startedAt) / 1000
  return { sent, receiver: await checkCounts(stage, product, run.size, sent), cpuSeconds, seconds }
}

type Accepted = Pick<LoadOutput, 'accepted' | 'statuses' | 'refusals'>

/** Accepted = submitted = receipts = callbacks, each once, all delivered, all sampled signatures valid, nothing left. */
async function checkCounts(stage: Stage, product: Running, size: number, load: Accepted): Promise<ReceiverCounts> {
  const answered = async () => (await stage.sink.ask<SinkCounts>('counts')).receiptsAnswered === size
  await waitUntil('every receipt to be answered', answered, 5000).catch(() => {})
  await waitUntil('nothing to be left', async () => (await product.countLeft()) === 0, 5000).catch(() => {})
  const sink = await stage.sink.ask<SinkCounts>('counts')
  const receiver = await stage.receiver.ask<ReceiverCounts>('counts')
  const left = await product.countLeft()
  const mustBeSize = [
    load.accepted,
    sink.submits,
    sink.distinct,
    sink.receiptsSent,
    sink.receiptsAnswered,
    receiver.callbacks,
    receiver.distinct,
    receiver.delivered,
  ]
  const mustBeZero = [sink.duplicates, sink.strays, receiver.duplicates, receiver.strays, receiver.forged, left]
  if (mustBeSize.every((count) => count === size) && mustBeZero.every((count) => count === 0)) return receiver
  const { accepted, statuses, refusals } = load
  throw new Error(
    `the counts of ${size} messages disagree: ${JSON.stringify({ accepted, statuses, refusals, sink, receiver, left }, null, 2)}`,
  )
}
