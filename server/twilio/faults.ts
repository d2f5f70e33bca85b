/** Errors in Twilio's form: a number, a sentence and a link to its documentation. */
import type { FastifyReply } from 'fastify'
import type { ApiError, ErrorCode, FieldError } from '../ground/base/errors.ts'

interface TwilioFault {
  status: number
  code: number
  message: string
}

/** Our codes -> [status, number]. Other codes keep their status and get its general number. */
const ofCode: Partial<Record<ErrorCode, [number, number]>> = {
  recipient_opted_out: [400, 21610],
  destination_not_allowed: [400, 21408],
  premium_number_not_allowed: [400, 21408],
  no_route_available: [400, 21612],
  queue_full: [429, 21611],
  account_suspended: [403, 20005],
  not_cancelable: [400, 30409],
}

/** The fields of a send -> the parameter's name, and its number if the code gives none. */
const ofPointer: Record<string, [string, number]> = {
  '#/to': ['To', 21211],
  '#/from': ['From', 21212],
  '#/sender_pool': ['MessagingServiceSid', 21701],
  '#/message': ['Body', 21617],
  '#/callback_url': ['StatusCallback', 21609],
  '#/send_at': ['SendAt', 35114],
  '#/shorten_urls': ['ShortenUrls', 20001],
}
const ofFieldCode: Partial<Record<FieldError['code'], number>> = {
  sender_not_found: 21606,
  sender_not_allowed: 21606,
}

export function toTwilioFault(error: ApiError | WrongParameter): TwilioFault {
  if (error instanceof WrongParameter) return error.fault
  const field = error.options.errors?.[0]
  if (field) {
    const [name, number] = ofPointer[field.pointer] ?? [field.pointer, 20001]
    return { status: 400, code: ofFieldCode[field.code] ?? number, message: `The '${name}' parameter ${field.detail}.` }
  }
  const [status, code] = ofCode[error.code] ?? [error.status, general(error.status)]
  return { status, code, message: error.message }
}

const general = (status: number): number =>
  status === 401 ? 20003 : status === 405 ? 20004 : status === 422 || status === 400 ? 20001 : 20000 + status

/** A parameter error that our own check of a send does not find. */
export class WrongParameter extends Error {
  readonly fault: TwilioFault
  constructor(code: number, message: string) {
    super(message)
    this.fault = { status: 400, code, message }
  }
}

export function sendTwilioFault(reply: FastifyReply, error: ApiError | WrongParameter): FastifyReply {
  const isWrong = error instanceof WrongParameter
  const { status, code, message } = toTwilioFault(error)
  const { retryAfterSeconds, headers } = isWrong ? {} : error.options
  if (retryAfterSeconds !== undefined) reply.header('retry-after', Math.max(1, Math.ceil(retryAfterSeconds)))
  if (headers) reply.headers(headers)
  if (status === 401) reply.header('www-authenticate', 'Basic realm="Twilio API"')
  return reply.code(status).send({ code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status })
}
