/** Vonage (Nexmo) SMS API. A long message has an id and a receipt for each segment. */
import { createHash } from 'node:crypto'
import { Type, type Static } from 'typebox'
import { httpSettings, secretsOf, secretText } from '../links/carrier-settings.ts'
import {
  byCode,
  post,
  readRefusal,
  receiptOf,
  replyOf,
  validitySeconds,
  type Adapter,
  type CodeTable,
  type InRequest,
} from './adapter.ts'
import { readBinary } from './charset.ts'
import { tryJson } from '../ground/base/json.ts'
import { at, listAt, readFields, textAt } from './fields.ts'
import { hasNetworks, isFresh, isSame, sign } from './signature.ts'

const Settings = httpSettings('vonage', 'https://rest.nexmo.com', {
  api_key: Type.String({ minLength: 1, maxLength: 64, pattern: '^[ -~]+$', description: 'API key of the account.' }),
  signature_method: Type.Enum(['md5hash', 'md5', 'sha1', 'sha256', 'sha512'], {
    default: 'sha256',
    description: "As in the dashboard's settings; md5hash is its `MD5 hash signature`, the others are HMACs.",
  }),
})

const Secrets = secretsOf({
  api_secret: secretText('API secret of the account.'),
  signature_secret: Type.Optional(
    secretText("The dashboard's signature secret; receipts and replies must then be signed."),
  ),
})

/** `err-code` of receipts, in this API and over SMPP. */
export const vonageReceipts = {
  source: 'https://api.support.vonage.com/hc/en-us/articles/204014733',
  codes: byCode({
    carrier_unknown: '1 99',
    handset_unreachable: '2',
    unknown_subscriber: '3',
    recipient_blocked: '4 13 14',
    provider_error: '5 8',
    content_filtered: '6 10 50 51 53',
    handset_busy: '7',
    recipient_opted_out: '9',
    destination_not_allowed: '11',
    invalid_destination: '12',
    spend_limit_reached: '15',
    sender_not_registered: '52',
    fraud_suspected: '54',
  }),
}

// `status` of an answer: https://developer.vonage.com/messaging/sms/guides/troubleshooting-sms
const answers = byCode({
  throttled: '1',
  carrier_unknown: '2 3',
  provider_error: '5',
  invalid_destination: '6 22',
  recipient_blocked: '7',
  spend_limit_reached: '9',
  carrier_congestion: '10',
  message_too_long: '12',
  invalid_sender: '15',
  destination_not_allowed: '29',
  unknown_subscriber: '33',
})

const table: CodeTable = {
  source: vonageReceipts.source,
  answers,
  receipts: vonageReceipts.codes,
  // 2 and 3 are our faults: a repetition gets the same answer.
  handlings: { 2: 'permanent', 3: 'permanent', 10: 'throttling' },
  faults: ['4', '8', '11', '14', '32'],
}

const states = {
  delivered: 'delivered',
  expired: 'expired',
  failed: 'undeliverable',
  rejected: 'rejected',
  unknown: 'unknown',
} as const

// `ttl` of the SMS API, in seconds here: 20 s to 7 days.
const [ttlMinSeconds, ttlMaxSeconds] = [20, 604_800]

export const vonage: Adapter<Static<typeof Settings>, Static<typeof Secrets>> = {
  settings: Settings,
  secrets: Secrets,
  table,
  isByPart: true,
  send(message, settings, { api_secret }) {
    const form = new URLSearchParams({
      api_key: settings.api_key,
      api_secret,
      // `from` is required; if empty, configure the account's name for "no sender" there.
      from: message.from ?? '',
      to: message.to,
      text: message.text,
      type: message.encoding === 'UCS-2' ? 'unicode' : 'text',
      'status-report-req': '1',
      'client-ref': message.reference,
    })
    if (message.receiptUrl !== null) form.set('callback', message.receiptUrl)
    const validity = validitySeconds(message, ttlMinSeconds, ttlMaxSeconds)
    if (validity !== null) form.set('ttl', String(validity * 1000))
    return post(`${settings.base_url}/sms/json`, null, form, { accept: 'application/json' })
  },
  /** Refusals also have HTTP 200; the status of each part counts. */
  readAnswer(answer) {
    const parts = listAt(tryJson(answer.body), 'messages')
    const statuses = parts.map((part) => textAt(part, 'status'))
    const ids = parts.flatMap((part) => textAt(part, 'message-id') ?? [])
    if (answer.status === 200 && parts.length > 0 && statuses.every((status) => status === '0'))
      return { kind: 'accepted', ids }
    if (statuses.includes('0')) return { kind: 'unknown', reason: 'the carrier accepted only a part of the message' }
    const [first = null] = statuses
    if (answer.status !== 200 || first === null) return readRefusal(answer, null, table)
    // An unlisted status is a permanent refusal.
    return readRefusal({ ...answer, status: 400 }, first, table)
  },
  parseReceipt(request) {
    const fields = fieldsOf(request)
    return receiptOf(states, {
      id: textAt(fields, 'messageId'),
      reference: textAt(fields, 'client-ref'),
      stat: textAt(fields, 'status'),
      err: textAt(fields, 'err-code'),
      doneDate: textAt(fields, 'scts'),
    })
  },
  parseReply(request) {
    const fields = fieldsOf(request)
    // The dashboard's probe has no numbers, and expects 200.
    if (textAt(fields, 'status') !== null) return []
    const data = textAt(fields, 'data')
    const text = textAt(fields, 'text')
    const read = text === null && data !== null ? readBinary(Buffer.from(data, 'hex')) : { text: text ?? '' }
    const isPartial = textAt(fields, 'concat') === 'true'
    return replyOf(textAt(fields, 'messageId'), textAt(fields, 'msisdn'), textAt(fields, 'to'), read, isPartial)
  },
  /** `sig`: a hash over the other fields in order, each as `&name=value` with `&` and `=` in values replaced. */
  verify(request, settings, { signature_secret: secret }) {
    const { signature_method: method } = settings
    if (secret === undefined) return true
    const fields = fieldsOf(request)
    const given = textAt(fields, 'sig')
    if (given === null || typeof fields !== 'object' || fields === null) return false
    if (!isFresh(textAt(fields, 'timestamp') ?? '', request.at) && !hasNetworks(settings)) return false
    const signed = Object.keys(fields)
      .filter((name) => name !== 'sig')
      .sort()
      .map((name) => `&${name}=${valueText(at(fields, name)).replace(/[&=]/g, '_')}`)
      .join('')
    const expected =
      method === 'md5hash'
        ? createHash('md5')
            .update(signed + secret)
            .digest('hex')
        : sign(method, secret, signed, 'hex')
    return isSame(given.toLowerCase(), expected)
  },
}

/** A POST has its fields in the body; the query is ours, not Vonage's. */
function fieldsOf(request: InRequest): unknown {
  return readFields(request.method === 'GET' ? request : { ...request, url: request.url.replace(/[?#].*$/, '') })
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))
