/** The settings of the generic HTTP adapter, with the manual's example. */
import type { FieldSpec } from './fields.ts'

const json = (name: string, label: string, hint: string, example?: unknown): FieldSpec => ({
  name,
  label,
  hint,
  kind: 'json',
  isOptional: true,
  ...(example !== undefined && { initial: JSON.stringify(example, null, 2) }),
})

export const genericFields: readonly FieldSpec[] = [
  json(
    'request',
    'Request',
    'How to send a message. In the address, headers and texts of the body stand {{to}}, {{from}}, {{text}}, {{id}}, {{receipt_url}} and {{secret.name}}; the manual has them all.',
    {
      method: 'POST',
      url: 'https://api.carrier.example/v2/sms',
      headers: { Authorization: 'Bearer {{secret.token}}' },
      format: 'json',
      body: { to: '{{to_e164}}', from: '{{from}}', text: '{{text}}', callback: '{{receipt_url}}', ref: '{{id}}' },
    },
  ),
  json('answer', 'Answer', 'What an answer means: pointers (RFC 6901) to id and code, and lists of codes.', {
    id: '/message/id',
    code: '/error/code',
  }),
  json('receipt', 'Receipts', 'Where to find values in receipts. Pointers also read forms and queries: /name.', {
    id: '/id',
    reference: '/ref',
    state: '/status',
    states: { DELIVERED: 'delivered', FAILED: 'undeliverable', REJECTED: 'rejected', EXPIRED: 'expired' },
  }),
  json('reply', 'Replies', 'Where to find values in replies.', {
    id: '/id',
    from: '/sender',
    to: '/recipient',
    text: '/text',
  }),
  json('signature', 'Signature', 'HMAC of the body (of the query, for GET) under the secret named signature.'),
  json('codes', 'Codes', 'What the carrier’s codes mean, such as {"stop": "recipient_opted_out"}.'),
  {
    name: 'idempotent',
    label: 'Repetitions are known',
    hint: 'Whether the carrier accepts a repeated request with the same {{id}} only once.',
    kind: 'check',
  },
]
