/** `heliogram trace`: the history of a message, from its acceptance to the last webhook post, in order of time. */
import type { Answer, Attempt, Client, Event, HeliogramError, Message } from '@heliogram/sdk'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { note, paint, say } from '../terminal/output.ts'
import { showSize } from '../terminal/size.ts'
import { paintStatus } from '../terminal/status.ts'
import { sayFacts, sayTable } from '../terminal/table.ts'
import { safeJson } from '../terminal/text.ts'
import { exactTime, localTime, spanOf } from '../terminal/times.ts'

interface Step {
  at: string
  kind: string
  text: string
  /** Needs attention. */
  isTrouble: boolean
}

/** Parts that were refused are null; `missing` has the reasons. */
interface Traced {
  message: Message
  decisions: Answer<'explainMessage'>['decisions'] | null
  timeline: Answer<'getMessageTimeline'>['data'] | null
  events: Event[] | null
  attempts: Attempt[] | null
  links: Answer<'listMessageLinks'>['data'] | null
  carriers: Record<string, string>
  missing: string[]
}

export function build(cli: Cli): Command {
  return new Command('trace')
    .argument('<message>', 'id of a message')
    .description(
      'Everything about a message, in order of time: decisions, attempts, receipts, events, posts to webhooks.',
    )
    .action(async (id: string) => {
      const traced = await trace(await cli.client(), id)
      if (cli.isJson) return say(safeJson(traced))
      await sayMessage(traced)
      await say()
      await sayTable(
        stepsOf(traced).map((step, i, all) => ({ ...step, since: sinceOf(all[0], step, i) })),
        [
          { title: 'WHEN', of: ({ since }) => since, isNumber: true, paint: (text) => paint('dim', text) },
          {
            title: 'WHAT',
            of: ({ kind }) => kind,
            paint: (text, { isTrouble }) => (isTrouble ? paint('red', text) : paint('bold', text)),
          },
          { title: '', of: ({ text }) => text },
        ],
        false,
      )
      for (const line of traced.missing) note(paint('dim', line))
    })
}

async function trace(client: Client, id: string): Promise<Traced> {
  const message = await client.call('getMessage', { path: { id } })
  const missing: string[] = []
  const or = async <T>(what: string, ask: Promise<T>): Promise<T | null> =>
    ask.catch((error: unknown) => {
      const { code, status = 0, detail } = error as Partial<HeliogramError>
      if (code === undefined || status === 401) throw error
      missing.push(`Not shown: ${what}. ${detail}`)
      return null
    })
  const path = { id }
  const isOutbound = message.direction === 'outbound'
  const [explained, timeline, found, carriers, links] = await Promise.all([
    isOutbound ? or('its routing decisions', client.call('explainMessage', { path })) : null,
    or('its history', client.call('getMessageTimeline', { path })),
    or('its events', client.call('listEvents', { query: { message: id, limit: 200 } })),
    isOutbound && message.route ? client.call('listCarriers').catch(() => null) : null,
    isOutbound ? client.call('listMessageLinks', { path }).catch(() => null) : null,
  ])
  const events = found?.data ?? null
  const posts = await Promise.all(
    (events ?? []).map((event) =>
      or(`posts of ${event.id}`, client.call('listEventDeliveries', { path: { id: event.id }, query: { limit: 50 } })),
    ),
  )
  return {
    message,
    decisions: explained?.decisions ?? null,
    timeline: timeline?.data ?? null,
    events,
    attempts: events && posts.flatMap((page) => page?.data ?? []),
    links: links?.data ?? null,
    carriers: Object.fromEntries((carriers?.data ?? []).map((carrier) => [carrier.id, carrier.name])),
    missing,
  }
}

