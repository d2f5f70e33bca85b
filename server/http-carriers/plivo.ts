/** Plivo Messaging, API v1. A long message has a receipt for each segment, with its own id and the message's. */
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
  type InRequest,
} from './adapter.ts'
import { tryJson } from '../ground/base/json.ts'
import { listAt, readForm, textAt } from './fields.ts'
import { readReference } from './reference.ts'
import { hasNetworks, isSame, sign } from './signature.ts'

const Settings = httpSettings('plivo', 'https://api.plivo.com', {
  auth_id: Type.String({
    pattern: '^[A-Z0-9]{20}$',
    description: 'Auth ID of the account or subaccount.',
    examples: ['MAXXXXXXXXXXXXXXXXXX'],
  }),
  powerpack_uuid: Type.Optional(
    Type.String({ maxLength: 64, description: 'Powerpack that chooses the sender of messages without one.' }),
  ),
})

const Secrets = secretsOf({ auth_token: secretText('Auth token; also the key of the signatures.') })

// All come with receipts; answers have a text without a code.
const codes = byCode({
  content_filtered: '10 30 60',
  carrier_congestion: '20',
  invalid_sender: '40 130',
  invalid_destination: '50',
  unknown_subscriber: '70',
  handset_unreachable: '80 110',
  landline_or_unroutable: '90 140 160 452',
  throttled: '100',
  carrier_unknown: '120 300 1000',
  recipient_opted_out: '200',
  expired_in_queue: '420',
  destination_not_allowed: '450',
  fraud_suspected: '451',
  spend_limit_reached: '900 910',
  sender_not_registered: '950',
})

const table: CodeTable = {
  source: 'https://plivo.com/docs/messaging/troubleshooting/error-codes',
  answers: {},
  receipts: codes,
}

const states = {
  delivered: 'delivered',
  read: 'delivered',
  undelivered: 'undeliverable',
  failed: 'undeliverable',
  rejected: 'rejected',
} as const

// `message_expiry`: 5 s to 3 h.
const [validityMinSeconds, validityMaxSeconds] = [5, 10_800]

export const plivo: Adapter<Static<typeof Settings>, Static<typeof Secrets>> = {
  settings: Settings,
  secrets: Secrets,
  table,
  check: (settings) =>
    listAt(settings, 'allowed_cidrs').length > 0
      ? []
      : [
          {
            pointer: '#/settings/allowed_cidrs',
            code: 'required',
            detail:
              'must list the networks from which Plivo posts receipts and replies, such as ["192.0.2.0/24"]: its signatures have no time',
          },
        ],
  isByPart: true,
  replyAnswer: { contentType: 'text/xml', body: '<Response/>' },
  send(message, settings, { auth_token }) {
    const validity = validitySeconds(message, validityMinSeconds, validityMaxSeconds)
    const { powerpack_uuid } = settings
    const receiptUrl = receiptUrlOf(message)
    const url = `${settings.base_url}/v1/Account/${settings.auth_id}/Message/`
    return post(url, basicAuth(settings.auth_id, auth_token), {
      dst: showNumber(message.to),
      text: message.text,
      type: 'sms',
      ...(message.from !== null ? { src: showNumber(message.from) } : powerpack_uuid && { powerpack_uuid }),
      ...(receiptUrl !== null && { url: receiptUrl, method: 'POST' }),
      ...(validity !== null && { message_expiry: validity }),
    })
  },
  readAnswer(answer, { segments }) {
    const id = textAt(tryJson(answer.body), 'message_uuid', 0)
    if (!isOk(answer) || id === null) return readRefusal(answer, null, table)
    return { kind: 'accepted', ids: Array.from({ length: segments }, (_, i) => idOfPart(id, i + 1, segments)) }
  },
  parseReceipt(request) {
    const form = Object.fromEntries(readForm(request.body))
    const [id, stat] = [textAt(form, 'MessageUUID'), textAt(form, 'Status')]
    if (id === null || stat === null) return []
    const [, part = 1, parts = 1] = (/^(\d+) of (\d+)$/.exec(textAt(form, 'PartInfo') ?? '') ?? []).map(Number)
    const err = textAt(form, 'ErrorCode')
    const reference = referenceIn(request)
    const segments = readReference(reference)?.segments ?? parts
    return segmentsOf(part, parts, segments).flatMap((segment) =>
      receiptOf(states, {
        id: idOfPart(textAt(form, 'ParentMessageUUID') ?? id, segment, segments),
        reference,
        stat,
        err: err === null || Number(err) === 0 ? null : err,
        doneDate: textAt(form, 'DeliveryReportTime'),
      }),
    )
  },
  parseReply(request) {
    const form = Object.fromEntries(readForm(request.body))
    const text = textAt(form, 'Text')
    return text === null ? [] : replyOf(textAt(form, 'MessageUUID'), textAt(form, 'From'), textAt(form, 'To'), text)
  },
  /** HMAC-SHA256 in base64: V3 over URL, fields and nonce, V2 over the bare URL and nonce. `Ma`: with the main account's token. */
  verify(request, settings, { auth_token }) {
    const check = (version: 'v2' | 'v3', signed: string): boolean => {
      const nonce = request.headers[`x-plivo-signature-${version}-nonce`]
      if (nonce === undefined) return false
      const expected = sign('sha256', auth_token, signed + nonce, 'base64')
      const given = [`x-plivo-signature-${version}`, `x-plivo-signature-ma-${version}`]
        .flatMap((name) => request.headers[name]?.split(',') ?? [])
        .map((one) => one.trim())
      return given.some((one) => isSame(one, expected))
    }
    // Neither has a time, and version 2 does not cover the body: the network must prove the author.
    if (!hasNetworks(settings)) return false
    return check('v3', `${signedV3(request)}.`) || check('v2', request.url.replace(/[?#].*$/, ''))
  },
}

const idOfPart = (id: string, part: number, parts: number): string => (parts === 1 ? id : `${id}/${part}`)

/** The segments that a Plivo part covers: Plivo may cut a text elsewhere than we do, and its last part ends all. */
function segmentsOf(part: number, parts: number, segments: number): number[] {
  const first = Math.min(part, segments)
  const last = part >= parts ? segments : first
  return Array.from({ length: last - first + 1 }, (_, i) => first + i)
}

/** The address with its query in order, a dot if both parts exist, and the fields in order. */
function signedV3({ url, method, body }: InRequest): string {
  const address = new URL(url)
  const inOrder = (pairs: Iterable<[string, string]>, between: string): string[] =>
    [...pairs]
      .map(([name, value]) => `${name}\0${value}`)
      .sort()
      .map((pair) => pair.replace('\0', between))
  const query = inOrder(address.searchParams, '=').join('&')
  const fields = method === 'POST' ? inOrder(readForm(body), '').join('') : ''
  const base = url.replace(/[?#].*$/, '')
  if (query === '' && fields === '') return base
  return `${base}?${query}${query !== '' && fields !== '' ? '.' : ''}${fields}`
}
