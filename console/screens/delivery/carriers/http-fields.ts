/** Settings and secrets of HTTP carriers, by adapter, in the API's words. */
import type { FieldGroup, FieldSpec } from './fields.ts'
import { genericFields } from './generic-fields.ts'
import { onUnknown } from './smpp-fields.ts'

export interface Adapter {
  title: string
  fields: readonly FieldSpec[]
  secrets: readonly FieldSpec[]
}

const baseUrl: FieldSpec = {
  name: 'base_url',
  label: 'Address of the API',
  hint: 'Another region, or a proxy; without a slash at the end. Empty: the carrier’s own.',
  isOptional: true,
}
const text = (name: string, label: string, hint?: string): FieldSpec => ({ name, label, ...(hint && { hint }) })
const optional = (name: string, label: string, hint: string): FieldSpec => ({ name, label, hint, isOptional: true })
const secret = (name: string, label: string, hint?: string): FieldSpec => ({
  ...text(name, label, hint),
  kind: 'secret',
})
const optionalSecret = (name: string, label: string, hint: string): FieldSpec => ({
  ...secret(name, label, hint),
  isOptional: true,
})

export const adapters: Readonly<Record<string, Adapter>> = {
  twilio: {
    title: 'Twilio',
    fields: [
      text('account_sid', 'Account SID'),
      optional(
        'messaging_service_sid',
        'Messaging service',
        'Service that sends; chooses the sender of messages that name none.',
      ),
      baseUrl,
    ],
    secrets: [secret('auth_token', 'Auth token', 'Also the key of X-Twilio-Signature.')],
  },
  telnyx: {
    title: 'Telnyx',
    fields: [
      text('public_key', 'Public key', 'Of your account (Ed25519, base64), with which Telnyx signs what it posts.'),
      optional('messaging_profile_id', 'Messaging profile', 'Needed for names and for number pools.'),
      baseUrl,
    ],
    secrets: [secret('api_key', 'API key', 'Of version 2.')],
  },
  vonage: {
    title: 'Vonage',
    fields: [
      text('api_key', 'API key of the account'),
      {
        name: 'signature_method',
        label: 'Signature method',
        hint: 'As the dashboard’s settings say; md5hash is its “MD5 hash signature”, the others are HMACs.',
        options: ['md5hash', 'md5', 'sha1', 'sha256', 'sha512'].map((name) => [name, name] as const),
        initial: 'md5hash',
      },
      baseUrl,
    ],
    secrets: [
      secret('api_secret', 'API secret of the account'),
      optionalSecret('signature_secret', 'Signature secret', 'With it only signed receipts and replies are taken.'),
    ],
  },
  plivo: {
    title: 'Plivo',
    fields: [
      text('auth_id', 'Auth ID', 'Of the account or subaccount.'),
      {
        ...text('allowed_cidrs', 'Networks of Plivo', 'Plivo posts receipts and replies from these: ["192.0.2.0/24"].'),
        kind: 'json',
      },
      optional('powerpack_uuid', 'Powerpack', 'Chooses the sender of messages that name none.'),
      baseUrl,
    ],
    secrets: [secret('auth_token', 'Auth token', 'Also the key of the signatures.')],
  },
  sinch: {
    title: 'Sinch',
    fields: [
      text('service_plan_id', 'Service plan', 'Its region is in the address of the API (us, eu, au, br, ca).'),
      baseUrl,
    ],
    secrets: [
      secret('api_token', 'API token of the service plan'),
      optionalSecret(
        'callback_secret',
        'Secret of callbacks',
        'Key of their HMAC, where it is set up; only signed receipts and replies are taken then.',
      ),
    ],
  },
  infobip: {
    title: 'Infobip',
    fields: [text('base_url', 'Address of the API', 'Of your account, without a slash at the end.')],
    secrets: [
      secret('api_key', 'API key'),
      optionalSecret(
        'callback_user',
        'User name of callbacks',
        'That your subscription at Infobip authenticates with.',
      ),
      optionalSecret(
        'callback_password',
        'Password of callbacks',
        'With both only such receipts and replies are taken.',
      ),
    ],
  },
  generic: { title: 'Any other, by description', fields: genericFields, secrets: [] },
}

const common: FieldGroup = {
  title: 'Requests, receipts and unknown outcomes',
  fields: [
    {
      name: 'window',
      label: 'Window',
      hint: 'Requests at a time, each over its own connection.',
      kind: 'number',
      initial: '20',
    },
    {
      name: 'response_timeout_seconds',
      label: 'Wait for an answer, seconds',
      hint: 'After this time the outcome of a request is unknown.',
      kind: 'number',
      initial: '30',
    },
    {
      name: 'receipt_url',
      label: 'Address of receipts',
      hint: 'Whether every message says where its receipts go, or the carrier’s account does.',
      options: [
        ['message', 'Every message says it'],
        ['account', 'The carrier’s account does'],
      ],
      initial: 'message',
    },
    {
      name: 'url_version',
      label: 'Version of the addresses',
      hint: 'A different number creates new addresses for receipts and replies; the old ones are refused.',
      kind: 'number',
      initial: '1',
    },
    onUnknown,
  ],
}

export const httpGroups = (adapter: string): FieldGroup[] => [
  { title: null, fields: adapters[adapter]?.fields ?? [] },
  common,
]
