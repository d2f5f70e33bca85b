/** A column sealed by the master key. A rotation finds all values by this register (a test compares it with the catalog). */
export interface SecretColumn {
  table: string
  column: string
  /** SQL of the purpose that values are bound to, as sealed. */
  purpose: string
  /** The stored form; `mixed`: base64, or a text in clear. */
  form: 'bytea' | 'base64' | 'mixed'
  /** SQL that selects the sealed rows, if some are in clear. */
  where?: string
}

/** All but `smpp_gatherings.parts`, which is JSON (`rewrap.ts`). */
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
    table: 'received_posts',
    column: 'content',
    purpose: `'received_posts.content|' || account_id || '|' || id`,
    form: 'bytea',
  },
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
