/** The registry of all errors that callers can see: the source of responses, `GET /v1/errors` and the docs. */

/** `retryable`: the same request can succeed later. */
interface ErrorKind {
  status: number
  title: string
  retryable: boolean
  advice: string
}

const kind = (status: number, title: string, advice: string, retryable = false): ErrorKind => ({
  status,
  title,
  retryable,
  advice,
})

/** Codes of responses (RFC 9457 `code` member). A code is never reused for another meaning. */
export const errorKinds = {
  malformed_json: kind(400, 'The body is not valid JSON', 'Send one JSON document in UTF-8.'),
  invalid_header: kind(400, 'A header is invalid', 'Correct the header named in the detail.'),
  missing_token: kind(
    401,
    'The bearer token is missing',
    'Send `Authorization: Bearer <token>` with an API key or an access token.',
  ),
  invalid_token: kind(401, 'The token is invalid', 'Use a token of this installation that has not been revoked.'),
  expired_token: kind(401, 'The token has expired', 'Log in again, refresh the token, or create a new API key.'),
  invalid_credentials: kind(401, 'The credentials are wrong', 'Check the e-mail address and the password, or the key.'),
  insufficient_user_authentication: kind(
    401,
    'Confirm your password',
    'Send your password to `POST /v1/users/me/confirm`, or log in again, then repeat the request. API keys need no confirmation.',
  ),
  otp_required: kind(
    401,
    'A code of the second factor is required',
    'Send the login again with `otp` or `recovery_code`.',
  ),
  invalid_otp: kind(401, 'The code of the second factor is wrong', 'Use the current code; each works once.'),
  invalid_invitation: kind(
    401,
    'The invitation is invalid',
    'It was used, withdrawn or has expired: ask for another one.',
  ),
  ip_not_allowed: kind(403, 'The key cannot be used from this address', "Use a network in the key's `ip_allow`."),
  role_not_allowed: kind(
    403,
    'You cannot give or change this role',
    'Ask somebody who may do at least as much. Only owners can create and change owners, and you cannot change your own role.',
  ),
  user_required: kind(
    403,
    'Only people can do this',
    'Log in with e-mail and password; an API key belongs to no person.',
  ),
  sub_account_not_allowed: kind(
    403,
    'This account cannot have sub-accounts',
    'Use the account above it; there is only one level of sub-accounts.',
  ),
  insufficient_scope: kind(403, 'The token lacks a scope', 'Use a token with the scope named in the detail.'),
  account_suspended: kind(403, 'The account is suspended', 'Ask the operator of this installation.'),
  destination_not_allowed: kind(403, 'The destination country is not allowed', 'Allow the country in the settings.'),
  premium_number_not_allowed: kind(
    403,
    'The recipient is a premium number',
    'Set allow_premium_numbers in the settings if you want to send to such numbers.',
  ),
  fraud_suspected: kind(
    403,
    'Too many messages to sequential numbers',
    'Check who requests these messages. If they are wanted, release the guard named in the detail.',
  ),
  own_broadcast: kind(
    403,
    'Somebody else must decide',
    'The broadcast needs approval by another person than its creator; another key of the creator does not count.',
  ),
  not_found: kind(404, 'Not found', 'Check the path and the id; ids of other accounts are not found either.'),
  method_not_allowed: kind(405, 'The method is not allowed here', 'Use a method in the `Allow` header.'),
  idempotency_in_progress: kind(
    409,
    'The first request with this key is still running',
    'Repeat the request in a second.',
    true,
  ),
  fields_unavailable: kind(
    409,
    'The contact cannot be decrypted',
    'Its fields are encrypted with a key that is missing. Ask the operator, or delete the contact.',
  ),
  contact_exists: kind(
    409,
    'The contact already exists',
    'Use `?on_conflict=update` or `skip`, or the existing contact.',
  ),
  user_exists: kind(
    409,
    'The address already belongs to a user',
    'Use another e-mail address: an account has one user for each.',
  ),
  last_owner: kind(409, 'The account would have no owner', 'Make somebody else an owner first.'),
  totp_not_in_state: kind(
    409,
    'The second factor does not allow this now',
    'Turn it off before you set it up again; set it up before you confirm it.',
  ),
  account_not_in_state: kind(
    409,
    'The account does not allow this now',
    'The detail gives the reason: this or another account is closed, or was destroyed.',
  ),
  key_taken: kind(409, 'The key is already used', 'Choose another key, or use the resource that has it.'),
  sender_taken: kind(409, 'The number is already used', 'A number belongs to one account at a carrier.'),
  carrier_in_use: kind(
    409,
    'The carrier is in use',
    'Disable it instead, or first remove its senders and its places in routes.',
  ),
  pool_in_use: kind(409, 'The sender pool is in use', 'First set another pool for the campaigns that use it.'),
  template_in_use: kind(409, 'The template is in use', 'First set another text for the campaigns that use it.'),
  not_resendable: kind(
    409,
    'The message cannot be resent',
    'Only a message with an unknown outcome can be resent, until it expires.',
  ),
  version_conflict: kind(409, 'The resource has changed', 'Get it again, and repeat the change with its new ETag.'),
  duplicate_message: kind(
    409,
    'The same message was sent a moment ago',
    '`existing_id` is that message. To send another, change the text, or `dedupe_window` in the settings.',
  ),
  guard_over: kind(409, 'The guard is no longer active', 'It was released or its time has ended: it stops nothing.'),
  webhook_disabled: kind(409, 'The webhook is disabled', 'Enable it first, with `PATCH` and `"enabled": true`.'),
  not_redactable: kind(
    409,
    'The message is not final',
    'Wait until it is final, or cancel it first; `retain_content: false` removes the text then.',
  ),
  not_cancelable: kind(
    409,
    'The message can no longer be canceled',
    'Only scheduled and queued messages can be canceled.',
  ),
  campaign_closed: kind(409, 'The campaign is closed', 'Use a campaign that is not archived or canceled.'),
  campaign_busy: kind(
    409,
    'The campaign already has a broadcast',
    'Wait until it is completed, withdraw it while it has no message, or cancel the campaign.',
  ),
  campaign_not_in_state: kind(
    409,
    'The broadcast does not allow this now',
    'Get the campaign; its status shows what is possible.',
  ),
  import_over: kind(409, 'The import has ended', 'Only a queued or processing import can be canceled.'),
  payload_too_large: kind(413, 'The body is too large', 'Send less at once; the detail names the limit.'),
  unsupported_media_type: kind(415, 'The content type is not supported', 'Use a content type listed in the detail.'),
  validation_failed: kind(422, 'The request is invalid', 'Correct every field listed in `errors`.'),
  invalid_cursor: kind(
    422,
    'The cursor is invalid here',
    'Start again without a cursor; a cursor belongs to its filters.',
  ),
  filter_combination_not_allowed: kind(
    422,
    'These filters cannot be combined',
    'Use one of the combinations in the detail.',
  ),
  idempotency_key_reused: kind(
    422,
    'The idempotency key was used for another request',
    'Use a new key for a new request.',
  ),
  recipient_opted_out: kind(
    422,
    'The recipient has opted out',
    'Do not send to this number until the person replies START.',
  ),
  max_price_exceeded: kind(
    422,
    'The message would cost more than `max_price`',
    'Raise `max_price` or leave it out, or shorten the text; a price in another currency cannot be compared.',
  ),
  no_route_available: kind(422, 'No carrier can send this message', 'Create or enable a carrier.'),
  test_mode_unavailable: kind(
    422,
    'Test mode is turned off',
    'Use a live key, or ask the operator to turn test mode on.',
  ),
  rate_limited: kind(429, 'Too many requests', 'Wait as long as `Retry-After` says.', true),
  spend_limit_reached: kind(
    429,
    'The daily limit is reached',
    'Wait as long as `Retry-After` says, raise the limit, or release the guard named in the detail.',
    true,
  ),
  country_limit_reached: kind(
    429,
    'The limit of the country is reached',
    'Wait as long as `Retry-After` says, raise the limit, or release the guard named in the detail.',
    true,
  ),
  queue_full: kind(429, 'The queue is full', 'Wait as long as `Retry-After` says.', true),
  login_throttled: kind(429, 'Too many failed logins', 'Wait as long as `Retry-After` says.', true),
  internal_error: kind(
    500,
    'Internal error',
    'Repeat the request with the same idempotency key; report the request id.',
    true,
  ),
  unavailable: kind(
    503,
    'Temporarily unavailable',
    'Wait as long as `Retry-After` says, then repeat the request.',
    true,
  ),
} as const satisfies Record<string, ErrorKind>

