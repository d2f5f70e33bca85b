/** Converts the parameters of Twilio's `Messages.json` to the body of a send. */
import { isUnstorable } from '../ground/http/body.ts'
import { showId } from '../ground/base/ids.ts'
import { isBlank } from '../message/blank.ts'
import { textMax, type SendBody } from '../message/send-schema.ts'
import { parseSid } from '../post/twilio-words.ts'
import { twilioFormMark } from '../post/twilio-form.ts'
import { WrongParameter } from './faults.ts'
import { readTwilioTime } from './time.ts'

// These would change the meaning of the message. Other unknown parameters are ignored, as at Twilio.
const unsupported = ['MediaUrl', 'ContentSid', 'PersistentAction', 'ApplicationSid']

// As for the `callback_url` of a send.
const urlMax = 2048

/** @throws WrongParameter for the first wrong parameter; the send itself checks numbers, senders and addresses. */
export function readTwilioSend(form: URLSearchParams): SendBody {
  const has = (name: string): boolean => (form.get(name) ?? '') !== ''
  const text = (name: string): string => form.get(name) ?? ''
  // In a form, an unencoded plus sign is a blank; Twilio accepts it.
  const number = (name: string): string => text(name).replace(/^ /, '+')
  for (const [name, value] of form)
    if (isUnstorable(value)) throw new WrongParameter(20001, `The '${name}' parameter must not contain NUL.`)
  for (const name of unsupported)
    if (has(name)) throw new WrongParameter(20001, `The '${name}' parameter is not supported: messages here are text.`)
  if (!has('To')) throw new WrongParameter(21604, "A 'To' phone number is required.")
  if (!has('Body') || isBlank(text('Body'))) throw new WrongParameter(21602, 'Message body is required.')
  const { length } = Array.from(text('Body'))
  if (length > textMax)
    throw new WrongParameter(21617, `The concatenated message body exceeds the ${textMax} character limit.`)
  const poolId = has('MessagingServiceSid') ? parseSid('MG', text('MessagingServiceSid')) : null
  if (has('MessagingServiceSid') && poolId === null)
    throw new WrongParameter(21701, "The 'MessagingServiceSid' is invalid; it is MG and the hexadecimal id of a pool.")
  const sendAt = readSendAt(form)
  if (text('StatusCallback').length > urlMax)
    throw new WrongParameter(21609, `The 'StatusCallback' parameter must have at most ${urlMax} characters.`)
  return {
    to: number('To'),
    message: text('Body'),
    // If a sender is named beside a pool, the sender is used, as at Twilio.
    ...(has('From') ? { from: number('From') } : poolId && { sender_pool: showId('pol', poolId) }),
    ...(sendAt && { send_at: sendAt }),
    ...(has('ValidityPeriod') && { validity_period: readSeconds(text('ValidityPeriod')) }),
    ...(has('StatusCallback') && { callback_url: text('StatusCallback').replace(/#.*$/s, '') + twilioFormMark }),
    ...(has('SmartEncoded') && { smart_encoding: readFlag('SmartEncoded', text('SmartEncoded')) }),
    ...(has('ShortenUrls') && { shorten_urls: readFlag('ShortenUrls', text('ShortenUrls')) }),
  }
}

function readSendAt(form: URLSearchParams): string | null {
  const [schedule, at] = [form.get('ScheduleType') ?? '', form.get('SendAt') ?? '']
  if (schedule === '' && at === '') return null
  if (schedule !== 'fixed') throw new WrongParameter(35111, "'ScheduleType' must be fixed if 'SendAt' is set.")
  const time = at.includes('T') ? readTwilioTime(at) : null
  if (!time) throw new WrongParameter(35113, "'SendAt' must be an ISO 8601 time, such as 2026-11-20T12:00:00Z.")
  return time.toISOString()
}

function readSeconds(text: string): number {
  const seconds = Number(text)
  if (!/^\d{1,6}$/.test(text) || seconds < 1 || seconds > 259_200)
    throw new WrongParameter(20001, "'ValidityPeriod' must be from 1 to 259200 seconds.")
  return seconds
}

function readFlag(name: string, text: string): boolean {
  const word = text.toLowerCase()
  if (word !== 'true' && word !== 'false') throw new WrongParameter(20001, `'${name}' must be true or false.`)
  return word === 'true'
}
