/**
 * Sends the `<Message>` elements in answers to incoming messages. Each has an idempotency key made of the event and its position, so a repeated post
 * sends nothing twice. An event reports messages that are not sent.
 */
import { inTransaction } from '../ground/db/db.ts'
import { isPassing } from '../ground/db/failure.ts'
import type { Log } from '../ground/db/log.ts'
import { ApiError, invalid } from '../ground/base/errors.ts'
import { recordEvents, type Needs } from '../events/events.ts'
import { fingerprintOf } from '../ground/http/idempotency.ts'
import { showId } from '../ground/base/ids.ts'
import type { Acceptor } from '../accept/accept.ts'
import { readDraft, type DraftContext } from '../accept/draft.ts'
import { refusalError } from '../accept/send.ts'
import type { Asked, GivenAnswer, TakeAnswer } from '../post/asked.ts'
import { toTwilioFault, WrongParameter } from './faults.ts'
import { readTwilioSend } from './send.ts'
import { readTwiml, type AnswerFault, type AnswerMessage } from './twiml.ts'

type AnswersContext = Needs<'db' | 'outbox' | 'refuseUrl' | 'shortUrl'> & { acceptor: Pick<Acceptor, 'accept'> }

interface Incoming {
  data: { message: { id: string; from: string | null; to: string | null; test: boolean } }
}

// In one answer. No program needs more, but a faulty one may send more.
const messagesMax = 20
const faultsMax = 20
// Numbers of https://www.twilio.com/docs/api/errors.
const tooLarge = 11750
const notParsed = 12100
const notValid = 12200
const wrongType = 12300

export class TwilioAnswers {
  readonly #log: Log
  #context: AnswersContext | null = null

  constructor(log: Log) {
    this.#log = log
  }

  open(context: AnswersContext): void {
    this.#context = context
  }

  readonly take: TakeAnswer = async (asked, answer) => {
    try {
      if (this.#context) await answerMessage(this.#context, asked, answer)
    } catch (error) {
      if (!isPassing(error))
        this.#log.error({ error, webhook: showId('whk', asked.webhookId) }, 'a TwiML answer could not be sent')
      throw error
    }
    if (!this.#context) throw new Error('messages are not accepted yet')
  }
}

async function answerMessage(context: AnswersContext, asked: Asked, answer: GivenAnswer): Promise<void> {
  const { messages, faults } = readAnswer(answer)
  const incoming = JSON.parse(asked.payload) as Incoming
  const checks = messages.length > 0 ? await readChecks(context, asked, incoming) : null
  // One by one, to keep their order.
  for (const [i, message] of messages.entries()) {
    const { element, position } = message
    const fault =
      i < messagesMax
        ? checks && (await send(context, asked, incoming, checks, message))
        : { code: notValid, detail: `exceeds the ${messagesMax} messages that a response can have` }
    if (fault) faults.push({ element, position, ...fault })
  }
  if (faults.length > 0) await tell(context, asked, incoming, faults)
}

function readAnswer({ contentType, body, isWhole }: GivenAnswer): ReturnType<typeof readTwiml> {
  const whole = (code: number, detail: string): ReturnType<typeof readTwiml> => ({
    messages: [],
    faults: [{ element: null, position: null, code, detail }],
  })
  if (!isWhole && body.length === 64 * 1024) return whole(tooLarge, 'The response is longer than 64 KiB.')
  if (!isWhole) return whole(notParsed, 'The response was cut off.')
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return whole(notParsed, 'The response is not UTF-8.')
  }
  if (text.trim() === '') return { messages: [], faults: [] }
  const [type = '', ...parameters] = (contentType ?? '').toLowerCase().split(';')
  const charset = parameters.find((one) => /^\s*charset\s*=/.test(one))?.replace(/^.*=\s*"?|"?\s*$/g, '')
  if (!['text/xml', 'application/xml', 'text/html'].includes(type.trim()))
    return whole(wrongType, 'The Content-Type of TwiML must be text/xml, application/xml or text/html.')
  if (charset !== undefined && !['utf-8', 'utf8', 'us-ascii'].includes(charset))
    return whole(wrongType, 'The charset of TwiML must be utf-8.')
  return readTwiml(text)
}

/** By primary key. */
async function readChecks(
  { db, refuseUrl, shortUrl = null }: AnswersContext,
  { accountId }: Asked,
  { data }: Incoming,
): Promise<DraftContext> {
  const { rows } = await db.query<{ defaultCountry: string | null }>(
    `select settings ->> 'default_country' as "defaultCountry" from accounts where id = $1`,
    [accountId],
  )
  const defaultCountry = rows[0]?.defaultCountry ?? null
  return { accountId, isTest: data.message.test, defaultCountry, refuseUrl, shortUrl }
}

/** Sends one message; returns Twilio's error if it is refused. */
async function send(
  { acceptor }: AnswersContext,
  { webhookId, eventId, url }: Asked,
  { data }: Incoming,
  checks: DraftContext,
  { position, parameters: given }: AnswerMessage,
): Promise<Pick<AnswerFault, 'code' | 'detail'> | null> {
  const { StatusCallback: callback } = given
  const parameters = {
    To: data.message.from ?? '',
    From: data.message.to ?? '',
    ...given,
    // An address may be relative to the one that answered.
    ...(callback !== undefined && { StatusCallback: URL.parse(callback, url)?.href ?? callback }),
  }
  try {
    const draft = readDraft(readTwilioSend(new URLSearchParams(parameters)), checks)
    if (Array.isArray(draft)) throw invalid(draft)
    const fingerprint = fingerprintOf(parameters)
    const key = `${showId('whk', webhookId)} ${showId('evt', eventId)} ${position}`
    const accepted = await acceptor.accept({
      ...draft,
      idempotency: { operation: 'twilio.answer', key, fingerprint },
    })
    if (accepted.kind === 'refused') throw refusalError(accepted.refusal, accepted.stop, accepted.waitSeconds)
    // Erasure leaves an empty fingerprint.
    const known = accepted.kind === 'known_key' && accepted.messageId ? accepted.fingerprint : fingerprint
    return known.length > 0 && !known.equals(fingerprint)
      ? { code: notValid, detail: 'differs from the message sent for the first post' }
      : null
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof WrongParameter)) throw error
    const { code, message: detail } = toTwilioFault(error)
    return { code, detail }
  }
}

/** Records an undone part of an answer as an event, always: nothing else reports it. */
async function tell(
  { db, outbox }: AnswersContext,
  { accountId, webhookId, eventId }: Asked,
  { data: { message } }: Incoming,
  faults: AnswerFault[],
): Promise<void> {
  const more = faults.length - faultsMax
  const told = faults.toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0)).slice(0, faultsMax)
  if (more > 0) told.push({ element: null, position: null, code: notValid, detail: `${more} more errors` })
  const data = { webhook: showId('whk', webhookId), event: showId('evt', eventId), message: message.id, faults: told }
  const event = { accountId, type: 'webhook.answer_refused' as const, data }
  outbox.offer(await inTransaction(db, (tx) => recordEvents(tx, [event], outbox)))
}