export type ErrorCode = keyof typeof errorKinds

/** Codes of fields, in a `validation_failed`. */
export const fieldErrors = {
  required: 'The field is missing.',
  unknown_field: 'The field does not exist. Nothing is ignored silently.',
  invalid_type: 'The value has the wrong type.',
  invalid_value: 'The value is not one of those allowed.',
  invalid_format: 'The value has the wrong format.',
  too_short: 'The value is too short.',
  too_long: 'The value is too long.',
  out_of_range: 'The number or time is out of range.',
  invalid_characters: 'The text contains NUL or a lone surrogate.',
  invalid_phone_number: 'The number is not a valid phone number.',
  scientific_notation: 'A spreadsheet has rounded the number.',
  invalid_sender: 'The sender is not a number or an alphanumeric sender.',
  campaign_not_found: 'The account has no such campaign.',
  sender_not_found: 'The account has no such sender.',
  sender_not_allowed: 'The sender cannot be used for this recipient.',
  pool_not_found: 'The account has no such sender pool.',
  invalid_url: 'The address cannot be called.',
  too_many_segments: 'The text needs more segments than allowed.',
  invalid_template: 'The text has a merge field that cannot be read.',
  template_not_found: 'The account has no such template.',
  missing_variable: 'The text needs a value that was not given.',
  not_encodable: 'The text does not fit into the requested encoding.',
} as const satisfies Record<string, string>

