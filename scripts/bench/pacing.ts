/** How well links keep their pace: links of the product in a process of their own, each with more to send than it may, against the sink. */
import { newId } from '../../server/ground/base/ids.ts'
import { Limits } from '../../server/links/limits.ts'
import { Link } from '../../server/links/link.ts'
import { Pace } from '../../server/links/pace.ts'
import { smppDefaults } from '../../server/links/settings.ts'
import { defaultReasons } from '../../server/message/taxonomy.ts'
import type { Figure } from './report.ts'
import { answerParent, startWorker } from './worker.ts'

/** What one link did in the time measured. */
type Paced = { rate: number; sent: number; mostInASecond: number }

const rates = [1, 10, 100, 1000]
const measuredSeconds = 60
/** Before it counts: sessions bind, and V8 compiles. */
const warmUpMs = 3000
const submitSm = 4

/** All rates at the same time, each on a link of its own: the figures and whether they are within bounds. */
export async function measurePacing(): Promise<Figure[]> {
  const [sink, links] = [startWorker('./sink.ts'), startWorker('./pacing.ts')]
  try {
    const port = await sink.ask<number>('listen', { receiptDelayMs: 1000 })
    return (await links.ask<Paced[]>('run', { port })).flatMap(toFigures)
  } finally {
    await Promise.all([sink.stop(), links.stop()])
  }
}

function toFigures({ rate, sent, mostInASecond }: Paced): Figure[] {
  const due = rate * measuredSeconds
  const isSlow = rate < 10
  const error = ((sent - due) / due) * 100
  const shown = isSlow ? `${sent - due} segments` : `${error.toFixed(2)} %`
  return [
    {
      what: `pace of ${rate}/s: most in any second`,
      value: `${mostInASecond} segments`,
      goal: `≤ ${rate + 1}`,
      isMet: mostInASecond <= rate + 1,
    },
    {
      what: `pace of ${rate}/s: off the pace over a minute`,
      value: shown,
      goal: isSlow ? '±1 segment' : '±1 %',
      isMet: isSlow ? Math.abs(sent - due) <= 1 : Math.abs(error) <= 1,
    },
  ]
}

/** Runs one link; resolves with the times at which its segments were given to the socket, in milliseconds. */
async function runLink(port: number, rate: number): Promise<number[]> {
  const times: number[] = []
  const id = newId()
  const link: Link = new Link({
    id,
    receiptsId: id,
    carrierId: newId(),
    nodeId: newId(),
    settings: { ...smppDefaults, host: '127.0.0.1', port, system_id: `pace${rate}`, window: 1000 },
    password: 'secret',
    pace: new Pace(rate),
    limits: new Limits(),
    reasons: defaultReasons,
    mayWrite: () => true,
    onAnswer: () => {},
    onDeliver: (_link, _pdu, respond) => respond(0),
    onRoom: () => fill(),
    onState: () => {},
    trace: (_link, direction, bytes) => {
      if (direction === 'out' && bytes.readUInt32BE(4) === submitSm) times.push(performance.now())
    },
  })
  const fill = (): void => {
    while (link.room('transactional') > 0)
      link.submit({
        accountId: id,
        id: newId(),
        type: 'transactional',
        theirNumber: '15551231000',
        ourNumber: '15557654321',
        campaignId: null,
        body: 'Heliogram benchmark message',
        encoding: 'GSM-7',
        segments: 1,
        pending: null,
        try: 1,
        expiresAt: null,
        linkId: id,
        isDirect: true,
      })
  }
  link.renew({ slots: [1], untilMs: Infinity })
  // What the queue does in the product: looks now and then whether there is room.
  const timer = setInterval(fill, 100)
  await new Promise((resolve) => setTimeout(resolve, warmUpMs + measuredSeconds * 1000))
  clearInterval(timer)
  await link.close(1000)
  return times
}

function readTimes(rate: number, times: readonly number[], from: number): Paced {
  const to = from + measuredSeconds * 1000
  let mostInASecond = 0
  for (let i = 0, first = 0; i < times.length; i++) {
    while ((times[i] ?? 0) - (times[first] ?? 0) >= 1000) first++
    mostInASecond = Math.max(mostInASecond, i - first + 1)
  }
  return { rate, mostInASecond, sent: times.filter((at) => at >= from && at < to).length }
}

if (import.meta.main)
  answerParent({
    run: async ({ port }: { port: number }): Promise<Paced[]> => {
      const from = performance.now() + warmUpMs
      const all = await Promise.all(rates.map((rate) => runLink(port, rate)))
      return all.map((times, i) => readTimes(rates[i] ?? 0, times, from))
    },
  })
