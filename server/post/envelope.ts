/** The body and headers of a POST: one event, or a batch signed as one. */
import { payloadOf, type Posting } from '../events/events.ts'
import { newId, showId } from '../ground/base/ids.ts'
import type { Endpoint } from './endpoint.ts'
import { hideTexts } from './resource.ts'
import type { Asked } from './asked.ts'
import { sign } from './signature.ts'
import { wrapForTwilio } from './twilio-envelope.ts'
import { twilioFormMark, wantsTwilioForm } from './twilio-form.ts'

export interface Rendered {
  posting: Posting
  payload: string
}

export interface Envelope {
  /** Names and values in turn. */
  headers: string[]
  body: string
  /** Null: a single event, in its own form. */
  batchId: string | null
  /** The end of its address that selects another form; never sent. */
  mark: string
  /** Set if the answer matters. */
  asked: Asked | null
}

// A batch stops here; one event may be larger.
const bodyCharactersMax = 1024 * 1024

/** Wraps posts that go together. A batch gets a new id at each try: events that are retried may come in other batches, and keep their own ids. */
export function wrap(endpoint: Endpoint, taken: readonly Rendered[], startedAt: Date): Envelope {
  const payloads = taken.map(({ payload }) => (endpoint.hasBodies ? payload : hideTexts(payload)))
  const posting = taken[0]?.posting
  const url = endpoint.url ?? posting?.url
  if (url && posting && wantsTwilioForm(url)) {
    const payload = payloads[0] ?? ''
    const form = wrapForTwilio(url, endpoint.twilioToken, { ...posting, payload }, endpoint.headers)
    if (form) {
      const { isIncoming, url: to, ...written } = form
      const { accountId, eventId, targetId: webhookId = posting.endpointId } = posting
      const asked = isIncoming ? { accountId, webhookId, eventId, payload, url: to } : null
      return { ...written, batchId: null, mark: twilioFormMark, asked }
    }
  }
  const batchId = endpoint.batch ? newId() : null
  const body = batchId ? `{"events":[${payloads.join(',')}]}` : (payloads[0] ?? '')
  const id = batchId ? showId('bat', batchId) : showId('evt', posting?.eventId ?? '')
  const timestamp = Math.floor(startedAt.getTime() / 1000)
  const signature = sign(endpoint.keys, id, timestamp, body)
  const signed = ['webhook-id', id, 'webhook-timestamp', String(timestamp), 'webhook-signature', signature]
  return { headers: endpoint.headers.concat(signed), body, batchId, mark: '', asked: null }
}

/** The bodies of the first posts of a queue that go into one POST. */
export function renderTogether({ batch }: Endpoint, queue: readonly { posting: Posting }[]): string[] {
  const payloads: string[] = []
  let characters = 0
  for (const { posting } of queue) {
    const payload = payloadOf(posting)
    characters += payload.length
    if (payloads.length > 0 && characters > bodyCharactersMax) break
    if (payloads.push(payload) === (batch?.eventsMax ?? 1)) break
  }
  return payloads
}