export type FieldErrorCode = keyof typeof fieldErrors

/** `pointer` is an RFC 6901 JSON pointer as a fragment (`#/to`), or `?name` for a query parameter. */
export interface FieldError {
  pointer: string
  code: FieldErrorCode
  detail: string
  suggestion?: string
}

interface ErrorOptions {
  /** The fault of this request, for a person; by default the code's advice. */
  detail?: string
  errors?: FieldError[]
  retryAfterSeconds?: number
  headers?: Record<string, string>
  /** More members of the problem document, such as `existing_id`. */
  members?: Record<string, unknown>
  /** Overrides the code's status. */
  status?: number
}

/** An error for the caller. Any other becomes `internal_error`. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly options: ErrorOptions
  constructor(code: ErrorCode, options: ErrorOptions = {}) {
    super(options.detail ?? errorKinds[code].title)
    this.name = 'ApiError'
    this.code = code
    this.options = options
  }
  get status(): number {
    return this.options.status ?? errorKinds[this.code].status
  }
}

/** The row that a request names. @throws ApiError `not_found` without one. */
export function found<T>(row: T | null | undefined | '', detail: string): T {
  if (!row) throw new ApiError('not_found', { detail })
  return row
}

/** A temporary error between several transactions: its cause, and what has been done so far. */
export class PartlyDone extends Error {
  constructor(cause: unknown, done: string) {
    super(done, { cause })
    this.name = 'PartlyDone'
  }
}

/** Enough to correct a client; thousands of wrong items would make a response of megabytes. */
export const errorsMax = 100

/** Needs at least one error. */
export function invalid(errors: FieldError[]): ApiError {
  const count = errors.length < errorsMax ? `${errors.length} fields` : `${errors.length} fields or more`
  const detail = errors.length === 1 ? '1 field is invalid.' : `${count} are invalid.`
  return new ApiError('validation_failed', { detail, errors })
}

/** The problem document of an error (RFC 9457). */
export function problemOf(error: ApiError, instance: string, requestId: string): Record<string, unknown> {
  const known = errorKinds[error.code]
  return {
    type: `/docs/errors/${error.code}`,
    title: known.title,
    status: error.status,
    // Without a detail of this request; the title is present already.
    detail: error.options.detail ?? known.advice,
    instance,
    code: error.code,
    request_id: requestId,
    retryable: known.retryable,
    ...(error.options.errors && { errors: error.options.errors }),
    ...error.options.members,
  }
}
