/** Sinch SMS (XMS) REST API v1. */
import { Type, type Static } from 'typebox'
import { httpSettings, secretsOf, secretText } from '../links/carrier-settings.ts'
import {
  byCode,
  isOk,
  post,
  readRefusal,
  receiptOf,
  replyOf,
  showNumber,
  type Adapter,
  type CodeTable,
} from './adapter.ts'
import { readBinary } from './charset.ts'
import { tryJson } from '../ground/base/json.ts'
import { readJson, textAt } from './fields.ts'
import { hasNetworks, isFresh, isSame, sign } from './signature.ts'

const Settings = httpSettings('sinch', 'https://us.sms.api.sinch.com', {
  service_plan_id: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,64}$',
    description: 'Service plan; its region is in `base_url` (us, eu, au, br, ca).',
    examples: ['jd63jf88477ll123ab4567cd89012ef3'],
  }),
})

const Secrets = secretsOf({
  api_token: secretText('API token of the service plan.'),
  callback_secret: Type.Optional(
    secretText('Key of the HMAC of callbacks, if it is configured; receipts and replies must then be signed.'),
  ),
})

// Words come with answers (…/sms/api-reference/status-codes/).
const answers = byCode({
  carrier_unknown: 'missing_parameter syntax_constraint_violation syntax_invalid_json syntax_invalid_parameter_format',
})

// Below 400 a report has the network's numbers, which are built in (`receiptErrCodes`) except one.
const receipts = byCode({
  handset_memory_full: '32',
  landline_or_unroutable: '402 418',
  provider_error: '403',
  handset_unreachable: '404 417',
  carrier_unknown: '405',
  expired_at_carrier: '406',
  content_filtered: '408',
  invalid_sender: '410',
  message_too_long: '411',
  destination_not_allowed: '412',
  spend_limit_reached: '413',
})

const table: CodeTable = {
  source: 'https://developers.sinch.com/docs/sms/api-reference/sms/tag/Delivery-reports/',
  answers,
  receipts,
  // Our faults: a repetition gets the same answer.
  handlings: {
    missing_parameter: 'permanent',
    syntax_constraint_violation: 'permanent',
    syntax_invalid_json: 'permanent',
    syntax_invalid_parameter_format: 'permanent',
  },
}

const states = {
  delivered: 'delivered',
  failed: 'undeliverable',
  aborted: 'rejected',
  rejected: 'rejected',
  cancelled: 'deleted',
  deleted: 'deleted',
  expired: 'expired',
  unknown: 'unknown',
} as const

export const sinch: Adapter<Static<typeof Settings>, Static<typeof Secrets>> = {
  settings: Settings,
  secrets: Secrets,
  table,
  isOneAddress: true,
  send(message, settings, { api_token }) {
    const url = `${settings.base_url}/xms/v1/${settings.service_plan_id}/batches`
    return post(url, `Bearer ${api_token}`, {
      to: [showNumber(message.to)],
      body: message.text,
      type: 'mt_text',
      delivery_report: 'per_recipient_final',
      client_reference: message.reference,
      ...(message.from !== null && { from: message.from }),
      ...(message.receiptUrl !== null && { callback_url: message.receiptUrl }),
      ...(message.expiresAt !== null && { expire_at: message.expiresAt.toISOString() }),
    })
  },
  readAnswer(answer) {
    const body = tryJson(answer.body)
    const id = textAt(body, 'id')
    if (isOk(answer) && id !== null) return { kind: 'accepted', ids: [id] }
    return readRefusal(answer, textAt(body, 'code'), table)
  },
  parseReceipt(request) {
    const body = readJson(request.body)
    if (textAt(body, 'type') !== 'recipient_delivery_report_sms') return []
    return receiptOf(states, {
      id: textAt(body, 'batch_id'),
      reference: textAt(body, 'client_reference'),
      stat: textAt(body, 'status'),
      err: textAt(body, 'code'),
      doneDate: textAt(body, 'operator_status_at') ?? textAt(body, 'at'),
    })
  },
  parseReply(request) {
    const body = readJson(request.body)
    const type = textAt(body, 'type')
    if (type !== 'mo_text' && type !== 'mo_binary') return []
    const text = textAt(body, 'body') ?? ''
    const read = type === 'mo_binary' ? readBinary(Buffer.from(text, 'base64')) : { text }
    return replyOf(textAt(body, 'id'), textAt(body, 'from'), textAt(body, 'to'), read)
  },
  /** HMAC-SHA256 over `<body>.<nonce>.<timestamp>` in base64. */
  verify({ headers, body, at }, settings, { callback_secret }) {
    if (callback_secret === undefined) return true
    const header = (name: string): string => headers[`x-sinch-webhook-signature${name}`] ?? ''
    if (!isFresh(header('-timestamp'), at) && !hasNetworks(settings)) return false
    const signed = Buffer.concat([body, Buffer.from(`.${header('-nonce')}.${header('-timestamp')}`)])
    return isSame(header(''), sign('sha256', callback_secret, signed, 'base64'))
  },
}
