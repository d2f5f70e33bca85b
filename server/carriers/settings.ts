/** The settings of an SMPP carrier: one schema for the API, the database and the link. */
import { Type, type Static } from 'typebox'

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
    window: Type.Integer({ minimum: 1, maximum: 10_000, default: 100, description: 'Unanswered submits at most.' }),
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
  window: 100,
  response_timeout_seconds: 60,
  enquire_link_seconds: 30,
  message_id_form: 'raw',
  default_alphabet: 'gsm7',
  concatenation: 'udh8',
  validity: 'absolute',
  short_code_ton: 0,
}
