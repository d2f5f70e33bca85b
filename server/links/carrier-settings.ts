import type { TextCoding } from '@heliogram/smpp'
import {
  Type,
  type Static,
  type TInteger,
  type TLiteral,
  type TObject,
  type TOptional,
  type TProperties,
  type TString,
} from 'typebox'

import { unknownPolicies } from '../message/message.ts'

/** Permitted in a C-octet string of a bind (SMPP 3.4 §3.1): nothing else can be sent. */
export const bindText = '^[ -~]*$'

const writtenAlphabets = ['gsm7', 'gsm7-packed', 'latin1', 'ascii', 'ucs2'] as const
/** Alphabets of deliveries: all that have a decoder. */
const readAlphabets = [
  ...writtenAlphabets,
  'utf8',
  'binary',
  'shift_jis',
  'iso-8859-5',
  'iso-8859-8',
  'iso-2022-jp',
  'euc-kr',
] as const satisfies readonly TextCoding[]

const octet = Type.Integer({ minimum: 0, maximum: 255 })
const octetText = '^(0|[1-9][0-9]?|1[0-9][0-9]|2[0-4][0-9]|25[0-5])$'
// SMPP 3.4 §5.2.5 and §5.2.6; both have reserved values that some carriers use.
const ton = (standard: number, of: string): TInteger =>
  Type.Integer({ minimum: 0, maximum: 255, default: standard, description: `TON of ${of}.` })
const npi = (standard: number, of: string): TInteger =>
  Type.Integer({ minimum: 0, maximum: 255, default: standard, description: `NPI of ${of}.` })

const onUnknown = Type.Enum([...unknownPolicies], {
  default: 'hold',
  description:
    'What to do with messages whose submit was not answered, if neither they nor their campaign or account set it: hold them, or send them again after a while, perhaps twice.',
})

const recipientOtherForm = Type.Array(Type.Enum(['AR', 'MX']), {
  uniqueItems: true,
  maxItems: 2,
  default: [],
  description:
    'Countries whose numbers the carrier needs in their other form: AR without the 9 after 54, MX with a 1 after 52. Others are written in the current form.',
  examples: [['AR']],
})

/** Everything a link needs except its password; every member has a default. */
export const SmppSettings = Type.Object(
  {
    host: Type.String({
      minLength: 1,
      maxLength: 253,
      // One colon would precede a port; an IPv6 address has more.
      pattern: '^([^\\s/:]*|[^\\s/:]*:[^\\s/]*:[^\\s/]*)$',
      description: 'Host name or address of the SMSC, without a scheme or a port.',
      examples: ['smpp.example.com'],
    }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'Its port; usually 2775, or 3550 with TLS.' }),
    system_id: Type.String({
      minLength: 1,
      maxLength: 15,
      pattern: bindText,
      description: 'Name to bind with, in ASCII (SMPP 3.4 §5.2.1).',
    }),
    system_type: Type.String({
      maxLength: 12,
      pattern: bindText,
      default: '',
      description: 'As given by the carrier; usually empty.',
    }),
    bind: Type.Enum(['transceiver', 'transmitter_receiver'], {
      default: 'transceiver',
      description: 'One session for both directions, or one for each.',
    }),
    tls: Type.Boolean({ default: false, description: 'TLS with verification of the certificate.' }),
    tls_ca: Type.String({
      maxLength: 65_536,
      // An invalid one would leave no authority, and no certificate of the carrier would be trusted.
      pattern: '^$|-----BEGIN CERTIFICATE-----',
      default: '',
      description: 'PEM of the certificate authority, if it is not a public one.',
    }),
    sessions: Type.Integer({
      minimum: 1,
      maximum: 50,
      default: 1,
      description:
        'Binds that the carrier allows at a time, over all processes; two sockets each with `transmitter_receiver`.',
    }),
    window: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 100,
      description: 'Maximum unanswered submits of a session.',
    }),
    response_timeout_seconds: Type.Number({
      minimum: 0.1,
      maximum: 600,
      default: 60,
      description: 'After this time the outcome of a submit is unknown.',
    }),
    enquire_link_seconds: Type.Number({
      minimum: 1,
      maximum: 600,
      default: 30,
      description: 'Idle time before an enquire_link.',
    }),
    enquire_timeout_seconds: Type.Number({
      minimum: 0.5,
      maximum: 60,
      // A carrier answers it from memory, so five seconds are long; any PDU counts as an answer, and it is asked twice.
      default: 5,
      description:
        'How long to wait for the response to an enquire_link; the second in a row without a response ends the session.',
    }),
    bind_timeout_seconds: Type.Number({
      minimum: 1,
      maximum: 120,
      default: 10,
      description: 'Time to connect and bind; after it the session is closed and connected again.',
    }),
    message_id_form: Type.Enum(['raw', 'hex-to-dec', 'dec-to-hex', 'hex', 'dec'], {
      default: 'raw',
      description:
        "How a receipt's id is converted to the submit response's. `hex` and `dec`: the same number, ignoring zeros, capitals and 0x.",
    }),
    default_alphabet: Type.Enum(['gsm7', 'gsm7-packed', 'latin1', 'ascii'], {
      default: 'gsm7',
      description: 'The meaning of data_coding 0, used for our texts; characters it lacks are sent in UCS-2.',
    }),
    data_codings_out: Type.Object(
      Object.fromEntries(writtenAlphabets.map((name) => [name, Type.Optional(octet)])) as Record<
        (typeof writtenAlphabets)[number],
        TOptional<TInteger>
      >,
      {
        additionalProperties: false,
        default: {},
        description: 'data_coding of our submits by alphabet, if it is not 0, or 8 for ucs2.',
      },
    ),
    data_codings_in: Type.Record(Type.String({ pattern: octetText }), Type.Enum([...readAlphabets]), {
      additionalProperties: false,
      default: {},
      description: "How to read deliveries by data_coding, if the carrier differs from SMPP's table.",
      examples: [{ 0: 'latin1', 245: 'binary' }],
    }),
    concatenation: Type.Enum(['udh8', 'udh16', 'sar', 'payload'], {
      default: 'udh8',
      description: 'How to split long texts.',
    }),
    validity: Type.Enum(['absolute', 'none'], {
      default: 'absolute',
      description: 'Whether submits contain their validity.',
    }),
    on_unknown: onUnknown,
    user_message_reference: Type.Boolean({
      default: false,
      description:
        'Whether submits contain a reference (SMPP 3.4 §5.3.2.17). If the carrier echoes it, the receipt of a submit that was never answered finds its message, even among several to one number.',
    }),
    one_receipt: Type.Boolean({
      default: false,
      description:
        'Whether one receipt is about all parts of a long message, whichever part it names. For carriers that send one receipt for a long message.',
    }),
    long_code_ton: ton(1, 'numbers as sender'),
    long_code_npi: npi(1, 'numbers as sender'),
    short_code_ton: ton(0, 'short codes as sender'),
    short_code_npi: npi(0, 'short codes as sender'),
    alphanumeric_ton: ton(5, 'names as sender'),
    alphanumeric_npi: npi(0, 'names as sender'),
    recipient_ton: ton(1, 'recipients'),
    recipient_npi: npi(1, 'recipients'),
    recipient_other_form: recipientOtherForm,
    country: Type.String({
      pattern: '^([A-Z]{2})?$',
      default: '',
      description: 'ISO 3166-1 code of the country whose national numbers the carrier delivers; empty: none.',
      examples: ['GB'],
    }),
  },
  { additionalProperties: false },
)
export type SmppSettings = Static<typeof SmppSettings>