async function sayMessage({ message, carriers, links }: Traced): Promise<void> {
  const { error, route, hold, price, estimated_price: estimate } = message
  const end = message.completed_at
    ? `  ${spanOf(Date.parse(message.completed_at) - Date.parse(message.created_at))} after it was accepted`
    : ''
  await say(`${paint('bold', message.id)}  ${paintStatus(message.status)}${paint('dim', end)}`)
  await say()
  await sayFacts(
    [
      [message.direction === 'inbound' ? 'received' : 'accepted', localTime(message.created_at)],
      ['to', message.to],
      ['from', message.from],
      ['text', message.message ?? (message.redacted ? '(removed)' : null)],
      ['size', showSize(message)],
      [
        'type',
        `${message.type ?? message.direction}${message.test ? ', test mode' : ''}${message.automatic ? ', automatic' : ''}`,
      ],
      ['campaign', message.campaign],
      ['in reply to', message.in_reply_to],
      [
        'carrier',
        route
          ? `${carriers[route.carrier] ?? route.carrier}${message.provider_message_id ? `, its id ${message.provider_message_id}` : ''}`
          : null,
      ],
      [
        'price',
        price
          ? `${price.amount} ${price.currency}`
          : estimate
            ? `${estimate.amount} ${estimate.currency}, estimated`
            : null,
      ],
      ['waits for', hold ? `${hold.reason}${hold.until ? `, until ${localTime(hold.until)}` : ''}` : null],
      [
        'error',
        error
          ? `${error.code}: ${error.detail}${error.source.raw && !error.detail.includes(error.source.raw) ? ` (the carrier reported ${error.source.raw})` : ''}`
          : null,
      ],
      ['advice', error?.advice],
      ['possible duplicate', message.possible_duplicate ? 'it was sent again after an unknown outcome' : null],
      [
        'metadata',
        Object.entries(message.metadata ?? {})
          .map(([name, value]) => `${name}=${value}`)
          .join(', '),
      ],
      ['tags', message.tags?.join(', ')],
      ...(links ?? []).map(({ url, clicks }) => ['short link', `${url ?? '(hidden)'}, ${clicks} clicks`] as const),
      ...(message.warnings ?? []).map(({ code, detail }) => [code, detail] as const),
    ],
    '  ',
  )
}

// At the same instant, causes come before effects.
const order = ['event', 'post']

function stepsOf({ decisions, timeline, events, attempts, carriers }: Traced): Step[] {
  const name = (id: string): string => carriers[id] ?? id
  const told: Step[] = (decisions ?? []).map(
    ({ at, step, decision, rule, detail, carrier, carrier_message_id: id, possible_duplicate: isDouble }) => ({
      at,
      kind: step === 'outcome' ? (decision ?? step) : step,
      text: [
        detail.replace(/\.$/, ''),
        carrier && `to ${name(carrier)}`,
        id && `its id ${id}`,
        step === 'answer' && rule,
        isDouble && 'possible duplicate',
      ]
        .filter(Boolean)
        .join(', '),
      isTrouble: isTrouble(step, decision),
    }),
  )
  const plain: Step[] = decisions
    ? []
    : (timeline ?? []).map(({ at, type, detail, carrier_message_id: id }) => ({
        at,
        kind: type,
        text: `${detail.replace(/\.$/, '')}${id ? `, its id ${id}` : ''}`,
        isTrouble: isTrouble(type, type),
      }))
  const recorded: Step[] = (events ?? []).map(({ id, type, timestamp }) => ({
    at: timestamp,
    kind: 'event',
    text: `${type}, ${id}`,
    isTrouble: false,
  }))
  const posted: Step[] = (attempts ?? []).map((attempt) => ({
    at: attempt.created_at,
    kind: 'post',
    text: [
      `${attempt.event_type ?? attempt.event} to ${attempt.request.url ?? attempt.webhook ?? 'its callback address'}`,
      attempt.status_code === null ? attempt.outcome : `answered ${attempt.status_code}`,
      `in ${spanOf(attempt.duration_ms)}`,
      `attempt ${attempt.try}`,
      attempt.next_attempt_at && `again at ${localTime(attempt.next_attempt_at)}`,
    ]
      .filter(Boolean)
      .join(', '),
    isTrouble: attempt.outcome !== 'ok',
  }))
  return [...told, ...plain, ...recorded, ...posted].sort(
    (a, b) => a.at.localeCompare(b.at) || order.indexOf(a.kind) - order.indexOf(b.kind),
  )
}

const isTrouble = (step: string, decision: string | null): boolean =>
  ['retry', 'hold'].includes(step) ||
  ['refused', 'unknown', 'undelivered', 'rejected', 'failed', 'expired', 'unconfirmed', 'canceled'].includes(
    decision ?? '',
  )

/** The first step shows the clock time, later ones the time since. */
const sinceOf = (first: Step | undefined, step: Step, index: number): string =>
  index === 0 || !first ? exactTime(step.at) : `+${spanOf(Date.parse(step.at) - Date.parse(first.at))}`
