/** What the master key seals, column by column: the register by which a rotation finds it all (a test compares it with the catalog). */

/** A column of sealed values. */
export interface SecretColumn {
  table: string
  column: string
  /** SQL of the purpose that a value is bound to, as whoever seals it says it. */
  purpose: string
  /** How the value is stored; `mixed`: base64, or a text that was never sealed. */
  form: 'bytea' | 'base64' | 'mixed'
  /** SQL of which rows are sealed, where some are not. */
  where?: string
}

/** All of them but `smpp_gatherings.parts`, which is JSON (`rewrap.ts`). */
export const secretColumns: readonly SecretColumn[] = [
  {
    table: 'data_keys',
    column: 'wrapped',
    purpose: `'data_keys.wrapped|' || account_id || '|' || version`,
    form: 'bytea',
  },
  { table: 'carriers', column: 'secrets', purpose: `'carriers.secrets|' || id`, form: 'bytea' },
  { table: 'links', column: 'secrets', purpose: `'links.secrets|' || id`, form: 'bytea' },
  { table: 'accounts', column: 'callback_secret', purpose: `'accounts.callback_secret|' || id`, form: 'bytea' },
  { table: 'webhooks', column: 'secret', purpose: `'webhooks.secret|' || id`, form: 'bytea' },
  { table: 'webhooks', column: 'previous_secret', purpose: `'webhooks.secret|' || id`, form: 'bytea' },
  { table: 'webhooks', column: 'sealed_headers', purpose: `'webhooks.headers|' || id`, form: 'bytea' },
  {
    table: 'twilio_credentials',
    column: 'token_sealed',
    purpose: `'twilio_credentials.token|' || account_id || '|' || id`,
    form: 'bytea',
  },
  { table: 'users', column: 'totp_sealed', purpose: `'users.totp_sealed ' || id`, form: 'bytea' },
  {
    table: 'idempotency_keys',
    column: 'response',
    purpose: `'idempotency_keys ' || account_id || ' ' || operation || ' ' || key`,
    form: 'base64',
  },
  {
    table: 'reply_parts',
    column: 'bytes',
    purpose: `concat_ws('|', 'reply_parts.bytes', link_id, source, destination, kind, reference, total, part)`,
    form: 'bytea',
    where: 'is_sealed',
  },
  {
    table: 'orphan_replies',
    column: 'octets',
    purpose: `'orphan_replies.octets|' || id`,
    form: 'bytea',
    where: 'is_sealed and octets is not null',
  },
  { table: 'orphan_replies', column: 'body', purpose: `'orphan_replies.body|' || id`, form: 'mixed' },
]
