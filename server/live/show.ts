import { Type } from 'typebox'
import { IdOf, Nullable, showTime, Timestamp } from '../ground/http/http.ts'
import { showId } from '../ground/base/ids.ts'
import type { Latency } from './live.ts'
import { drainSecondsOf, oldestAgeSeconds, type QueuePart, type QueueState } from './queue.ts'
import type { LinkRow } from '../links/carrier-store.ts'

const lately = 'over the last five to ten minutes and all processes, a few seconds old'

export const PercentilesSchema = Type.Object(
  {
    p50_ms: Type.Number(),
    p95_ms: Type.Number(),
    p99_ms: Type.Number(),
    count: Type.Integer({ description: 'Number of measurements.' }),
  },
  { description: `Milliseconds ${lately}; accurate to a tenth.` },
)

const times = {
  response: Nullable(PercentilesSchema),
  receipt: Nullable(PercentilesSchema),
}

export const LatencySchema = Type.Object(
  {
    ...times,
    countries: Type.Array(
      Type.Object({ country: Type.String({ description: 'ISO 3166-1 alpha-2, or `other`.' }), ...times }),
      { description: "The same by the recipient's country, busiest first; the 25th and later ones are `other`." },
    ),
  },
  {
    description:
      '`response`: from a submit to its response. `receipt`: from the response to the receipt that ended the message. null if there are none.',
  },
)

const waiting = {
  type: Type.Enum(['otp', 'transactional', 'marketing']),
  messages: Type.Integer({ description: 'Queued messages.' }),
  segments: Type.Integer({ description: 'Their segments.' }),
  oldest_age_seconds: Nullable(
    Type.Number({ description: 'How long the oldest has waited; null if the queue is empty.' }),
  ),
  drain_seconds: Nullable(
    Type.Number({ description: 'Time until it is sent at the pace allowed now; null while no link can send it.' }),
  ),
}

export const CarrierQueueSchema = Type.Array(Type.Object(waiting), { description: 'Its queue, by type.' })

export const QueueSchema = Type.Object(
  {
    object: Type.Literal('queue'),
    counted_at: Timestamp('When it was counted: a second ago, or more for a long queue.'),
    messages: Type.Integer({ description: 'All queued messages.' }),
    segments: Type.Integer(),
    parts: Type.Array(
      Type.Object({
        ...waiting,
        carrier: Nullable(IdOf('car', 'Their carrier; null: not decided yet.')),
        held: Type.Boolean({ description: 'Messages whose account is suspended, or whose lane is paused.' }),
      }),
    ),
    delayed: Type.Object(
      { messages: Type.Integer(), next_due_at: Nullable(Timestamp('When the first of them is due.')) },
      { description: 'Messages that wait for a time: scheduled ones and retries.' },
    ),
  },
  { $id: 'Queue', description: 'The queue of all accounts.' },
)

export function renderLatency(whole: Latency, countries: readonly ({ country: string } & Latency)[]): object {
  return { response: whole.response, receipt: whole.receipt, countries }
}

export function renderPart(part: QueuePart, state: QueueState, links: readonly LinkRow[]): Record<string, unknown> {
  const age = oldestAgeSeconds(part, state)
  const drain = part.messages === 0 ? 0 : drainSecondsOf(part, state.parts, links)
  return {
    type: part.type,
    messages: part.messages,
    segments: part.segments,
    oldest_age_seconds: age === null ? null : round(age),
    drain_seconds: drain === null ? null : round(drain),
  }
}

export function renderQueue(state: QueueState, links: readonly LinkRow[]): Record<string, unknown> {
  const sum = (of: (part: QueuePart) => number): number => state.parts.reduce((all, part) => all + of(part), 0)
  return {
    object: 'queue',
    counted_at: showTime(state.countedAt),
    messages: sum((part) => part.messages),
    segments: sum((part) => part.segments),
    parts: state.parts.map((part) => ({
      ...renderPart(part, state, links),
      carrier: part.carrierId && showId('car', part.carrierId),
      held: part.isHeld,
    })),
    delayed: { messages: state.delayed.messages, next_due_at: showTime(state.delayed.dueAt) },
  }
}

const round = (seconds: number): number => Math.round(seconds * 10) / 10
