/** The settings of an SMPP carrier: one schema for the API, the database and the link. */
import { Type, type Static, type TLiteral, type TObject, type TProperties, type TString } from 'typebox'

/** What a C-octet string of a bind can carry (SMPP 3.4 §3.1): a session could not even ask with anything else. */
export const bindText = '^[ -~]*$'

/** Everything a link needs but its password; every member has a default. */
export const SmppSettings = Type.Object(
  {
    host: Type.String({ minLength: 1, maxLength: 253, description: 'Host name or address of the SMSC.' }),
    port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'Its port; mostly 2775, or 3550 with TLS.' }),
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
      description: 'As the carrier says; mostly empty.',
    }),
    bind: Type.Enum(['transceiver', 'transmitter_receiver'], {
      default: 'transceiver',
      description: 'One session for both directions, or one for each.',
    }),
    tls: Type.Boolean({ default: false, description: 'TLS with verification of the certificate.' }),
    tls_ca: Type.String({
      maxLength: 65_536,
      default: '',
      description: 'PEM of the authority, where it is not a public one.',
    }),
    sessions: Type.Integer({
      minimum: 1,
      maximum: 50,
      default: 1,
      description:
        'Binds at a time that the carrier allows, over all processes; two sockets each with `transmitter_receiver`.',
    }),
    window: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 100,
      description: 'Unanswered submits of a session at most.',
    }),
    response_timeout_seconds: Type.Number({
      minimum: 0.1,
      maximum: 600,
      default: 60,
      description: 'After it the outcome of a submit is unknown.',
    }),
    enquire_link_seconds: Type.Number({
      minimum: 1,
      maximum: 600,
      default: 30,
      description: 'Idle time before a heartbeat.',
    }),
    message_id_form: Type.Enum(['raw', 'hex-to-dec', 'dec-to-hex'], {
      default: 'raw',
      description: "How a receipt's id becomes the submit response's.",
    }),
    default_alphabet: Type.Enum(['gsm7', 'gsm7-packed', 'latin1', 'ascii'], {
      default: 'gsm7',
      description: 'What the carrier means by data_coding 0.',
    }),
    concatenation: Type.Enum(['udh8', 'udh16', 'sar', 'payload'], {
      default: 'udh8',
      description: 'How long texts are cut.',
    }),
    validity: Type.Enum(['absolute', 'none'], {
      default: 'absolute',
      description: 'Whether submits carry their expiry.',
    }),
    short_code_ton: Type.Integer({ minimum: 0, maximum: 6, default: 0, description: 'TON of short codes as sender.' }),
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
  message_id_form: 'raw',
  default_alphabet: 'gsm7',
  concatenation: 'udh8',
  validity: 'absolute',
  short_code_ton: 0,
}

/** A secret of an HTTP carrier: stored encrypted, never shown. */
export const secretText = (description: string): ReturnType<typeof Type.String> =>
  Type.String({ minLength: 1, maxLength: 1024, pattern: bindText, description })

/** Adapters of HTTP carriers, by name. */
export const adapterNames = ['twilio', 'telnyx', 'vonage', 'plivo', 'sinch', 'infobip', 'generic'] as const
export type AdapterName = (typeof adapterNames)[number]

/** What every HTTP carrier has. */
export const httpCommon = {
  window: Type.Integer({
    minimum: 1,
    maximum: 1000,
    default: 20,
    description: 'Requests at a time, each over a connection of its own.',
  }),
  response_timeout_seconds: Type.Number({
    minimum: 0.1,
    maximum: 600,
    default: 30,
    description: 'After it the outcome of a request is unknown.',
  }),
  receipt_url: Type.Enum(['message', 'account'], {
    default: 'message',
    description: "Whether every message says where its receipts go, or the carrier's account does.",
  }),
  url_version: Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1,
    description: 'Another number makes new addresses for receipts and replies; the old ones are refused.',
  }),
}

const baseUrl = {
  maxLength: 255,
  pattern: '^https?://[^\\s/?#@]+(/[^\\s?#@]*[^\\s?#@/])?$',
  description: "Address of the carrier's API, without a slash at the end.",
  examples: ['https://xxxxx.api.infobip.com'],
}

/** Settings of an HTTP carrier: what all have, and what its adapter adds. `defaultUrl` null: each customer has an own one. */
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

/** What the settings of every HTTP carrier have; the rest is its adapter's. */
export interface HttpSettings {
  adapter: AdapterName
  window: number
  response_timeout_seconds: number
  receipt_url: 'message' | 'account'
  url_version: number
}
