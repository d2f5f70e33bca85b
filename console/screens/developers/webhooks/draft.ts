import type { Operations, Webhook } from '@heliogram/sdk'
import { numberFrom } from '../../../kit/typed.ts'
import { contractTypes, patternsOf, type EventPattern } from '../event-types.ts'

export interface WebhookDraft {
  url: string
  description: string
  events: ReadonlySet<EventPattern>
  /** One `Name: value` per line. */
  headers: string
  ordered: boolean
  isBatched: boolean
  maxEvents: string
  maxWaitMs: string
  includeBodies: boolean
}

export const emptyDraft: WebhookDraft = {
  url: '',
  description: '',
  events: new Set(contractTypes),
  headers: '',
  ordered: false,
  isBatched: false,
  maxEvents: '100',
  maxWaitMs: '1000',
  includeBodies: true,
}

export const draftOf = ({
  url,
  description,
  events,
  headers,
  ordered,
  batch,
  include_bodies,
}: Webhook): WebhookDraft => ({
  url,
  description: description ?? '',
  events: new Set(patternsOf(events)),
  headers: Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n'),
  ordered,
  isBatched: batch !== null,
  maxEvents: String(batch?.max_events ?? emptyDraft.maxEvents),
  maxWaitMs: String(batch?.max_wait_ms ?? emptyDraft.maxWaitMs),
  includeBodies: include_bodies,
})

/** Includes invalid values, because the API reports them. */
export function bodyOf(draft: WebhookDraft): Operations['createWebhook']['body'] {
  const { url, description, events, headers, ordered, isBatched, maxEvents, maxWaitMs, includeBodies } = draft
  return {
    url: url.trim(),
    description: description.trim() || null,
    events: [...events],
    headers: headersOf(headers),
    ordered,
    batch: isBatched ? { max_events: numberFrom(maxEvents), max_wait_ms: numberFrom(maxWaitMs) } : null,
    include_bodies: includeBodies,
  }
}

function headersOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', ...rest] = line.split(':')
      return [name.trim(), rest.join(':').trim()]
    }),
  )
}
