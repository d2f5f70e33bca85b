/** Twilio Programmable Messaging, API version 2010-04-01. */
import { Type, type Static } from 'typebox'
import { httpSettings, secretsOf, secretText } from '../links/carrier-settings.ts'
import {
  basicAuth,
  byCode,
  isOk,
  post,
  readRefusal,
  receiptOf,
  receiptUrlOf,
  referenceIn,
  replyOf,
  showNumber,
  validitySeconds,
  type Adapter,
  type CodeTable,
} from './adapter.ts'
import { tryJson } from '../ground/base/json.ts'
import { readForm, textAt } from './fields.ts'
import { isSame, sign } from './signature.ts'

const Settings = httpSettings('twilio', 'https://api.twilio.com', {
  account_sid: Type.String({
    pattern: '^AC[0-9a-fA-F]{32}$',
    description: 'Account SID.',
    examples: ['AC0123456789abcdef0123456789abcdef'],
  }),
  messaging_service_sid: Type.Optional(
    Type.String({
      pattern: '^MG[0-9a-fA-F]{32}$',
      description: 'Messaging service to send with; it chooses the sender of messages without one.',
      examples: ['MG0123456789abcdef0123456789abcdef'],
    }),
  ),
})

const Secrets = secretsOf({ auth_token: secretText('Auth token; also the key of X-Twilio-Signature.') })

// ValidityPeriod of the Message resource; 36,000 is its default too.
const validityMaxSeconds = 36_000

const states = {
  delivered: 'delivered',
  read: 'delivered',
  undelivered: 'undeliverable',
  failed: 'rejected',
  canceled: 'deleted',
} as const

// 2xxxx come with the answer, 3xxxx with the receipt.
const codes = byCode({
  provider_error: '20003 20404 30002',
  throttled: '20429 30022 30023',
  invalid_destination: '21211 21214 21421 21604',
  invalid_sender: '21212 21601 21603 21606 21659 21660 21703',
  landline_or_unroutable: '21265 21612 21614 30006',
  destination_not_allowed: '21408 21608',
  content_filtered: '21602 30007',
  message_too_long: '21605 21617',
  recipient_opted_out: '21610',
  queue_full: '21611 30001',
  handset_unreachable: '30003',
  recipient_blocked: '30004',
  unknown_subscriber: '30005',
  carrier_unknown: '30008',
  spend_limit_reached: '30010',
  carrier_congestion: '30017',
  sender_not_registered: '30024 30032 30033 30034',
  expired_at_carrier: '30036',
  provider_timeout: '30410',
  fraud_suspected: '30450 30453',
  quiet_hours: '30610',
})

const table: CodeTable = {
  source: 'https://www.twilio.com/docs/api/errors',
  answers: codes,
  receipts: codes,
  // Suspended accounts and wrong tokens need an operator.
  faults: ['20003', '20005', '30002'],
}

export const twilio: Adapter<Static<typeof Settings>, Static<typeof Secrets>> = {
  settings: Settings,
  secrets: Secrets,
  table,
  replyAnswer: { contentType: 'text/xml', body: '<Response/>' },
  send(message, settings, secrets) {
    const form = new URLSearchParams({ To: showNumber(message.to), Body: message.text })
    if (message.from !== null) form.set('From', showNumber(message.from))
    if (settings.messaging_service_sid) form.set('MessagingServiceSid', settings.messaging_service_sid)
    const receiptUrl = receiptUrlOf(message)
    if (receiptUrl !== null) form.set('StatusCallback', receiptUrl)
    const validity = validitySeconds(message, 1, validityMaxSeconds)
    if (validity !== null) form.set('ValidityPeriod', String(validity))
    const url = `${settings.base_url}/2010-04-01/Accounts/${settings.account_sid}/Messages.json`
    return post(url, basicAuth(settings.account_sid, secrets.auth_token), form)
  },
  readAnswer(answer) {
    const body = tryJson(answer.body)
    const sid = textAt(body, 'sid')
    const isCreated = isOk(answer)
    if (isCreated && sid !== null && textAt(body, 'status') !== 'failed') return { kind: 'accepted', ids: [sid] }
    return readRefusal(answer, textAt(body, isCreated ? 'error_code' : 'code'), table)
  },
  parseReceipt(request) {
    const form = Object.fromEntries(readForm(request.body))
    const stat = textAt(form, 'MessageStatus') ?? textAt(form, 'SmsStatus')
    if (stat === 'received') return []
    return receiptOf(states, {
      id: textAt(form, 'MessageSid') ?? textAt(form, 'SmsSid'),
      reference: referenceIn(request),
      stat,
      err: textAt(form, 'ErrorCode'),
      doneDate: textAt(form, 'RawDlrDoneDate'),
    })
  },
  parseReply(request) {
    const form = Object.fromEntries(readForm(request.body))
    const id = textAt(form, 'MessageSid') ?? textAt(form, 'SmsSid')
    return replyOf(id, textAt(form, 'From'), textAt(form, 'To'), textAt(form, 'Body') ?? '')
  },
  /** HMAC-SHA1 over the URL and the sorted fields, in base64; Twilio signs URLs both with and without the standard port. */
  verify({ url, headers, body }, _settings, { auth_token }) {
    const given = headers['x-twilio-signature']
    if (given === undefined) return false
    const pairs = [...new Set(readForm(body).map(([name, value]) => `${name}\0${value}`))].sort()
    const fields = pairs.map((pair) => pair.replace('\0', '')).join('')
    return [url, withPort(url)].some((one) => isSame(given, sign('sha1', auth_token, one + fields, 'base64')))
  },
}

/** The address with its standard port. */
function withPort(url: string): string {
  return url.replace(/^(https?):\/\/([^/:?#]+)(?=[/?#]|$)/, (_, scheme: string, host: string) =>
    scheme === 'https' ? `https://${host}:443` : `http://${host}:80`,
  )
}
