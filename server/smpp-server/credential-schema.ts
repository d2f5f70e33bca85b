import { Type } from 'typebox'
import { IdOf, Nullable, Timestamp } from '../ground/http/http.ts'

const name = Type.String({ minLength: 1, maxLength: 120, description: 'A name.', examples: ['Billing gateway'] })
const settings = {
  enabled: Type.Boolean({ description: 'False: its sessions end within five seconds, and it cannot bind.' }),
  allowed_cidrs: Type.Array(Type.String({ maxLength: 43, examples: ['192.0.2.0/24'] }), {
    maxItems: 50,
    description: 'Networks from which it may bind; empty: any.',
  }),
  max_sessions: Type.Integer({ minimum: 1, maximum: 100, description: 'Sessions at a time, over all processes.' }),
  window: Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: 'Unanswered requests of a session, each way.',
  }),
  pace: Type.Number({
    minimum: 0.1,
    maximum: 100_000,
    description: 'Segments a second, over all its sessions; above it a submit gets ESME_RTHROTTLED.',
  }),
  default_alphabet: Type.Enum(['gsm7', 'latin1', 'ascii'], { description: 'Its meaning of data_coding 0.' }),
  receives_replies: Type.Boolean({ description: "Whether it also receives replies to the account's numbers." }),
  reply_concatenation: Type.Enum(['udh8', 'udh16', 'sar', 'payload'], {
    description: 'How to send it long replies.',
  }),
}
const optional = {
  enabled: Type.Optional(settings.enabled),
  allowed_cidrs: Type.Optional(settings.allowed_cidrs),
  max_sessions: Type.Optional(settings.max_sessions),
  window: Type.Optional(settings.window),
  pace: Type.Optional(settings.pace),
  default_alphabet: Type.Optional(settings.default_alphabet),
  receives_replies: Type.Optional(settings.receives_replies),
  reply_concatenation: Type.Optional(settings.reply_concatenation),
}
export const NewCredential = Type.Object({ name, ...optional }, { additionalProperties: false })
export const CredentialChange = Type.Object({ name: Type.Optional(name), ...optional }, { additionalProperties: false })

export const SmppCredential = Type.Object(
  {
    id: IdOf('smc', 'The credential.'),
    object: Type.Literal('smpp_credential'),
    name,
    system_id: Type.String({ description: 'The name to bind with.', examples: ['hg_b7xk2mq9w4tz'] }),
    mode: Type.Enum(['live', 'test'], { description: 'The mode of the key that created it.' }),
    ...settings,
    sessions: Type.Integer({ description: 'Sessions bound now.' }),
    incomplete_messages: Type.Integer({
      description: 'Long messages that were not sent: parts were missing, or used the reference of another message.',
    }),
    last_incomplete_at: Nullable(Timestamp('When the last of them was given up.')),
    created_at: Timestamp('When it was created.'),
    updated_at: Timestamp('When it was last changed.'),
    last_bound_at: Nullable(Timestamp('When it last bound.')),
  },
  { $id: 'SmppCredential', description: 'The credential of an SMPP client. Its password is shown once.' },
)
export const WithPassword = Type.Object({
  ...SmppCredential.properties,
  password: Type.String({ description: 'Eight characters: shown only now.' }),
})
