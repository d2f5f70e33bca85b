/**
 * Events in the form of Twilio's status callbacks and incoming messages, for programs written for its API: for addresses with the fragment `#twilio`
 * (a fragment is never sent). https://www.twilio.com/docs/usage/webhooks/messaging-webhooks
 */
import { createHmac } from 'node:crypto'
import { parseId } from '../ground/base/ids.ts'
import type { Status } from '../message/message.ts'
import type { MessageErrorCode } from '../message/taxonomy.ts'
import { showSid, twilioErrors, twilioNumber, twilioStatuses, twilioVersion } from './twilio-words.ts'

/** The end of an address that selects this form. */
export const twilioFormMark = '#twilio'

/** Whether an address selects this form. */
export const wantsTwilioForm = (url: string): boolean => url.endsWith(twilioFormMark)

interface ToldMessage {
  id: string
  direction: 'outbound' | 'inbound'
  status: Status
  to: string | null
  from: string | null
  message: string | null
  segments: number
  error?: { code: MessageErrorCode } | null
}

export function twilioParameters(
  accountId: string,
  payload: string,
): { parameters: [string, string][]; isIncoming: boolean } | null {
  const { type, data } = JSON.parse(payload) as { type: string; data: { message?: ToldMessage } }
  // Events of people name a message, too, which its own event has already reported.
  const message = type.startsWith('message.') ? data.message : null
  const id = message && parseId('msg', message.id)
  if (!message || !id) return null
  const sid = showSid('SM', id)
  const common: [string, string][] = [
    ['AccountSid', showSid('AC', accountId)],
    ['ApiVersion', twilioVersion],
    ['From', twilioNumber(message.from) ?? ''],
    ['MessageSid', sid],
    ['SmsSid', sid],
    ['To', twilioNumber(message.to) ?? ''],
  ]
  if (message.direction === 'inbound')
    return {
      isIncoming: true,
      parameters: [
        ...common,
        ['Body', message.message ?? ''],
        ['NumMedia', '0'],
        ['NumSegments', String(message.segments)],
        ['SmsMessageSid', sid],
        ['SmsStatus', 'received'],
      ],
    }
  const status = twilioStatuses[message.status]
  const code = message.error && twilioErrors[message.error.code]
  return {
    isIncoming: false,
    parameters: [
      ...common,
      ['MessageStatus', status],
      ['SmsStatus', status],
      ...(code ? [['ErrorCode', String(code)] satisfies [string, string]] : []),
    ],
  }
}

/**
 * X-Twilio-Signature: HMAC-SHA1 by the auth token over the address and the sorted parameters
 * (https://www.twilio.com/docs/usage/security#validating-requests).
 */
export function signTwilio(token: string, url: string, parameters: readonly (readonly [string, string])[]): string {
  const sorted = [...parameters].sort(([a], [b]) => (a < b ? -1 : 1))
  const text = url + sorted.map(([name, value]) => name + value).join('')
  return createHmac('sha1', token).update(text, 'utf8').digest('base64')
}
