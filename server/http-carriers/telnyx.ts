/** Telnyx Messaging, API v2. */
import { createPublicKey, verify as verifySignature } from 'node:crypto'
import { Type, type Static } from 'typebox'
import { httpSettings, secretsOf, secretText } from '../links/carrier-settings.ts'
import {
  byCode,
  isOk,
  post,
  readRefusal,
  receiptOf,
  receiptUrlOf,
  referenceIn,
  replyOf,
  showNumber,
  type Adapter,
  type CodeTable,
} from './adapter.ts'
import { tryJson } from '../ground/base/json.ts'
import { at, listAt, readJson, textAt } from './fields.ts'
import { isFresh } from './signature.ts'

const Settings = httpSettings('telnyx', 'https://api.telnyx.com', {
  public_key: Type.String({
    pattern: '^[A-Za-z0-9+/]{43}=$',
    description: 'Public key of your account (Ed25519, base64), with which Telnyx signs its requests.',
    examples: ['0123456789abcdefghijklmnopqrstuvwxyzABCDEFG='],
  }),
  messaging_profile_id: Type.Optional(
    Type.String({ maxLength: 64, description: 'Messaging profile; needed for names and number pools.' }),
  ),
})

const Secrets = secretsOf({ api_key: secretText('API key (v2).') })

// 400xx come with the receipt, others with the answer.
const codes = byCode({
  invalid_destination: '10002 10016 40310',
  throttled: '10011',
  spend_limit_reached: '20100 40333',
  landline_or_unroutable: '40001',
  content_filtered: '40002 40003 40009 40015 40017 40301 40322',
  recipient_blocked: '40004',
  expired_at_carrier: '40005 40014',
  provider_error: '40006',
  carrier_unknown: '40008',
  sender_not_registered: '40010 40329',
  carrier_congestion: '40011 40016 40018',
  unknown_subscriber: '40012',
  invalid_sender: '40013 40305 40306 40308 40312 40315',
  fraud_suspected: '40020',
  recipient_opted_out: '40300',
  message_too_long: '40302',
  destination_not_allowed: '40309',
  queue_full: '40318',
})

const table: CodeTable = {
  source: 'https://developers.telnyx.com/docs/messaging/messages/error-codes',
  answers: codes,
  receipts: codes,
  // Faults of the key or the account.
  faults: ['10009', '10010', '20002', '20006', '20012', '20013'],
}

// https://developers.telnyx.com: `to[].status`; `delivery_unconfirmed` says that no receipt came.
const states = {
  delivered: 'delivered',
  delivery_failed: 'undeliverable',
  sending_failed: 'rejected',
  expired: 'expired',
  delivery_unconfirmed: 'unknown',
} as const

// DER of an Ed25519 SubjectPublicKeyInfo up to the 32 bytes of the key (RFC 8410 §4).
const spkiHead = Buffer.from('302a300506032b6570032100', 'hex')

export const telnyx: Adapter<Static<typeof Settings>, Static<typeof Secrets>> = {
  settings: Settings,
  secrets: Secrets,
  table,
  check(settings) {
    if (readKey(textAt(settings, 'public_key') ?? '')) return []
    const detail = 'is not an Ed25519 public key in base64'
    return [{ pointer: '#/settings/public_key', code: 'invalid_format', detail }]
  },
  isOneAddress: true,
  send(message, settings, { api_key }) {
    const { messaging_profile_id } = settings
    const receiptUrl = receiptUrlOf(message)
    return post(`${settings.base_url}/v2/messages`, `Bearer ${api_key}`, {
      to: showNumber(message.to),
      text: message.text,
      type: 'SMS',
      ...(message.from !== null && { from: showNumber(message.from) }),
      ...(messaging_profile_id && { messaging_profile_id }),
      ...(receiptUrl !== null && { webhook_url: receiptUrl, use_profile_webhooks: false }),
    })
  },
  readAnswer(answer) {
    const body = tryJson(answer.body)
    const id = textAt(body, 'data', 'id')
    if (isOk(answer) && id !== null) return { kind: 'accepted', ids: [id] }
    return readRefusal(answer, textAt(body, 'errors', 0, 'code'), table)
  },
  parseReceipt(request) {
    const event = at(readJson(request.body), 'data')
    const type = textAt(event, 'event_type')
    if (type !== 'message.finalized' && type !== 'message.sent') return []
    const payload = at(event, 'payload')
    return receiptOf(states, {
      id: textAt(payload, 'id'),
      reference: referenceIn(request),
      stat: textAt(payload, 'to', 0, 'status'),
      err: textAt(payload, 'errors', 0, 'code'),
      doneDate: textAt(payload, 'completed_at'),
    })
  },
  parseReply(request) {
    const event = at(readJson(request.body), 'data')
    if (textAt(event, 'event_type') !== 'message.received') return []
    const payload = at(event, 'payload')
    const from = textAt(payload, 'from', 'phone_number')
    const id = textAt(payload, 'id')
    const text = textAt(payload, 'text') ?? ''
    return listAt(payload, 'to').flatMap((one) => replyOf(id, from, textAt(one, 'phone_number'), text))
  },
  /** Ed25519 over `<timestamp>|<body>`, at most five minutes old. */
  verify({ headers, body, at: now }, { public_key }) {
    const timestamp = headers['telnyx-timestamp'] ?? ''
    const signature = headers['telnyx-signature-ed25519'] ?? ''
    const key = readKey(public_key)
    if (!key || !isFresh(timestamp, now)) return false
    const signed = Buffer.concat([Buffer.from(`${timestamp}|`), body])
    return verifySignature(null, signed, key, Buffer.from(signature, 'base64'))
  },
}

function readKey(text: string): ReturnType<typeof createPublicKey> | null {
  const raw = Buffer.from(text, 'base64')
  if (raw.length !== 32) return null
  try {
    return createPublicKey({ key: Buffer.concat([spkiHead, raw]), format: 'der', type: 'spki' })
  } catch {
    return null
  }
}
