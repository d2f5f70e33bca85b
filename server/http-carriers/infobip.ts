/** Infobip SMS API v3. Its message ids may be ours, and it refuses a known one, so a repetition does not send twice. */
import { Type, type Static } from 'typebox'
import type { FieldError } from '../ground/base/errors.ts'
import { httpSettings, secretsOf, secretText } from '../links/carrier-settings.ts'
import {
  basicAuth,
  byCode,
  isOk,
  post,
  readRefusal,
  replyOf,
  validitySeconds,
  type Adapter,
  type CodeTable,
  type Receipt,
} from './adapter.ts'
import { tryJson } from '../ground/base/json.ts'
import { listAt, readJson, textAt } from './fields.ts'
import { isSame } from './signature.ts'

const Settings = httpSettings('infobip', null, {})

const Secrets = secretsOf({
  api_key: secretText('API key.'),
  callback_user: Type.Optional(secretText('User name that your subscription at Infobip authenticates with.')),
  callback_password: Type.Optional(secretText('Its password; with both, receipts and replies need them.')),
})

/** `error.id` of a report, and `err` of a receipt over SMPP. */
export const infobipReceipts = {
  source: 'https://www.infobip.com/docs/developer-resources/api-fundamentals/error-code-reference',
  codes: byCode({
    unknown_subscriber: '1 5 9',
    handset_unreachable: '6 27 32',
    landline_or_unroutable: '11 21 629',
    recipient_blocked: '12 13 573',
    provider_error: '20 500',
    handset_busy: '31',
    carrier_congestion: '34 260',
    carrier_unknown: '255',
    handset_memory_full: '256',
    invalid_destination: '351',
    message_too_long: '355',
    invalid_sender: '368',
    sender_not_registered: '488 572',
    provider_timeout: '502',
    content_filtered: '603 607',
    recipient_opted_out: '604',
    fraud_suspected: '608',
    expired_in_queue: '4101',
  }),
}

// `status.id` of answers and reports: https://www.infobip.com/docs/essentials/api-essentials/response-status-and-error-codes
const statuses = byCode({
  landline_or_unroutable: '6 19',
  invalid_destination: '8 51 52',
  recipient_blocked: '10',
  invalid_sender: '11 13',
  spend_limit_reached: '12 17',
  recipient_opted_out: '14',
  expired_at_carrier: '15',
  destination_not_allowed: '18',
  throttled: '20',
  provider_error: '21',
})

/** Statuses and errors share their numbers: the prefix marks a status. */
const errOfStatus = (status: string): string => `s${status}`

const table: CodeTable = {
  source: infobipReceipts.source,
  answers: statuses,
  receipts: {
    ...infobipReceipts.codes,
    ...Object.fromEntries(Object.entries(statuses).map(([status, code]) => [errOfStatus(status), code])),
  },
}

/** status.id 23: the platform already has a message with this id, which was ours. */
const duplicateId = '23'
// Groups of statuses; 1 is pending. DELIVERED_TO_OPERATOR (2) is in the delivered group, but not at the phone yet.
const states: Record<string, Receipt['state']> = {
  2: 'undeliverable',
  3: 'delivered',
  4: 'expired',
  5: 'rejected',
}
const deliveredToOperator = '2'
// Up to 48 hours.
const validityMaxSeconds = 172_800

export const infobip: Adapter<Static<typeof Settings>, Static<typeof Secrets>> = {
  settings: Settings,
  secrets: Secrets,
  table,
  check(settings, { callback_user: user, callback_password: password }) {
    const faults: FieldError[] = []
    const add = (pointer: string, code: FieldError['code'], detail: string): void =>
      void faults.push({ pointer, code, detail })
    const missing = user === undefined ? 'callback_user' : 'callback_password'
    if ((user === undefined) !== (password === undefined))
      add(`#/secrets/${missing}`, 'required', 'must be set together: callback_user and callback_password')
    // The receipt address inside a message cannot carry a password.
    if (user !== undefined && textAt(settings, 'receipt_url') !== 'account')
      add('#/settings/receipt_url', 'invalid_value', 'must be account if receipts use callback_user')
    return faults
  },
  isIdempotent: () => true,
  send(message, settings, { api_key }) {
    const validity = validitySeconds(message, 1, validityMaxSeconds)
    const one = {
      ...(message.from !== null && { sender: message.from }),
      destinations: [{ to: message.to, messageId: message.reference }],
      content: { text: message.text },
      ...(validity !== null && { options: { validityPeriod: { amount: validity, timeUnit: 'SECONDS' } } }),
      ...(message.receiptUrl !== null && {
        webhooks: { delivery: { url: message.receiptUrl }, contentType: 'application/json' },
      }),
    }
    const accept = { accept: 'application/json' }
    return post(`${settings.base_url}/sms/3/messages`, `App ${api_key}`, { messages: [one] }, accept)
  },
  readAnswer(answer, { reference }) {
    const body = tryJson(answer.body)
    const group = textAt(body, 'messages', 0, 'status', 'groupId')
    const status = textAt(body, 'messages', 0, 'status', 'id')
    if (isOk(answer) && (group === '1' || group === '3' || status === duplicateId))
      return { kind: 'accepted', ids: [textAt(body, 'messages', 0, 'messageId') ?? reference] }
    // A refusal comes with HTTP 200: the status of the message counts.
    if (isOk(answer) && (group === '2' || group === '4' || group === '5')) {
      return readRefusal({ ...answer, status: 400 }, status ?? `group ${group}`, table)
    }
    return readRefusal(answer, textAt(body, 'errorCode') ?? null, table)
  },
  parseReceipt: (request) =>
    listAt(readJson(request.body), 'results').flatMap((report) => {
      const [id, group] = [textAt(report, 'messageId'), textAt(report, 'status', 'groupId')]
      if (id === null || group === null) return []
      const isOnItsWay = group === '3' && textAt(report, 'status', 'id') === deliveredToOperator
      const error = textAt(report, 'error', 'id')
      const status = textAt(report, 'status', 'id')
      // If the network gave no reason, the status has one.
      const err =
        error !== null && error !== '0' ? error : group === '3' || status === null ? null : errOfStatus(status)
      return [
        {
          id,
          reference: id,
          state: isOnItsWay ? ('enroute' as const) : (states[group] ?? 'enroute'),
          stat: textAt(report, 'status', 'name') ?? `group ${group}`,
          err,
          doneDate: textAt(report, 'doneAt') ?? '',
        },
      ]
    }),
  parseReply: (request) =>
    listAt(readJson(request.body), 'results').flatMap((one) => {
      const [from, to] = [textAt(one, 'from') ?? textAt(one, 'sender'), textAt(one, 'to') ?? textAt(one, 'destination')]
      // Reports have a status, texts do not.
      if (textAt(one, 'status', 'groupId') !== null) return []
      return replyOf(textAt(one, 'messageId'), from, to, textAt(one, 'text') ?? textAt(one, 'content', 0, 'text') ?? '')
    }),
  /** Infobip does not sign: the address is secret, and basic authentication (RFC 7617) is checked if configured. */
  verify({ headers }, _settings, { callback_user: user, callback_password: password }) {
    if (user === undefined || password === undefined) return true
    return isSame(headers['authorization'] ?? '', basicAuth(user, password))
  },
}
