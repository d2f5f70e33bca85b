/** One session of ours against the sink: how many submits a second it carries, from the first to the last answer. */
import { connectSession, ESME } from '../../smpp/index.ts'
import type { Figure } from './report.ts'
import type { SinkCounts } from './sink.ts'
import { numberDigits } from './tally.ts'
import { startWorker } from './worker.ts'

/** Submits a second over one session with a window of 1000; the sink must have counted each once. */
export async function measureSinkSession(size: number): Promise<Figure> {
  const sink = startWorker('./sink.ts')
  try {
    const port = await sink.ask<number>('listen', { receiptDelayMs: 1000 })
    await sink.ask('begin', { base: 0, size })
    const ms = await submitAll(port, size)
    const counts = await sink.ask<SinkCounts>('counts')
    if (counts.distinct !== size || counts.duplicates !== 0) {
      throw new Error(`the sink miscounted ${size} submits: ${JSON.stringify(counts)}`)
    }
    const perSecond = (size / ms) * 1000
    const value = `${Math.round(perSecond / 1000)}k submits/s`
    return { what: 'one session', value, goal: '≥ 100k', isMet: perSecond >= 100_000 }
  } finally {
    await sink.stop()
  }
}

/** Submits `size` messages, each with its number at the end, and resolves with the milliseconds until the last response. */
async function submitAll(port: number, size: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let submitted = 0
  let answered = 0
  const session = connectSession<number>({
    host: '127.0.0.1',
    port,
    windowMax: 1000,
    bind: { mode: 'transceiver', system_id: 'bench', password: 'secret' },
    onOutcome: (_session, context, outcome) => {
      if (outcome.kind !== 'response' || outcome.status !== ESME.ROK) reject(new Error(`${context}: ${outcome.kind}`))
      else if (++answered === size) resolve()
    },
    onRoom: fill,
  })
  function fill(): void {
    while (session.room > 0 && submitted < size) {
      const text = `Heliogram benchmark message ${String(submitted).padStart(numberDigits, '0')}`
      const fields = {
        source_addr_ton: 1,
        source_addr_npi: 1,
        source_addr: '15557654321',
        dest_addr_ton: 1,
        dest_addr_npi: 1,
        destination_addr: '15551231000',
        short_message: Buffer.from(text, 'latin1'),
      }
      session.submit(fields, submitted++)
    }
  }
  await session.whenBound()
  const startedMs = performance.now()
  fill()
  await promise
  const ms = performance.now() - startedMs
  await session.unbind(1000)
  return ms
}
