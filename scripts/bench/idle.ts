/** What links cost that do nothing: sessions of ours, bound to the sink with their usual timers, in a process of their own. */
import { setTimeout as pause } from 'node:timers/promises'
import { connectSession, SESSION_DEFAULTS } from '../../smpp/index.ts'
import { readCpuSeconds } from './product.ts'
import { answerParent, startWorker } from './worker.ts'

/** Measured for so long that every session asks once whether its peer lives. */
const measuredMs = SESSION_DEFAULTS.enquireLinkMs + 2_000

/** Percent of a core that so many idle bound sessions use together, timers and enquire_link included. */
export async function measureIdleLinks(links: number): Promise<number> {
  const [sink, process] = [startWorker('./sink.ts'), startWorker('./idle.ts')]
  try {
    const port = await sink.ask<number>('listen', { receiptDelayMs: 1000 })
    await process.ask('bind', { port, links })
    const before = readCpuSeconds([process.pid])
    await pause(measuredMs)
    const seconds = readCpuSeconds([process.pid]) - before
    const asked = await process.ask<number>('asked')
    if (asked !== links) throw new Error(`only ${asked} of ${links} links asked whether their carrier lives`)
    return (seconds / (measuredMs / 1000)) * 100
  } finally {
    await Promise.all([sink.stop(), process.stop()])
  }
}

if (import.meta.main) {
  const sessions: ReturnType<typeof connectSession>[] = []
  answerParent({
    bind: async ({ port, links }: { port: number; links: number }) => {
      for (let link = 0; link < links; link++) {
        const bind = { mode: 'transceiver', system_id: `link${link}`, password: 'secret' } as const
        sessions.push(connectSession({ host: '127.0.0.1', port, windowMax: 100, bind }))
      }
      await Promise.all(sessions.map((session) => session.whenBound()))
    },
    asked: () => sessions.filter(({ lastEnquireAnsweredAtMs }) => lastEnquireAnsweredAtMs > 0).length,
  })
}