/** The defaults of all members but host, port and system_id. */
export const smppDefaults: Omit<SmppSettings, 'host' | 'port' | 'system_id'> = {
  system_type: '',
  bind: 'transceiver',
  tls: false,
  tls_ca: '',
  sessions: 1,
  window: 100,
  response_timeout_seconds: 60,
  enquire_link_seconds: 30,
  enquire_timeout_seconds: 5,
  bind_timeout_seconds: 10,
  message_id_form: 'raw',
  default_alphabet: 'gsm7',
  data_codings_out: {},
  data_codings_in: {},
  concatenation: 'udh8',
  validity: 'absolute',
  on_unknown: 'hold',
  user_message_reference: false,
  one_receipt: false,
  long_code_ton: 1,
  long_code_npi: 1,
  short_code_ton: 0,
  short_code_npi: 0,
  alphanumeric_ton: 5,
  alphanumeric_npi: 0,
  recipient_ton: 1,
  recipient_npi: 1,
  recipient_other_form: [],
  country: '',
}

/** A secret of an HTTP carrier: stored encrypted, never shown. */
export const secretText = (description: string): ReturnType<typeof Type.String> =>
  Type.String({ minLength: 1, maxLength: 1024, pattern: bindText, description })

/** Exactly these secrets of an HTTP carrier. */
export const secretsOf = <T extends TProperties>(secrets: T) => Type.Object(secrets, { additionalProperties: false })

export const adapterNames = ['twilio', 'telnyx', 'vonage', 'plivo', 'sinch', 'infobip', 'generic'] as const
export type AdapterName = (typeof adapterNames)[number]

export const httpCommon = {
  on_unknown: onUnknown,
  window: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 20,
    description: 'Requests at a time, each over its own connection.',
  }),
  response_timeout_seconds: Type.Number({
    minimum: 0.1,
    maximum: 600,
    default: 30,
    description: 'After this time the outcome of a request is unknown.',
  }),
  receipt_url: Type.Enum(['message', 'account'], {
    default: 'message',
    description: "Whether every message names the address for its receipts, or the carrier's account does.",
  }),
  recipient_other_form: recipientOtherForm,
  allowed_cidrs: Type.Array(Type.String({ maxLength: 43, examples: ['192.0.2.0/24'] }), {
    maxItems: 50,
    default: [],
    description:
      'Networks from which the carrier posts receipts and replies; empty: any. For carriers that do not sign; required for Plivo, whose signatures have no time.',
  }),
  url_version: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1,
    description: 'A different number creates new addresses for receipts and replies; the old ones are refused.',
  }),
}

const baseUrl = {
  maxLength: 255,
  pattern: '^https?://[^\\s/?#@]+(/[^\\s?#@]*[^\\s?#@/])?$',
  description: "Address of the carrier's API, without a slash at the end.",
  examples: ['https://xxxxx.api.infobip.com'],
}

/** Settings of an HTTP carrier: the common ones and its adapter's. `defaultUrl` null: each customer has their own. */
export function httpSettings<N extends AdapterName, T extends TProperties>(
  adapter: N,
  defaultUrl: string | null,
  own: T,
): TObject<{ adapter: TLiteral<N>; base_url: TString } & typeof httpCommon & T> {
  return Type.Object(
    {
      adapter: Type.Literal(adapter),
      base_url: Type.String({ ...baseUrl, ...(defaultUrl !== null && { default: defaultUrl }) }),
      ...httpCommon,
      ...own,
    },
    { additionalProperties: false },
  )
}

/** Common settings of HTTP carriers; the rest belong to the adapter. */
export interface HttpSettings {
  adapter: AdapterName
  window: number
  response_timeout_seconds: number
  receipt_url: 'message' | 'account'
  recipient_other_form: ('AR' | 'MX')[]
  /** Absent: any. */
  allowed_cidrs?: string[]
  url_version: number
}
