/** The API: its resources, operations and events; written by `npm run sdk` from docs/openapi.json. */

/** A page of a list. */
export interface Page<T> {
  data: T[]
  /** Whether the list goes on in the direction in which it was read. */
  has_more: boolean
  /** For the next page; null on the last. */
  next_cursor: string | null
  /** For the page before; null on the first. */
  prev_cursor: string | null
  /** For what came since this page was made; null in lists that have none. */
  refresh_cursor: string | null
}
/** A body that is sent as it is. A Blob says its type; with the others `headers` may, and a string is CSV otherwise. */
export type Upload = Blob | FormData | ReadableStream<Uint8Array> | Uint8Array | ArrayBuffer | string
/** An account of this installation. */
export interface Account {
  /** The account. */
  id: string
  object: 'account'
  name: string
  status: 'active' | 'suspended' | 'closed'
  /** The account above it. */
  parent: string | null
  /** Segments a second of the whole account, over all carriers and processes; null: as the links allow. */
  pace: number | null
  /** Requests a second of each of its credentials; null: as the installation says. */
  api_per_second: number | null
  /** When it was made. */
  created_at: string
  /** When it was last changed. */
  updated_at: string
  /** When it was closed. */
  closed_at: string | null
  /** Until then a closed account can be opened again. */
  destroy_at: string | null
  /** When its data keys were destroyed, and its people and contacts deleted. */
  destroyed_at: string | null
}
/** Trouble that lasts, one alert an episode. The numbers are those of its last change. */
export interface Alert {
  /** Id of the alert. */
  id: string
  object: 'alert'
  type: 'link.down' | 'link.throttled' | 'sender.degraded' | 'webhook.failing' | 'webhook.disabled' | 'reply.orphaned'
  status: 'open' | 'closed'
  /** The link that it is about. */
  link: string | null
  /** Of the link, or of the replies. */
  carrier: {
    /** Its carrier. */
    id: string
    name: string
  } | null
  /** The number or name that it is about. Of replies that no account gets: a number that they came to. */
  sender: string | null
  /** The endpoint that it is about. */
  webhook: string | null
  /** Of a disabled endpoint: it answered 410, or only failed for five days. */
  reason: 'gone' | 'failing' | null
  /** Of a link that is down: what its carrier or the network said. Of a failing webhook: how its last post ended (`status 500`, `timeout`). */
  last_error: string | null
  /** Of a throttled link: its segments a second. */
  pace: number | null
  /** What the carrier left of them. */
  allowed_pace: number | null
  /** Of a sender: messages delivered within the window. */
  delivered: number | null
  /** Messages that its carriers ended otherwise. */
  failed: number | null
  window_minutes: number | null
  /** When it had lasted long enough to be told. */
  opened_at: string
  /** When it had been over for a while, or its link was disabled, its sender fell silent, its endpoint was enabled or deleted, or the last of its replies was given or deleted. */
  closed_at: string | null
}
/** An API key. Its secret is shown once, when it is made or rotated. */
export interface ApiKey {
  /** The key. */
  id: string
  object: 'api_key'
  name: string
  /** Its beginning, which names it in logs and is its client_id. */
  prefix: string
  mode: 'live' | 'test'
  scopes: readonly string[]
  /** Networks from which it works; none named: from everywhere. */
  ip_allow: readonly string[]
  /** When it was made. */
  created_at: string
  /** When it ends; null: never. */
  expires_at: string | null
  /** Its last use, to the minute. */
  last_used_at: string | null
  /** Until when the secret before the last rotation works; null: it does not. */
  overlap_ends_at: string | null
}
export interface Attempt {
  /** The attempt. */
  id: string
  object: 'attempt'
  /** Where it went; null: to a callback address. */
  webhook: string | null
  /** The event. */
  event: string
  event_type: string | null
  /** The message that the event is about. */
  message: string | null
  /** Counts the attempts of this event at this endpoint, from 1; a redelivery begins anew. */
  try: number
  /** `ok`, or why not: `status` (not 2xx), `redirect`, `gone` (410), `timeout`, `refused`, `reset`, `dns`, `tls`, `private_address`, `not_allowed` (plain http or port), `too_large` (headers over 16 KiB), `protocol` (not HTTP). */
  outcome: string
  /** Its body is the event, or the batch that the event was in: see `GET /v1/events/{id}`. */
  request: {
    url: string | null
    /** Without the signature; your own masked. */
    headers: Record<string, string>
  }
  status_code: number | null
  /** Null without an answer, where they are over 4 KiB, or without the scope messages:read_body: an answer may repeat the post. */
  response_headers: Record<string, string | string[]> | null
  /** The first 4 KiB of the answer; null without the scope messages:read_body. */
  response: string | null
  timing: {
    /** Looking up the name, connecting and TLS; 0 over an open connection. */
    connect_ms: number | null
    /** From then to the head of the answer. */
    first_byte_ms: number | null
    total_ms: number
  }
  /** As `timing.total_ms`. */
  duration_ms: number
  /** When it is tried again; null: not. */
  next_attempt_at: string | null
  /** When the attempt began. */
  created_at: string
}
/** An administrative write: who changed what. Nothing changes it, and only its age deletes it. */
export interface AuditEvent {
  /** The event. */
  id: string
  object: 'audit_event'
  /** Its place in the chain of the account, from 1 without gaps. */
  seq: number
  /** When it was recorded. */
  created_at: string
  actor: {
    kind: 'user' | 'key' | 'system'
    /** The user or the API key; null: the program itself. */
    id: string | null
  }
  /** What was done. The list grows. */
  action: string
  /** Id of what was changed, or its name where it has none. */
  target: string | null
  /** Address of the caller. */
  ip: string | null
  /** X-Request-Id of the request. */
  request_id: string | null
  /** What differs; secrets, numbers of people and e-mail addresses are covered. */
  before: Record<string, unknown> | null
  /** What differs; secrets, numbers of people and e-mail addresses are covered. */
  after: Record<string, unknown> | null
  /** SHA-256 over the hash before it and the event, in hex. */
  hash: string
}
export interface AuditVerification {
  object: 'audit_verification'
  valid: boolean
  /** Events that were checked. */
  events: number
  /** Hash of the last event, to be kept elsewhere: it covers all before it. */
  head: string | null
  broken_at: {
    seq: number
    event: string | null
    /** `unlinked`: it follows another event than the one before it. */
    reason: 'missing' | 'changed' | 'unlinked'
  } | null
  /** The last event that went by age (`retention.audit_days`): the first one that is there is chained to its hash. */
  pruned: {
    seq: number
    hash: string
  } | null
}
export interface Broadcast {
  /** Id of the broadcast. */
  id: string
  object: 'broadcast'
  /** Its campaign. */
  campaign: string
  status: 'awaiting_approval' | 'scheduled' | 'sending' | 'paused' | 'completed' | 'canceled' | 'rejected' | 'withdrawn'
  message: string
  audience: {
    tags: string[]
  } | null
  /** When it begins. */
  send_at: string | null
  send_at_local: string | null
  /** Those known so far; all of them when `expanded` is true. Before it begins: the contacts that it would go to now. */
  recipients: number
  expanded: boolean
  /** Messages made so far; their outcomes are in `stats`. */
  messages: number
  segments: number
  /** Recipients without a message, by reason: an error code, or `contact_deleted`. */
  skipped: Record<string, number>
  /** Recipients whose turn is still to come. */
  remaining: number
  /** Its results: in lists and where it is read alone; null elsewhere. */
  stats: {
    recipients: number
    queued: number
    sent: number
    delivered: number
    failed: number
    unconfirmed: number
    canceled: number
    replies: number
    /** Segments of `messages`. */
    segments: number
    /** `failed` by reason: an error code, or `unknown`. */
    failures: Record<string, number>
    skipped: {
      opted_out: number
      invalid: number
      duplicate: number
      quiet_hours: number
    }
    /** People who answered one of the messages with STOP, and have not opted in again. */
    opt_outs: number
    clicks: number
    /** Estimated cost of what carriers took or may have taken: an amount a currency, none where no rate is known. */
    cost: {
      amount: string
      /** ISO 4217. */
      currency: string
    }[]
  } | null
  test: boolean
  /** When it was ordered. */
  created_at: string
  /** When it began. */
  started_at: string | null
  /** When its last message was with a carrier, or it was canceled, rejected or withdrawn. */
  completed_at: string | null
  /** Id of the user or API key. */
  ordered_by: string | null
  approval: {
    /** Id of the user or API key that approved or rejected it. */
    by: string
    /** When. */
    at: string
    reason: string | null
    /** How many there were then; with more than these it waits again. Null: it was rejected. */
    recipients: number | null
  } | null
  /** Why the remaining recipients wait. */
  hold: {
    reason: 'spend' | 'country_limit' | 'velocity'
    /** The stop; its release lets the broadcast go on. */
    guard: string
    /** When it goes on without a release. */
    until: string
  } | null
}
export interface Campaign {
  /** Id of the campaign. */
  id: string
  object: 'campaign'
  name: string
  /** A name of your own for the campaign, usable wherever its id is; unique in the account. */
  key: string | null
  description: string | null
  /** `active` for a campaign that labels messages. More states may come. */
  status: string
  /** Default type of its messages. */
  type: 'transactional' | 'marketing' | 'otp' | null
  from: string | null
  /** The pool that its messages take their senders from. */
  sender_pool: string | null
  message: string | null
  /** The template of its broadcasts. */
  template: string | null
  /** Values for fields of the text that are the same for all; they go before those of a contact. */
  variables: Record<string, string | number | boolean | null>
  default_country: string | null
  timezone: string | null
  validity_period: number | null
  /** Segments a second of all its messages, over all carriers and processes; null: as the links allow. */
  pace: number | null
  /** What becomes of its messages when the carrier does not answer: held, or sent again, perhaps twice. */
  on_unknown: 'hold' | 'resend' | null
  shorten_urls: boolean
  callback_url: string | null
  /** What it says of quiet hours itself; the rest, and null: as the account has it. */
  quiet_hours: {
    enabled?: boolean
    /** On the clock of the recipient. */
    start?: string
    /** The first minute that is not quiet any more; on the next day where it is before `start`. */
    end?: string
    /** Types of messages. Codes are never held. */
    applies_to?: ('marketing' | 'transactional')[]
    /** IANA time zone of those whose own is not known, and whose number is of no country. */
    fallback_timezone?: string
  } | null
  metadata: Record<string, string>
  tags: string[]
  contacts_count: number
  /** Counted when one campaign is read; null in lists. */
  stats: {
    recipients: number
    queued: number
    sent: number
    delivered: number
    failed: number
    unconfirmed: number
    canceled: number
    replies: number
    /** Segments of `messages`. */
    segments: number
    /** `failed` by reason: an error code, or `unknown`. */
    failures: Record<string, number>
    skipped: {
      opted_out: number
      invalid: number
      duplicate: number
      quiet_hours: number
    }
    /** People who answered one of the messages with STOP, and have not opted in again. */
    opt_outs: number
    clicks: number
    /** Estimated cost of what carriers took or may have taken: an amount a currency, none where no rate is known. */
    cost: {
      amount: string
      /** ISO 4217. */
      currency: string
    }[]
  } | null
  /** When it was made. */
  created_at: string
  /** When it was last changed. */
  updated_at: string
}
/** A company that takes messages, over SMPP or by an HTTP API. */
export interface Carrier {
  /** Id of the carrier. */
  id: string
  object: 'carrier'
  name: string
  kind: 'smpp' | 'http' | 'simulator'
  enabled: boolean
  pace: number
  priority: number
  settings:
    | {
        /** Host name or address of the SMSC, without a scheme or a port. */
        host: string
        /** Its port; mostly 2775, or 3550 with TLS. */
        port: number
        /** Name to bind with, in ASCII (SMPP 3.4 §5.2.1). */
        system_id: string
        /** As the carrier says; mostly empty. */
        system_type: string
        /** One session for both directions, or one for each. */
        bind: 'transceiver' | 'transmitter_receiver'
        /** TLS with verification of the certificate. */
        tls: boolean
        /** PEM of the authority, where it is not a public one. */
        tls_ca: string
        /** Binds at a time that the carrier allows, over all processes; two sockets each with `transmitter_receiver`. */
        sessions: number
        /** Unanswered submits of a session at most. */
        window: number
        /** After it the outcome of a submit is unknown. */
        response_timeout_seconds: number
        /** Idle time before a heartbeat. */
        enquire_link_seconds: number
        /** Wait for the answer to a heartbeat; the second in a row that is missed ends the session. */
        enquire_timeout_seconds: number
        /** From dialling until bound; then the session is given up and dialled again. */
        bind_timeout_seconds: number
        /** How a receipt's id becomes the submit response's. `hex` and `dec`: it is the same number, whatever its zeros, capitals and 0x. */
        message_id_form: 'raw' | 'hex-to-dec' | 'dec-to-hex' | 'hex' | 'dec'
        /** What the carrier means by data_coding 0, and what texts are written in; what it lacks is written in UCS-2. */
        default_alphabet: 'gsm7' | 'gsm7-packed' | 'latin1' | 'ascii'
        /** data_coding of our submits by alphabet, where it is another than 0, or 8 for ucs2. */
        data_codings_out: {
          gsm7?: number
          'gsm7-packed'?: number
          latin1?: number
          ascii?: number
          ucs2?: number
        }
        /** How deliveries are read by data_coding, where the carrier does not mean what SMPP's table says. */
        data_codings_in: Record<
          string,
          | 'gsm7'
          | 'gsm7-packed'
          | 'latin1'
          | 'ascii'
          | 'ucs2'
          | 'utf8'
          | 'binary'
          | 'shift_jis'
          | 'iso-8859-5'
          | 'iso-8859-8'
          | 'iso-2022-jp'
          | 'euc-kr'
        >
        /** How long texts are cut. */
        concatenation: 'udh8' | 'udh16' | 'sar' | 'payload'
        /** Whether submits carry their expiry. */
        validity: 'absolute' | 'none'
        /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
        on_unknown: 'hold' | 'resend'
        /** Whether submits carry a reference (SMPP 3.4 §5.3.2.17). Where the carrier echoes it, the receipt of a submit that was never answered finds its message, also among several to one number. */
        user_message_reference: boolean
        /** Whether one receipt speaks for all parts of a long message, whichever part it names. For carriers that send one receipt for a long message. */
        one_receipt: boolean
        /** TON of numbers as sender. */
        long_code_ton: number
        /** NPI of numbers as sender. */
        long_code_npi: number
        /** TON of short codes as sender. */
        short_code_ton: number
        /** NPI of short codes as sender. */
        short_code_npi: number
        /** TON of names as sender. */
        alphanumeric_ton: number
        /** NPI of names as sender. */
        alphanumeric_npi: number
        /** TON of recipients. */
        recipient_ton: number
        /** NPI of recipients. */
        recipient_npi: number
        /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
        recipient_other_form: ('AR' | 'MX')[]
        /** ISO 3166-1 code of the country whose national numbers the carrier delivers; empty: it does not. */
        country: string
      }
    | {
        adapter: 'twilio'
        /** Address of the carrier's API, without a slash at the end. */
        base_url: string
        /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
        on_unknown: 'hold' | 'resend'
        /** Requests at a time, each over a connection of its own. */
        window: number
        /** After it the outcome of a request is unknown. */
        response_timeout_seconds: number
        /** Whether every message says where its receipts go, or the carrier's account does. */
        receipt_url: 'message' | 'account'
        /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
        recipient_other_form: ('AR' | 'MX')[]
        /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
        allowed_cidrs: string[]
        /** Another number makes new addresses for receipts and replies; the old ones are refused. */
        url_version: number
        /** Account SID. */
        account_sid: string
        /** Messaging service that sends; chooses the sender of messages that name none. */
        messaging_service_sid?: string
      }
    | {
        adapter: 'telnyx'
        /** Address of the carrier's API, without a slash at the end. */
        base_url: string
        /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
        on_unknown: 'hold' | 'resend'
        /** Requests at a time, each over a connection of its own. */
        window: number
        /** After it the outcome of a request is unknown. */
        response_timeout_seconds: number
        /** Whether every message says where its receipts go, or the carrier's account does. */
        receipt_url: 'message' | 'account'
        /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
        recipient_other_form: ('AR' | 'MX')[]
        /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
        allowed_cidrs: string[]
        /** Another number makes new addresses for receipts and replies; the old ones are refused. */
        url_version: number
        /** Public key of your account (Ed25519, base64), with which Telnyx signs what it posts. */
        public_key: string
        /** Messaging profile; needed for names and for number pools. */
        messaging_profile_id?: string
      }
    | {
        adapter: 'vonage'
        /** Address of the carrier's API, without a slash at the end. */
        base_url: string
        /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
        on_unknown: 'hold' | 'resend'
        /** Requests at a time, each over a connection of its own. */
        window: number
        /** After it the outcome of a request is unknown. */
        response_timeout_seconds: number
        /** Whether every message says where its receipts go, or the carrier's account does. */
        receipt_url: 'message' | 'account'
        /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
        recipient_other_form: ('AR' | 'MX')[]
        /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
        allowed_cidrs: string[]
        /** Another number makes new addresses for receipts and replies; the old ones are refused. */
        url_version: number
        /** API key of the account. */
        api_key: string
        /** As the dashboard's settings say; md5hash is its `MD5 hash signature`, the others are HMACs. */
        signature_method: 'md5hash' | 'md5' | 'sha1' | 'sha256' | 'sha512'
      }
    | {
        adapter: 'plivo'
        /** Address of the carrier's API, without a slash at the end. */
        base_url: string
        /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
        on_unknown: 'hold' | 'resend'
        /** Requests at a time, each over a connection of its own. */
        window: number
        /** After it the outcome of a request is unknown. */
        response_timeout_seconds: number
        /** Whether every message says where its receipts go, or the carrier's account does. */
        receipt_url: 'message' | 'account'
        /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
        recipient_other_form: ('AR' | 'MX')[]
        /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
        allowed_cidrs: string[]
        /** Another number makes new addresses for receipts and replies; the old ones are refused. */
        url_version: number
        /** Auth ID of the account or subaccount. */
        auth_id: string
        /** Powerpack that chooses the sender of messages that name none. */
        powerpack_uuid?: string
      }
    | {
        adapter: 'sinch'
        /** Address of the carrier's API, without a slash at the end. */
        base_url: string
        /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
        on_unknown: 'hold' | 'resend'
        /** Requests at a time, each over a connection of its own. */
        window: number
        /** After it the outcome of a request is unknown. */
        response_timeout_seconds: number
        /** Whether every message says where its receipts go, or the carrier's account does. */
        receipt_url: 'message' | 'account'
        /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
        recipient_other_form: ('AR' | 'MX')[]
        /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
        allowed_cidrs: string[]
        /** Another number makes new addresses for receipts and replies; the old ones are refused. */
        url_version: number
        /** Service plan; its region is in `base_url` (us, eu, au, br, ca). */
        service_plan_id: string
      }
    | {
        adapter: 'infobip'
        /** Address of the carrier's API, without a slash at the end. */
        base_url: string
        /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
        on_unknown: 'hold' | 'resend'
        /** Requests at a time, each over a connection of its own. */
        window: number
        /** After it the outcome of a request is unknown. */
        response_timeout_seconds: number
        /** Whether every message says where its receipts go, or the carrier's account does. */
        receipt_url: 'message' | 'account'
        /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
        recipient_other_form: ('AR' | 'MX')[]
        /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
        allowed_cidrs: string[]
        /** Another number makes new addresses for receipts and replies; the old ones are refused. */
        url_version: number
      }
    | {
        adapter: 'generic'
        /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
        on_unknown: 'hold' | 'resend'
        /** Requests at a time, each over a connection of its own. */
        window: number
        /** After it the outcome of a request is unknown. */
        response_timeout_seconds: number
        /** Whether every message says where its receipts go, or the carrier's account does. */
        receipt_url: 'message' | 'account'
        /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
        recipient_other_form: ('AR' | 'MX')[]
        /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
        allowed_cidrs: string[]
        /** Another number makes new addresses for receipts and replies; the old ones are refused. */
        url_version: number
        /** The carrier takes a request that is repeated with the same {{id}} once. */
        idempotent: boolean
        /** How a message is sent. */
        request: {
          method: 'POST' | 'PUT' | 'GET'
          /** Address; fields are percent-encoded, and may stand behind the host only. */
          url: string
          /** Headers by name. */
          headers?: Record<string, string>
          /** The carrier's words for `{{encoding}}`, such as 0 and 2. Left out: ours. */
          encodings?: {
            'GSM-7'?: string
            'UCS-2'?: string
          }
          /** Form of the body: values are escaped for it. `none`: there is no body. */
          format: 'json' | 'form' | 'xml' | 'none'
          /** A JSON document, an object of form fields, or an XML text; its texts are templates. */
          body?: unknown
        }
        /** What an answer means. */
        answer?: {
          /** Pointer (RFC 6901) to the carrier's id in a JSON answer. */
          id?: string
          /** Pointer to a status or error code. */
          code?: string
          /** Codes that say yes. Without them every 2xx is a yes. */
          accepted?: string[]
          /** Codes of a no that will pass: tried again later. */
          passing?: string[]
          /** Codes that say "too fast": the pace is lowered. */
          throttled?: string[]
          /** Codes that every message gets until somebody acts, such as wrong credentials. */
          faults?: string[]
        }
        /** Where receipts have what counts. Pointers also read forms and queries: /name. */
        receipt?: {
          /** Pointer to the list of receipts, where one request brings several. */
          list?: string
          /** Pointer to the carrier's id. */
          id: string
          /** Pointer to our `id`, where the carrier gives it back. */
          reference?: string
          /** Pointer to the word that says what became of the message. */
          state: string
          /** The carrier's words; others are no end. */
          states: Record<
            string,
            'enroute' | 'delivered' | 'undeliverable' | 'rejected' | 'expired' | 'deleted' | 'unknown'
          >
          /** Pointer to an error code. */
          code?: string
          /** Pointer to the time of the event: tells repetitions apart. */
          time?: string
        }
        /** Where replies have what counts. */
        reply?: {
          /** Pointer to the list of replies, where one request brings several. */
          list?: string
          /** Pointer to the number of the person. */
          from: string
          /** Pointer to your number. */
          to: string
          /** Pointer to the text. */
          text: string
          /** Charset of the text, where it comes in a query or a form. Left out: UTF-8, or what the octets show. */
          charset?: string
          /** Pointer to the name of the charset, where each reply says its own. */
          charset_at?: string
          /** What the carrier's names at `charset_at` mean; others are names of charsets. */
          charsets?: Record<string, string>
          /** Pointer to the carrier's id, by which a repetition is known. */
          id?: string
        }
        /** HMAC of the body (of the query, for GET) under the secret `signature`. */
        signature?: {
          /** Header with the signature. */
          header: string
          algorithm: 'sha1' | 'sha256' | 'sha512'
          encoding: 'hex' | 'base64'
          /** Text before it, such as `sha256=`. */
          prefix?: string
        }
        /** What the carrier's codes mean. */
        codes?: Record<
          string,
          | 'unknown_subscriber'
          | 'landline_or_unroutable'
          | 'handset_unreachable'
          | 'handset_busy'
          | 'handset_memory_full'
          | 'recipient_blocked'
          | 'recipient_opted_out'
          | 'content_filtered'
          | 'carrier_congestion'
          | 'throttled'
          | 'sender_not_registered'
          | 'invalid_sender'
          | 'invalid_destination'
          | 'destination_not_allowed'
          | 'fraud_suspected'
          | 'queue_full'
          | 'expired_in_queue'
          | 'expired_at_carrier'
          | 'message_too_long'
          | 'spend_limit_reached'
          | 'text_unavailable'
          | 'quiet_hours'
          | 'provider_timeout'
          | 'provider_error'
          | 'no_route_available'
          | 'outcome_unknown'
          | 'no_receipt'
          | 'carrier_unknown'
        >
      }
  /** Whether it has a password, or the secrets of its adapter. */
  has_password: boolean
  /** Addresses to enter at an HTTP carrier; whoever knows them can pretend to be it. */
  inbound: {
    /** Where the carrier posts receipts; null without `carriers:write`. */
    receipts_url: string | null
    /** Where it posts replies; null without `carriers:write`. */
    replies_url: string | null
    /** Requests to them that carried no right signature or were not readable, since this process began. */
    refused: number
  } | null
  links: Link[]
  /** `response`: from a submit to its answer. `receipt`: from the answer to the receipt that ended the message. null without any. */
  latency: {
    /** Milliseconds over the last five to ten minutes and all processes, a few seconds old; within a tenth. */
    response: {
      p50_ms: number
      p95_ms: number
      p99_ms: number
      /** Times that they were taken of. */
      count: number
    } | null
    /** Milliseconds over the last five to ten minutes and all processes, a few seconds old; within a tenth. */
    receipt: {
      p50_ms: number
      p95_ms: number
      p99_ms: number
      /** Times that they were taken of. */
      count: number
    } | null
    /** The same by the recipient's country, busiest first; the 25th and later ones are `other`. */
    countries: {
      /** ISO 3166-1 alpha-2, or `other`. */
      country: string
      /** Milliseconds over the last five to ten minutes and all processes, a few seconds old; within a tenth. */
      response: {
        p50_ms: number
        p95_ms: number
        p99_ms: number
        /** Times that they were taken of. */
        count: number
      } | null
      /** Milliseconds over the last five to ten minutes and all processes, a few seconds old; within a tenth. */
      receipt: {
        p50_ms: number
        p95_ms: number
        p99_ms: number
        /** Times that they were taken of. */
        count: number
      } | null
    }[]
  }
  /** What waits for it, by type. */
  queue: {
    type: 'otp' | 'transactional' | 'marketing'
    /** Messages that wait. */
    messages: number
    /** Their segments. */
    segments: number
    /** How long the first in line have waited; null without any. */
    oldest_age_seconds: number | null
    /** Until it has gone at the pace allowed now; null while no link takes it. */
    drain_seconds: number | null
  }[]
  /** When it was created. */
  created_at: string
  /** When it was last changed. */
  updated_at: string
}
export interface Consent {
  /** Id of the entry. */
  id: string
  object: 'consent'
  /** The number that was asked for: the ledger itself knows only its keyed hash. */
  number: string
  status: 'opted_in' | 'opted_out' | 'unknown'
  /** `reply`, `api`, `import`, `contact` or `review`. */
  source: string
  /** Id of the key or user that recorded it; null: the person. */
  actor: string | null
  campaign: string | null
  /** The reply that said so. */
  message: string | null
  /** With `reason` and `keyword` where there is one. */
  evidence: {
    /** How it was given: `web_form`, `paper`, `phone`, … */
    method?: string
    /** Where: the address of a page, the name of a shop. */
    source?: string
    /** What the person was told, or said; null where it is the text of a reply and the caller lacks the scope messages:read_body. */
    text?: string | null
    /** When the person said it; not in the future. */
    obtained_at?: string
    /** From which network address. */
    ip?: string
    [name: string]: unknown
  }
  /** When it came into the ledger. */
  recorded_at: string
}
export interface Contact {
  /** Id of the contact. */
  id: string
  object: 'contact'
  /** Its campaign. */
  campaign: string
  /** Digits only, with country code. */
  phone_number: string
  /** `opted_out`: nothing is sent to the number. */
  status: 'active' | 'opted_out'
  first_name: string | null
  last_name: string | null
  external_id: string | null
  language: string | null
  country: string | null
  timezone: string | null
  attributes: Record<string, string | number | boolean>
  tags: string[]
  consent: {
    /** `opted_out` opts the number out of the whole account; `opted_in` does not undo an opt-out. */
    status?: 'opted_in' | 'opted_out' | 'unknown'
    method?: string
    source?: string
    /** What the person agreed to. */
    text?: string
    /** When it was given; not in the future. */
    obtained_at?: string
    ip?: string
  } | null
  /** Not looked up yet: null. */
  line_type: string | null
  /** When a message was last sent to the number or came from it. */
  last_message_at: string | null
  /** When it was made. */
  created_at: string
  /** When it was last changed. */
  updated_at: string
  /** Its name, external id, attributes and consent are encrypted and cannot be decrypted; tell the operator. */
  fields_unavailable?: true
}
export interface Conversation {
  /** Id of the conversation; the same for the same two numbers. */
  id: string
  object: 'conversation'
  our_number: string
  their_number: string
  /** Of the last reply that answered a message of a campaign. */
  campaign: string | null
  contact: string | null
  /** Replies that nobody has read; STOP, START and HELP do not count. */
  unread: number
  last_message: Message | null
  /** A reply opens it again, unless it is STOP, START or HELP. */
  state: 'open' | 'closed'
  /** When it was closed; null: it is open. */
  closed_at: string | null
  /** Id of the user or API key that closed it. */
  closed_by: string | null
  /** The user who looks after it. */
  assignee: string | null
  /** The opt-out of the person, to whom nothing can be sent. Null: the person has not opted out. */
  opt_out: {
    /** Where it came from, as in the list of opt-outs. */
    source: string
    /** The reply that said so. */
    message: string | null
    /** Since when nothing is sent to the number. */
    created_at: string
  } | null
  /** When the person last wrote. */
  last_reply_at: string
  /** When the person first wrote. */
  created_at: string
}
export interface DryRun {
  object: 'dry_run'
  recipients: number
  messages: number
  segments: number
  encodings: {
    'GSM-7': number
    'UCS-2': number
  }
  /** Of the longest message. */
  segments_max: number
  /** What it would cost: an amount a currency, none where no price is known. */
  cost: {
    amount: string
    /** ISO 4217. */
    currency: string
  }[]
  /** Recipients without a message, by reason: an error code, or `contact_deleted`. */
  skipped: Record<string, number>
  /** The first 100; with `Accept: text/csv` the answer is a list of all. */
  skips: {
    contact: string
    phone_number: string
    reason: string
    detail: string
  }[]
  /** The text for the first recipient. */
  sample: string | null
}
/** The erasure of a number from the account. */
export interface Erasure {
  /** Id of the erasure. */
  id: string
  object: 'erasure'
  status: 'processing' | 'completed'
  /** With its middle hidden; null when it is erased. */
  number: string | null
  reason: string | null
  /** What was erased so far, by its kind: `messages`, `contacts`, `events`, `conversations`, …. */
  erased: Record<string, number>
  /** When it was asked for. */
  created_at: string
  /** Since when nothing of the number is left. */
  completed_at: string | null
}
export interface Event {
  /** The event; the same on every post of it. */
  id: string
  type: string
  /** When it was recorded. */
  timestamp: string
  api_version: string
  /** Grows with every change of a message: the highest is the newest. */
  sequence: number
  /** Whole resources as they were after the change. */
  data: Record<string, unknown>
}
/** A guard that has stopped something. */
export interface Guard {
  /** Id of the stop. */
  id: string
  object: 'guard'
  kind: 'daily_segments' | 'spend' | 'country_limit' | 'velocity' | 'allowed_countries' | 'duplicate'
  /** A country (`?`: numbers of none), the prefix of numbers, or a currency; null: the whole account. */
  key: string | null
  /** `alert`: it only tells, and stops nothing. */
  action: 'block' | 'alert'
  /** What may be used up, in segments, messages or money; null: nothing is counted. */
  limit: string | null
  /** When it stopped a message first. */
  since: string
  /** When its day or hour is over, and it stops no more. */
  until: string
  /** Sends that it has refused; those of broadcasts wait and do not count. */
  count: number
  /** When it was released. */
  released_at: string | null
  /** Id of the user or API key. */
  released_by: string | null
  /** Until when it does not stop again. */
  released_until: string | null
  /** By how much its limit was raised. */
  raised_by: string | null
  reason: string | null
}
/** A guard that stands. */
export interface GuardLimit {
  object: 'guard_limit'
  kind: 'daily_segments' | 'spend' | 'country_limit' | 'velocity' | 'allowed_countries' | 'duplicate'
  /** A country, the prefix of the number that was asked for, or a currency; null: the whole account. */
  key: string | null
  /** `alert`: it only tells, and stops nothing. */
  action: 'block' | 'alert'
  /** What it stops, for people. */
  description: string
  /** What may be used up, in segments, messages or money; null: nothing is counted. */
  limit: string | null
  /** By how much it was raised until `resets_at`; null: it was not. */
  raised_by: string | null
  /** What is used up; null: nothing is counted, or each prefix is counted by itself and none was asked for. */
  used: string | null
  /** When its day or hour is over; null: it has none. */
  resets_at: string | null
  /** Nothing stops until then; null: it was not released. */
  released_until: string | null
  /** Id of the stop in force, as in `GET /v1/guards`; null: none. */
  stop: string | null
}
export interface Import {
  /** Id of the import. */
  id: string
  object: 'import'
  /** Where the contacts go. */
  campaign: string
  /** `completed_with_errors`: some rows failed, all others are there. */
  status: 'queued' | 'processing' | 'completed' | 'completed_with_errors' | 'failed' | 'canceled'
  format: 'json' | 'csv' | 'ndjson' | 'xlsx'
  /** Nothing was written; counts are what an import would have done. */
  dry_run: boolean
  on_conflict: 'update' | 'skip'
  default_country: string | null
  /** Grows while the import runs. */
  counts: {
    /** Rows of the file; null until all of it is read. */
    total: number | null
    /** Rows read so far; the sum of created, updated, skipped, duplicate, failed and hidden. */
    processed: number
    /** New contacts. */
    created: number
    /** Contacts that were there. */
    updated: number
    /** Contacts that were there and were left alone. */
    skipped: number
    /** Rows with a number that an earlier row of the file has; the first row counts, but a consent of `opted_out` does in any. */
    duplicate: number
    /** Of the contacts, those whose number has opted out; nothing is sent to them. */
    opted_out: number
    /** Rows with errors. */
    failed: number
    /** Rows of a workbook that a filter or a person hides: they are left out, but for who is out by them. */
    hidden: number
  }
  /** The part of the file that was read. */
  progress: number
  /** What the file was found to be; null and empty where it is no table. */
  detected: {
    /** Of a text file, by its name in the WHATWG Encoding Standard. */
    encoding: string | null
    delimiter: string | null
    sheet: string | null
    /** The line with the names of the columns; 0: it has none. */
    header_line: number | null
    /** The column from which the numbers are taken. */
    number_column: string | null
    /** Columns that say who wants messages and who does not. */
    consent_columns: string[]
  }
  repairs: {
    /** Numbers mended. An apostrophe stood before it, as spreadsheets show texts. */
    apostrophe?: number
    /** Numbers mended. It stood in a formula, by which programs keep its digits from spreadsheets. */
    formula?: number
    /** Numbers mended. It ended in `.0`: a program took the column for fractions. */
    decimal_point?: number
    /** Numbers mended. Its digits were grouped as an amount. */
    thousands_separators?: number
    /** Numbers mended. `00` stood for the plus sign. */
    double_zero?: number
    /** Numbers mended. It had no country code, and got the one of the default country. */
    national?: number
    /** Numbers mended. It had its country code and no plus sign. */
    missing_plus?: number
    /** Numbers mended. It had a form that its country has given up, and got the current one. */
    renumbered?: number
    /** Numbers mended. The cell had several numbers; the first was taken. */
    several_numbers?: number
    /** Rows in which a cell said `\N`, NULL, #N/A or the like, and was taken for empty. */
    null_words?: number
  }
  /** The columns of a table, in the answer to the upload and in a dry run. */
  columns:
    | {
        name: string
        field: string | null
        /** Up to three cells. Null without `contacts:read`. */
        sample: string[] | null
      }[]
    | null
  /** What is wrong with rows, equal faults together, most frequent first; at most 20 kinds. */
  faults: {
    code: string
    column: string | null
    /** Rows that have it. */
    count: number
    /** The first of them. */
    line: number
    /** What is wrong with the first. */
    detail: string
    /** What would make such rows pass. */
    advice: string | null
  }[]
  /** What the file has and the import does not follow, such as a column that may say who must not be written to. */
  warnings: {
    code: string
    column: string | null
    detail: string
  }[]
  /** Of a dry run the first 20 good rows as they would be stored. */
  sample: Record<string, unknown>[] | null
  /** For each column of a table the field it fills; null where it is ignored. */
  mapping: Record<string, string | null> | null
  failure: {
    code: string
    detail: string
  } | null
  /** Errors by row; with `Accept: text/csv` the bad rows. The first 100,000 bad rows. */
  errors_url: string
  /** When it was accepted. */
  created_at: string
  /** When it began to run. */
  started_at: string | null
  /** When it was over. */
  completed_at: string | null
}
/** An invitation that is open. */
export interface Invitation {
  /** The invitation. */
  id: string
  object: 'invitation'
  email: string
  role: 'owner' | 'admin' | 'developer' | 'sender' | 'viewer'
  /** When it was made. */
  created_at: string
  /** When it ends: after 7 days. */
  expires_at: string
}
export interface Keywords {
  object: 'keywords'
  campaign: string | null
  stop_keywords: string[]
  start_keywords: string[]
  help_keywords: string[]
  replies: {
    stop: string | null
    start: string | null
    help: string | null
  }
  on_suspicion: 'flag' | 'ignore' | 'opt_out'
  /** What was said here; the rest is inherited. */
  own: Record<string, unknown>
  /** What would hold here if nothing were said, and `from` whom each of it comes. */
  inherited: {
    stop_keywords: string[]
    start_keywords: string[]
    help_keywords: string[]
    replies: {
      stop: string | null
      start: string | null
      help: string | null
    }
    on_suspicion: 'flag' | 'ignore' | 'opt_out'
    from: {
      stop_keywords: 'account' | 'defaults'
      start_keywords: 'account' | 'defaults'
      help_keywords: 'account' | 'defaults'
      replies: {
        stop: 'account' | 'defaults'
        start: 'account' | 'defaults'
        help: 'account' | 'defaults'
      }
      on_suspicion: 'account' | 'defaults'
    }
  }
}
export interface Link {
  /** Id of the link. */
  id: string
  object: 'link'
  /** Its carrier. */
  carrier: string
  state: 'down' | 'binding' | 'bound' | 'throttled' | 'disabled'
  /** Sessions that are bound, over all processes, as are the other numbers. */
  sessions: number
  /** Unanswered submits at most. */
  window: number
  /** Unanswered submits. */
  in_flight: number
  /** Segments a second allowed now: less than its pace while the carrier throttles. */
  pace: number
  /** Segments a second over the last minute: what is used of it. */
  rate_1m: number
  /** Milliseconds over the last five to ten minutes and all processes, a few seconds old; within a tenth. */
  response: {
    p50_ms: number
    p95_ms: number
    p99_ms: number
    /** Times that they were taken of. */
    count: number
  } | null
  /** Last answered heartbeat. */
  last_enquire_link_at: string | null
  last_error: string | null
  /** When it was seen. */
  last_error_at: string | null
  /** Receipts whose message is not known (yet). */
  unmatched_receipts: number
}
/** What a link has of its own, in place of its carrier's. */
export interface LinkSettings {
  /** Id of the link. */
  id: string
  object: 'link_settings'
  /** Its carrier. */
  carrier: string
  enabled: boolean
  /** Segments a second over this link; null: the carrier's pace. */
  pace: number | null
  /** What differs from the carrier's settings. */
  settings: Record<string, unknown>
  /** Whether it has a password of its own. */
  has_password: boolean
}
/** A message of either direction. */
export interface Message {
  /** Id of the message. */
  id: string
  object: 'message'
  direction: 'outbound' | 'inbound'
  status:
    | 'scheduled'
    | 'queued'
    | 'sending'
    | 'sent'
    | 'delivered'
    | 'undelivered'
    | 'rejected'
    | 'failed'
    | 'expired'
    | 'unconfirmed'
    | 'canceled'
    | 'received'
  delivery_status: 'Delivered' | 'Failed' | null
  /** No later change is to be expected. */
  final: boolean
  to: string | null
  from: string | null
  /** Null without the scope messages:read_body. */
  message: string | null
  /** The text was removed, by request or by age. Absent otherwise. */
  redacted?: boolean
  /** There is a text, but it cannot be decrypted: its key is gone, or it was changed. Absent otherwise. */
  text_unavailable?: boolean
  campaign: string | null
  contact: string | null
  encoding: 'GSM-7' | 'UCS-2'
  segments: number
  /** Code points. */
  characters: number
  test: boolean
  /** Goes up with every change; keep the highest. */
  sequence: number
  /** When it was accepted or received. */
  created_at: string
  /** When it last changed. */
  updated_at: string
  keyword?: 'stop' | 'start' | 'help' | null
  in_reply_to?: string | null
  /** Parts of a long reply are missing. */
  partial?: boolean
  /** What was received of a reply whose octets are not what the carrier declared of them, in hexadecimal. Only in the answer to a request for this message, with the scope messages:read_body. */
  octets?: string
  /** The conversation that it belongs to. */
  conversation?: string | null
  type?: 'transactional' | 'marketing' | 'otp'
  /** Sent by Heliogram itself to confirm a keyword. */
  automatic?: boolean
  segments_delivered?: number
  warnings?: {
    code: string
    detail: string
    /** Of `quiet_hours_hold`: when they end. */
    until?: string
    characters?: {
      character: string
      code_point: string
      position: number
    }[]
    replaced?: {
      character: string
      /** As U+2019; of a letter with combining marks, all of them. */
      code_point: string
      /** Empty where it was left out. */
      replacement: string
      count: number
    }[]
  }[]
  send_at?: string | null
  expires_at?: string | null
  /** When it is thought to go; null: nobody knows, it is over, or it waits in line and is one of a list. */
  estimated_send_at?: string | null
  /** What it waits for, beyond its turn; null: nothing. */
  hold?: {
    reason: string
    until: string | null
  } | null
  route?: {
    carrier: string
  } | null
  provider_message_id?: string | null
  /** Times that it was written to a carrier; a connection that was refused does not count. */
  attempts?: number
  /** It was sent again after an unknown outcome: the recipient may have it twice. */
  possible_duplicate?: boolean
  /** When the carrier does not answer: `hold` it as unconfirmed, or `resend`, perhaps twice. The campaign's, the account's or the link's otherwise. */
  on_unknown?: 'hold' | 'resend' | null
  /** What the carrier that took it takes for it; null: it has not gone out, or no price is known. */
  price?: {
    amount: string
    /** ISO 4217. */
    currency: string
  } | null
  /** What it was expected to cost when it was accepted, by the rate card of the first carrier of its route; null: nobody knew. */
  estimated_price?: {
    amount: string
    /** ISO 4217. */
    currency: string
  } | null
  error?: {
    code: string
    title: string
    detail: string
    permanent: boolean
    retryable: boolean
    stage: string | null
    source: {
      provider: string | null
      code: string | null
      raw: string | null
    }
    advice: string
    doc_url: string
  } | null
  callback_url?: string | null
  metadata?: Record<string, string>
  tags?: string[]
  queued_at?: string | null
  sent_at?: string | null
  completed_at?: string | null
}
export interface OptOut {
  /** Id of the opt-out. */
  id: string
  object: 'opt_out'
  /** Digits; their middle is hidden without the scope contacts:read. Null: it was forgotten. */
  number: string | null
  /** `reply`, `api`, `import`, `consent` (came with a contact), `review` (a suspicion was confirmed) or `carrier` (it refused a message because of an opt-out). */
  source: string
  reason: string | null
  /** The reply that said so, or the message that the carrier refused. */
  message: string | null
  /** Since when nothing is sent to the number. */
  created_at: string
}
export interface OptOutSuspicion {
  object: 'opt_out_suspicion'
  /** Id of the reply. */
  message: string
  /** Its middle is hidden without the scope contacts:read. */
  number: string
  /** Null without the scope messages:read_body. */
  text: string | null
  campaign: string | null
  /** When it came. */
  created_at: string
}
/** A reply to a number that no account has. */
export interface OrphanReply {
  /** Id of the reply. */
  id: string
  object: 'orphan_reply'
  /** Carrier that it came from; null: it was deleted. */
  carrier: string | null
  /** The person. */
  from: string
  /** The number as the carrier wrote it. */
  to: string
  /** Null without the scope messages:read_body. */
  message: string | null
  /** `stop`, `start` or `help`, by the built-in words. */
  keyword: string | null
  /** When it came. */
  received_at: string
}
/** Why a request failed. Branch on `code`, never on texts. */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code: string
  request_id: string
  retryable: boolean
  errors?: {
    pointer: string
    code: string
    detail: string
    suggestion?: string
  }[]
  [name: string]: unknown
}
/** What waits to be sent, of all accounts. */
export interface Queue {
  object: 'queue'
  /** When it was counted: a second ago, or more where it is long. */
  counted_at: string
  /** All that wait for their turn. */
  messages: number
  segments: number
  parts: {
    type: 'otp' | 'transactional' | 'marketing'
    /** Messages that wait. */
    messages: number
    /** Their segments. */
    segments: number
    /** How long the first in line have waited; null without any. */
    oldest_age_seconds: number | null
    /** Until it has gone at the pace allowed now; null while no link takes it. */
    drain_seconds: number | null
    /** The carrier that they wait for; null: not sorted yet, any may take them. */
    carrier: string | null
    /** Their account is suspended, or their lane paused. */
    held: boolean
  }[]
  /** Messages that wait for a time: scheduled ones and retries. */
  delayed: {
    messages: number
    /** When the first of them falls due. */
    next_due_at: string | null
  }
}
/** What a carrier takes for a segment. The longest prefix counts, then the country, then everywhere. */
export interface RateCard {
  object: 'rate_card'
  carrier: string
  data: {
    /** ISO 3166-1 alpha-2; null: everywhere, or a prefix. */
    country: string | null
    /** First digits of numbers, calling code included. */
    prefix: string | null
    /** Of a segment. */
    amount: string
    /** ISO 4217; a card has one. */
    currency: string
    /** From when it counts; null: always. */
    effective_from: string | null
  }[]
}
/** A receipt whose message is not known. */
export interface Receipt {
  object: 'receipt'
  /** Link that it came on. */
  link: string
  /** As the carrier wrote it. */
  raw_id: string
  /** What it is looked up by. */
  match_id: string
  /** message_state of SMPP by name. */
  state: string
  stat: string
  err: string | null
  network_error: string | null
  /** As the carrier wrote it, in its time zone. */
  done_date: string
  /** When it came. */
  received_at: string
  /** Messages without a receipt that it would match in another form. */
  candidates: {
    form: 'raw' | 'dec' | 'hex' | 'hex-to-dec' | 'dec-to-hex'
    /** As the submit response had it. */
    carrier_message_id: string
    /** The message that it would settle. */
    message: string
  }[]
}
export interface ReceiptDoctor {
  object: 'doctor'
  /** The carrier. */
  carrier: string
  hours: number
  links: {
    /** The link. */
    link: string
    message_id_form: 'raw' | 'dec' | 'hex' | 'hex-to-dec' | 'dec-to-hex'
    /** Receipts without a message in these hours, up to a million. */
    unmatched: number
    /** Receipts that found no message in 30 days and are gone, since ever. */
    forgotten: number
    /** The newest of them, up to 10000. */
    examined: number
    forms: {
      form: 'raw' | 'dec' | 'hex' | 'hex-to-dec' | 'dec-to-hex'
      /** Of the examined, to messages that wait for their receipt. */
      would_match: number
      example: {
        raw_id: string
        carrier_message_id: string
        message: string
      } | null
    }[]
    /** Ids that the carrier gave, looked at. */
    sampled: number
    /** Of these, messages that have their receipt as things are. */
    settled: number
    advice: string
    fix: {
      method: 'PATCH'
      path: string
      body: {
        settings: {
          message_id_form: 'raw' | 'dec' | 'hex' | 'hex-to-dec' | 'dec-to-hex'
        }
      }
    } | null
    /** What the receipts of known messages tell of the carrier; mostly nothing. */
    findings: {
      code: 'one_receipt' | 'contradicting_receipts'
      /** Long messages of which exactly one part was reported, of a sample; or receipts whose TLV and text have different last words, up to 1000. */
      count: number
      /** One of the messages. */
      message: string | null
      advice: string
      fix: {
        method: 'PATCH'
        path: string
        body: {
          settings: {
            one_receipt: boolean
          }
        }
      } | null
    }[]
    /** `watching`: done once; again shortly, for what came while the link was bound anew. */
    rematch: {
      state: 'none' | 'due' | 'watching' | 'done'
      /** When the form changed, or a rematch was asked for. */
      requested_at: string | null
      /** Ids that got another key. */
      rekeyed: number
      /** Receipts that found their message. */
      matched: number
    }
  }[]
  /** Numbers that replies came to and no account has, up to 20; mostly none. */
  replies: {
    /** The number as the carrier wrote it. */
    number: string
    /** Replies to it. */
    count: number
    /** When the newest came. */
    last_received_at: string
    /** The newest of them. */
    last: string
    advice: string
  }[]
}
/** Events that are posted again, with the ids they had. */
export interface Replay {
  /** The replay. */
  id: string
  object: 'replay'
  /** Where it posts. */
  webhook: string
  status: 'running' | 'completed' | 'canceled'
  /** `request`, `webhook_disabled` or `webhook_deleted`. */
  canceled_reason: string | null
  /** Events recorded from then on. */
  since: string
  /** Events recorded before then. */
  until: string
  types: string[]
  only_failed: boolean
  /** How far it has come in the log. */
  replayed_until: string
  /** Events found so far. */
  events: number
  /** Of them: those that were taken. */
  delivered: number
  /** Of them: those that were refused until the last try. */
  failed: number
  /** When it was asked for. */
  created_at: string
  /** When it was over. */
  completed_at: string | null
}
/** A rule that picks carriers. */
export interface Route {
  /** Id of the route. */
  id: string
  object: 'route'
  /** From 1: the first route that matches is taken. */
  position: number
  name: string | null
  /** All members must hold; of a list, one item. */
  match: {
    /** Id of an account. */
    account?: string
    /** Id or key of a campaign of `account`. */
    campaign?: string
    type?: 'transactional' | 'marketing' | 'otp'
    /** ISO 3166-1 alpha-2, of the recipient. */
    countries?: string[]
    /** First digits of the recipient's number, calling code included. */
    prefixes?: string[]
    /** Numbers or names. */
    senders?: string[]
  }
  /** Share the messages by weight. None: what the route matches is refused. */
  carriers: {
    /** Id of a carrier. */
    carrier: string
    /** Its share; 0: only when others refuse. */
    weight?: number
    /** Of a segment, over this carrier; what its rate card says where nothing is said. */
    cost?: {
      amount: string
      /** ISO 4217. */
      currency: string
    }
  }[]
  /** Tried in this order after all of `carriers` have refused. */
  failover: {
    /** Id of a carrier. */
    carrier: string
    /** Of a segment, over this carrier; what its rate card says where nothing is said. */
    cost?: {
      amount: string
      /** ISO 4217. */
      currency: string
    }
  }[]
  max_cost: {
    amount: string
    /** ISO 4217. */
    currency: string
  } | null
  enabled: boolean
  warnings: {
    /** `shadowed`: the earlier route takes all of its messages; `overlapped`: some. */
    code: 'shadowed' | 'overlapped'
    detail: string
    /** The earlier route. */
    route: string
  }[]
  /** When it was created. */
  created_at: string
  /** When it was last changed. */
  updated_at: string
}
export interface SendMessage {
  /** Recipient in E.164: digits, a plus sign in front is allowed. */
  to: string
  /** The text. */
  message?: string | undefined
  /** Id or key of a campaign. */
  campaign?: string | undefined
  /** One of the account's senders; the campaign's or the account's default otherwise. An account without senders sends without one, and the carrier puts its own. */
  from?: string | undefined
  /** A pool of the account, one of whose senders is used. Not together with `from`. */
  sender_pool?: string | undefined
  /** What it is for; otp goes first, marketing last. */
  type?: 'transactional' | 'marketing' | 'otp' | undefined
  /** auto: GSM-7 where the text allows it. */
  encoding?: 'auto' | 'gsm7' | 'ucs2' | undefined
  /** Replace typographic characters (curly quotes, dashes, ellipses, special spaces) where this alone brings the text into GSM-7. Never for codes. */
  smart_encoding?: boolean | undefined
  /** The most it may cost, by the estimate. Where no price is known it is sent. */
  max_price?:
    | {
        amount: string
        /** ISO 4217. */
        currency: string
      }
    | undefined
  /** Refuse a text that needs more. */
  max_segments?: number | undefined
  /** Put a short link of its own in the place of each address in the text, and count clicks. The campaign's or false otherwise. */
  shorten_urls?: boolean | undefined
  /** When to send it; up to 365 days ahead. */
  send_at?: string | undefined
  /** Seconds for which it is of use; the campaign's or 36000 otherwise. */
  validity_period?: number | undefined
  /** When the carrier does not answer: `hold` it as unconfirmed, or `resend`, perhaps twice. The campaign's, the account's or the link's otherwise. */
  on_unknown?: 'hold' | 'resend' | undefined
  /** false: the text is removed as soon as the message is over. true otherwise. */
  retain_content?: boolean | undefined
  /** Gets this message's events instead of the account's webhooks. */
  callback_url?: string | undefined
  /** Yours; returned with the message and in its events. */
  metadata?: Record<string, string> | undefined
  /** For filters. */
  tags?: readonly string[] | undefined
  /** Id or name of a template, instead of `message`. */
  template?: string | undefined
  /** Values for the fields of the template; null counts as not given. */
  variables?: Record<string, string | number | boolean | null> | undefined
  /** BCP 47: which of the template's texts; the default one where it has none in this language. */
  language?: string | undefined
}
export interface Sender {
  /** Id of the sender. */
  id: string
  object: 'sender'
  /** The account whose sender it is. */
  account: string
  /** Digits, or a name. */
  number: string
  kind: 'long_code' | 'short_code' | 'toll_free' | 'alphanumeric'
  country: string | null
  /** Its carrier. */
  carrier: string
  /** `sms`: sends; `replies`: people can answer it; `international`: a short code that reaches other countries. */
  capabilities: ('sms' | 'replies' | 'international')[]
  /** Segments a second; null: its carrier's. */
  pace: number | null
  default: boolean
  /** When it was created. */
  created_at: string
}
export interface SenderPool {
  /** Id of the pool. */
  id: string
  object: 'sender_pool'
  name: string
  /** `sticky`: a person keeps a sender for 90 days after its last message; `round_robin`: message by message. */
  strategy: 'sticky' | 'round_robin'
  senders: {
    /** Id of the sender. */
    sender: string
    /** Its share among the others. */
    weight: number
  }[]
  /** When it was created. */
  created_at: string
  /** When it was last changed. */
  updated_at: string
}
/** What an SMPP client binds with. Its password is shown once. */
export interface SmppCredential {
  /** The credential. */
  id: string
  object: 'smpp_credential'
  /** For you. */
  name: string
  /** The name to bind with. */
  system_id: string
  /** That of the key which made it. */
  mode: 'live' | 'test'
  /** False: its sessions are ended within five seconds, and it binds no more. */
  enabled: boolean
  /** Networks that it may bind from; empty: any. */
  allowed_cidrs: string[]
  /** Sessions at one time, over all processes. */
  max_sessions: number
  /** Unanswered requests of a session, each way. */
  window: number
  /** Segments a second, over all its sessions; above it a submit is answered ESME_RTHROTTLED. */
  pace: number
  /** What it means by data_coding 0. */
  default_alphabet: 'gsm7' | 'latin1' | 'ascii'
  /** Whether replies to the account's numbers go to it, too. */
  receives_replies: boolean
  /** How long replies come to it. */
  reply_concatenation: 'udh8' | 'udh16' | 'sar' | 'payload'
  /** Sessions that are bound now. */
  sessions: number
  /** Long messages that were not sent: parts did not come, or came under the reference of another. */
  incomplete_messages: number
  /** When the last of them was given up. */
  last_incomplete_at: string | null
  /** When it was made. */
  created_at: string
  /** When it was last changed. */
  updated_at: string
  /** When it last bound. */
  last_bound_at: string | null
}
export interface StatusMapping {
  /** A refused submit, or a receipt. */
  kind: 'submit' | 'receipt'
  /** Word of the receipt; null: any. */
  stat: string | null
  /** Of a submit the command_status, or the code of an HTTP carrier; of a receipt its `err`, null: any. */
  code: string | null
  /** `error.code` of the message. */
  error:
    | 'unknown_subscriber'
    | 'landline_or_unroutable'
    | 'handset_unreachable'
    | 'handset_busy'
    | 'handset_memory_full'
    | 'recipient_blocked'
    | 'recipient_opted_out'
    | 'content_filtered'
    | 'carrier_congestion'
    | 'throttled'
    | 'sender_not_registered'
    | 'invalid_sender'
    | 'invalid_destination'
    | 'destination_not_allowed'
    | 'fraud_suspected'
    | 'queue_full'
    | 'expired_in_queue'
    | 'expired_at_carrier'
    | 'message_too_long'
    | 'spend_limit_reached'
    | 'text_unavailable'
    | 'quiet_hours'
    | 'provider_timeout'
    | 'provider_error'
    | 'no_route_available'
    | 'outcome_unknown'
    | 'no_receipt'
    | 'carrier_unknown'
  /** permanent: it ends; passing: again later or elsewhere; throttling: the link slows down too. */
  handling: 'permanent' | 'passing' | 'throttling'
  title: string
  /** What the sender of the message is told to do. */
  advice: string
  note: string | null
  /** Built in, not of this table. */
  default: boolean
}
export interface Template {
  /** Id of the template. */
  id: string
  object: 'template'
  name: string
  body: string
  language: string
  languages: Record<string, string>
  /** All that its texts name. */
  variables: {
    name: string
    /** In one of its languages nothing stands in for it. */
    required: boolean
  }[]
  /** When it was made. */
  created_at: string
  /** When it was last changed. */
  updated_at: string
}
/** For programs written for Twilio's API. The auth token is shown once, when it is made. */
export interface TwilioCredential {
  id: string
  object: 'twilio_credential'
  name: string
  mode: 'live' | 'test'
  /** User name of HTTP Basic; the same for all credentials of the account. */
  account_sid: string
  /** When it was made. */
  created_at: string
  /** Its last use, to the minute. */
  last_used_at: string | null
}
/** A person of the account. */
export interface User {
  /** The user. */
  id: string
  object: 'user'
  email: string
  role: 'owner' | 'admin' | 'developer' | 'sender' | 'viewer'
  status: 'active' | 'disabled'
  /** Whether a second factor is asked for at login. */
  totp: boolean
  /** When they came. */
  created_at: string
  /** When they were last changed. */
  updated_at: string
}
export interface Webhook {
  /** The endpoint. */
  id: string
  object: 'webhook'
  url: string
  /** Event types, families (`message.*`) or `*`, as they were written. */
  events: string[]
  description: string | null
  /** What waits when it becomes false, and what happens until it is true again, is in the event log and is not posted later but by a replay. */
  enabled: boolean
  /** `gone`: it answered 410; `failing`: it failed for 5 days; `request`: by this API. */
  disabled_reason: string | null
  /** When it was disabled last. What it refused and what waited for it happened before: a replay that catches up begins an hour before `failing_since`, or before this. */
  disabled_at: string | null
  /** Headers that every post carries too, such as `Authorization`; at most 10, in 4096 characters. Kept encrypted and shown as `********`; that value in a change means: as it is. */
  headers: Record<string, string>
  /** Events of one message are posted one after the other: one that fails holds back the later ones of its message, and no other. */
  ordered: boolean
  /** Several events a post: `{"events": […]}`, signed as one, with a `webhook-id` of its own (`bat_…`). A 2xx takes all of them; anything else none, and each comes again with its own id, perhaps in other company. null: each event by itself. */
  batch: {
    /** Events a post, at most. */
    max_events: number
    /** The longest wait for more of them; 1000 otherwise. */
    max_wait_ms?: number
  } | null
  /** Whether texts of messages are in the posts. Only callers with the scope `messages:read_body` can turn it on; without that scope a new webhook, and one whose url is changed, has it off. */
  include_bodies: boolean
  /** The first failure since the last success, or since the url was changed; null while it works. */
  failing_since: string | null
  /** When it was created. */
  created_at: string
  /** When its settings were changed last. */
  updated_at: string
}
/** What each operation asks for and answers. `Response` stands for an answer that is not JSON: a file, or a stream. */
export interface Operations {
  /** Health of this process. */
  getHealth: {
    answer: {
      status: 'ok' | 'degraded' | 'failing' | 'starting'
      version: string
      checks: Record<
        string,
        {
          ok: boolean
          vital: boolean
          [name: string]: unknown
        }
      >
    }
  }
  /**
   * Numbers of this process, for Prometheus.
   *
   * Readers send the value of `HELIOGRAM_METRICS_TOKEN`, or an API key with the scope `carriers:read`. Where that variable is not set, programs on this machine need neither.
   */
  getMetrics: {
    answer: Response
  }
  /**
   * Accounts below yours, newest first.
   *
   * Scope: `accounts:read`.
   */
  listAccounts: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<Account>
  }
  /**
   * Make an account below yours.
   *
   * With an invitation for its first owner, a first key, or both. Its messages, people and numbers are its own: only its own keys and users see them. An account that is below another has none below itself.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `accounts:write`.
   */
  createAccount: {
    body: {
      /** For people; confirmations of STOP say it. */
      name: string
      /** Segments a second of the whole account, over all carriers and processes; null: as the links allow. */
      pace?: number | null | undefined
      /** Requests a second of each of its credentials; null: as the installation says. */
      api_per_second?: number | null | undefined
      owner_email?: string | undefined
      key?:
        | {
            name: string
            /** By default the maker's; a test key makes only test keys. */
            mode?: 'live' | 'test' | undefined
            /** By default the maker's. */
            scopes?:
              | readonly (
                  | 'messages:read'
                  | 'messages:read_body'
                  | 'messages:write'
                  | 'campaigns:read'
                  | 'campaigns:write'
                  | 'campaigns:approve'
                  | 'contacts:read'
                  | 'contacts:write'
                  | 'events:read'
                  | 'webhooks:read'
                  | 'webhooks:write'
                  | 'settings:read'
                  | 'settings:write'
                  | 'keys:read'
                  | 'keys:write'
                  | 'smpp:read'
                  | 'smpp:write'
                  | 'audit:read'
                  | 'usage:read'
                  | 'users:read'
                  | 'users:write'
                  | 'accounts:read'
                  | 'accounts:write'
                  | 'profile:read'
                  | 'profile:write'
                  | 'privacy:read'
                  | 'privacy:write'
                  | 'carriers:read'
                  | 'carriers:write'
                  | 'routes:read'
                  | 'routes:write'
                )[]
              | undefined
            /** Addresses and networks (`192.0.2.7`, `2001:db8::/32`) from which the key works; none: from everywhere. */
            ip_allow?: readonly string[] | undefined
            /** By default a year from now; null: never. */
            expires_at?: string | null | undefined
          }
        | undefined
    }
    answer: {
      /** The account. */
      id: string
      object: 'account'
      name: string
      status: 'active' | 'suspended' | 'closed'
      /** The account above it. */
      parent: string | null
      /** Segments a second of the whole account, over all carriers and processes; null: as the links allow. */
      pace: number | null
      /** Requests a second of each of its credentials; null: as the installation says. */
      api_per_second: number | null
      /** When it was made. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
      /** When it was closed. */
      closed_at: string | null
      /** Until then a closed account can be opened again. */
      destroy_at: string | null
      /** When its data keys were destroyed, and its people and contacts deleted. */
      destroyed_at: string | null
      invitation: {
        /** The invitation. */
        id: string
        object: 'invitation'
        email: string
        role: 'owner' | 'admin' | 'developer' | 'sender' | 'viewer'
        /** When it was made. */
        created_at: string
        /** When it ends: after 7 days. */
        expires_at: string
        /** Give it to the person; shown only now. No mail is sent. */
        code: string
      } | null
      key: {
        /** The key. */
        id: string
        object: 'api_key'
        name: string
        /** Its beginning, which names it in logs and is its client_id. */
        prefix: string
        mode: 'live' | 'test'
        scopes: string[]
        /** Networks from which it works; none named: from everywhere. */
        ip_allow: string[]
        /** When it was made. */
        created_at: string
        /** When it ends; null: never. */
        expires_at: string | null
        /** Its last use, to the minute. */
        last_used_at: string | null
        /** Until when the secret before the last rotation works; null: it does not. */
        overlap_ends_at: string | null
        /** The key itself: shown only now. */
        secret: string
      } | null
    }
  }
  /**
   * One account: yours, or one below it.
   *
   * Scope: `accounts:read`.
   */
  getAccount: {
    path: {
      /** Id of an account. */
      id: string
    }
    answer: Account
  }
  /**
   * Change, suspend or resume an account below yours.
   *
   * It holds at every process within seconds. Of an account of its own, the operator changes the limits.
   *
   * Scope: `accounts:write`.
   */
  updateAccount: {
    path: {
      /** Id of an account. */
      id: string
    }
    body: {
      /** For people; confirmations of STOP say it. */
      name?: string | undefined
      /** A suspended account is refused everywhere, within five seconds; what it has is kept. */
      status?: 'active' | 'suspended' | undefined
      /** Segments a second of the whole account, over all carriers and processes; null: as the links allow. */
      pace?: number | null | undefined
      /** Requests a second of each of its credentials; null: as the installation says. */
      api_per_second?: number | null | undefined
    }
    answer: Account
  }
  /**
   * Make a key of an account below yours.
   *
   * What it does, it does in that account. By default it may all that you may but what is yours alone.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `accounts:write`.
   */
  createAccountApiKey: {
    path: {
      /** Id of an account. */
      id: string
    }
    body: {
      name: string
      /** By default the maker's; a test key makes only test keys. */
      mode?: 'live' | 'test' | undefined
      /** By default the maker's. */
      scopes?:
        | readonly (
            | 'messages:read'
            | 'messages:read_body'
            | 'messages:write'
            | 'campaigns:read'
            | 'campaigns:write'
            | 'campaigns:approve'
            | 'contacts:read'
            | 'contacts:write'
            | 'events:read'
            | 'webhooks:read'
            | 'webhooks:write'
            | 'settings:read'
            | 'settings:write'
            | 'keys:read'
            | 'keys:write'
            | 'smpp:read'
            | 'smpp:write'
            | 'audit:read'
            | 'usage:read'
            | 'users:read'
            | 'users:write'
            | 'accounts:read'
            | 'accounts:write'
            | 'profile:read'
            | 'profile:write'
            | 'privacy:read'
            | 'privacy:write'
            | 'carriers:read'
            | 'carriers:write'
            | 'routes:read'
            | 'routes:write'
          )[]
        | undefined
      /** Addresses and networks (`192.0.2.7`, `2001:db8::/32`) from which the key works; none: from everywhere. */
      ip_allow?: readonly string[] | undefined
      /** By default a year from now; null: never. */
      expires_at?: string | null | undefined
    }
    answer: {
      /** The key. */
      id: string
      object: 'api_key'
      name: string
      /** Its beginning, which names it in logs and is its client_id. */
      prefix: string
      mode: 'live' | 'test'
      scopes: string[]
      /** Networks from which it works; none named: from everywhere. */
      ip_allow: string[]
      /** When it was made. */
      created_at: string
      /** When it ends; null: never. */
      expires_at: string | null
      /** Its last use, to the minute. */
      last_used_at: string | null
      /** Until when the secret before the last rotation works; null: it does not. */
      overlap_ends_at: string | null
      /** The key itself: shown only now. */
      secret: string
    }
  }
  /**
   * Close an account below yours.
   *
   * Its keys, logins and invitations end, and it is refused everywhere within five seconds. What waits is canceled, broadcasts too, and its endpoints are disabled. After `grace_days` its data keys are destroyed, and its people and contacts deleted. A repetition changes what it names.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `accounts:write`.
   */
  closeAccount: {
    path: {
      /** Id of an account. */
      id: string
    }
    body: {
      /** Days from the first close on in which the account can be opened again. Default: 30. */
      grace_days?: number | undefined
      /** Whether posts that are due are made first, with their retries, or dropped. Default: drain. */
      webhooks?: 'drain' | 'stop' | undefined
    } | null
    answer: Account
  }
  /**
   * Open a closed account again.
   *
   * Until `destroy_at`. Its people log in again; its keys, and what was canceled, do not come back, and its endpoints are disabled until they are enabled.
   *
   * Scope: `accounts:write`.
   */
  reopenAccount: {
    path: {
      /** Id of an account. */
      id: string
    }
    answer: Account
  }
  /**
   * List alerts, newest first.
   *
   * Scope: `events:read`.
   */
  listAlerts: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          status?: 'open' | 'closed' | undefined
          type?:
            | 'link.down'
            | 'link.throttled'
            | 'sender.degraded'
            | 'webhook.failing'
            | 'webhook.disabled'
            | 'reply.orphaned'
            | undefined
        }
      | undefined
    answer: Page<Alert>
  }
  /**
   * Keys of the account, newest first.
   *
   * Scope: `keys:read`.
   */
  listApiKeys: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<{
      /** The key. */
      id: string
      object: 'api_key'
      name: string
      /** Its beginning, which names it in logs and is its client_id. */
      prefix: string
      mode: 'live' | 'test'
      scopes: string[]
      /** Networks from which it works; none named: from everywhere. */
      ip_allow: string[]
      /** When it was made. */
      created_at: string
      /** When it ends; null: never. */
      expires_at: string | null
      /** Its last use, to the minute. */
      last_used_at: string | null
      /** Until when the secret before the last rotation works; null: it does not. */
      overlap_ends_at: string | null
    }>
  }
  /**
   * Make a key.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `keys:write`.
   */
  createApiKey: {
    body: {
      name: string
      /** By default the maker's; a test key makes only test keys. */
      mode?: 'live' | 'test' | undefined
      /** By default the maker's. */
      scopes?:
        | readonly (
            | 'messages:read'
            | 'messages:read_body'
            | 'messages:write'
            | 'campaigns:read'
            | 'campaigns:write'
            | 'campaigns:approve'
            | 'contacts:read'
            | 'contacts:write'
            | 'events:read'
            | 'webhooks:read'
            | 'webhooks:write'
            | 'settings:read'
            | 'settings:write'
            | 'keys:read'
            | 'keys:write'
            | 'smpp:read'
            | 'smpp:write'
            | 'audit:read'
            | 'usage:read'
            | 'users:read'
            | 'users:write'
            | 'accounts:read'
            | 'accounts:write'
            | 'profile:read'
            | 'profile:write'
            | 'privacy:read'
            | 'privacy:write'
            | 'carriers:read'
            | 'carriers:write'
            | 'routes:read'
            | 'routes:write'
          )[]
        | undefined
      /** Addresses and networks (`192.0.2.7`, `2001:db8::/32`) from which the key works; none: from everywhere. */
      ip_allow?: readonly string[] | undefined
      /** By default a year from now; null: never. */
      expires_at?: string | null | undefined
    }
    answer: {
      /** The key. */
      id: string
      object: 'api_key'
      name: string
      /** Its beginning, which names it in logs and is its client_id. */
      prefix: string
      mode: 'live' | 'test'
      scopes: string[]
      /** Networks from which it works; none named: from everywhere. */
      ip_allow: string[]
      /** When it was made. */
      created_at: string
      /** When it ends; null: never. */
      expires_at: string | null
      /** Its last use, to the minute. */
      last_used_at: string | null
      /** Until when the secret before the last rotation works; null: it does not. */
      overlap_ends_at: string | null
      /** The key itself: shown only now. */
      secret: string
    }
  }
  /**
   * One key.
   *
   * Scope: `keys:read`.
   */
  getApiKey: {
    path: {
      id: string
    }
    answer: {
      /** The key. */
      id: string
      object: 'api_key'
      name: string
      /** Its beginning, which names it in logs and is its client_id. */
      prefix: string
      mode: 'live' | 'test'
      scopes: string[]
      /** Networks from which it works; none named: from everywhere. */
      ip_allow: string[]
      /** When it was made. */
      created_at: string
      /** When it ends; null: never. */
      expires_at: string | null
      /** Its last use, to the minute. */
      last_used_at: string | null
      /** Until when the secret before the last rotation works; null: it does not. */
      overlap_ends_at: string | null
    }
  }
  /**
   * Revoke a key.
   *
   * It stops working at once here, and within five seconds on other nodes; so do tokens that it logged in for. Its open invitations end.
   *
   * Scope: `keys:write`.
   */
  revokeApiKey: {
    path: {
      id: string
    }
    answer: undefined
  }
  /**
   * Rename a key, or let it do less.
   *
   * Scopes can be taken away, not added; then its open invitations end. It holds at once here, and within five seconds on other nodes; also for logins with the key.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `keys:write`.
   */
  updateApiKey: {
    path: {
      id: string
    }
    body: {
      name?: string | undefined
      /** Some of those that it has; more can only a new key have. */
      scopes?:
        | readonly (
            | 'messages:read'
            | 'messages:read_body'
            | 'messages:write'
            | 'campaigns:read'
            | 'campaigns:write'
            | 'campaigns:approve'
            | 'contacts:read'
            | 'contacts:write'
            | 'events:read'
            | 'webhooks:read'
            | 'webhooks:write'
            | 'settings:read'
            | 'settings:write'
            | 'keys:read'
            | 'keys:write'
            | 'smpp:read'
            | 'smpp:write'
            | 'audit:read'
            | 'usage:read'
            | 'users:read'
            | 'users:write'
            | 'accounts:read'
            | 'accounts:write'
            | 'profile:read'
            | 'profile:write'
            | 'privacy:read'
            | 'privacy:write'
            | 'carriers:read'
            | 'carriers:write'
            | 'routes:read'
            | 'routes:write'
          )[]
        | undefined
      /** Addresses and networks (`192.0.2.7`, `2001:db8::/32`) from which the key works; none: from everywhere. */
      ip_allow?: readonly string[] | undefined
    }
    answer: {
      /** The key. */
      id: string
      object: 'api_key'
      name: string
      /** Its beginning, which names it in logs and is its client_id. */
      prefix: string
      mode: 'live' | 'test'
      scopes: string[]
      /** Networks from which it works; none named: from everywhere. */
      ip_allow: string[]
      /** When it was made. */
      created_at: string
      /** When it ends; null: never. */
      expires_at: string | null
      /** Its last use, to the minute. */
      last_used_at: string | null
      /** Until when the secret before the last rotation works; null: it does not. */
      overlap_ends_at: string | null
    }
  }
  /**
   * Give a key another secret.
   *
   * Id, prefix, scopes and mode stay. The old secret, and logins that were made until then, end with the overlap; a second rotation ends the first overlap.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `keys:write`.
   */
  rotateApiKey: {
    path: {
      id: string
    }
    body: {
      /** How long the old secret still works; by default 86400, a day. 0: no longer. */
      overlap_seconds?: number | undefined
    } | null
    answer: {
      /** The key. */
      id: string
      object: 'api_key'
      name: string
      /** Its beginning, which names it in logs and is its client_id. */
      prefix: string
      mode: 'live' | 'test'
      scopes: string[]
      /** Networks from which it works; none named: from everywhere. */
      ip_allow: string[]
      /** When it was made. */
      created_at: string
      /** When it ends; null: never. */
      expires_at: string | null
      /** Its last use, to the minute. */
      last_used_at: string | null
      /** Until when the secret before the last rotation works; null: it does not. */
      overlap_ends_at: string | null
      /** The key itself: shown only now. */
      secret: string
    }
  }
  /**
   * Who changed what, newest first.
   *
   * Administrative writes, each recorded in the transaction of its change. Sends, contacts and imports are not in it. What belongs to the installation (carriers, links, routes) is in the log of the account that changed it.
   *
   * Scope: `audit:read`.
   */
  listAuditEvents: {
    query?:
      | {
          /** Id of a user or an API key, or `system` for the program itself. */
          actor?: string | undefined
          action?: string | undefined
          /** Id of what was changed. */
          target?: string | undefined
          /** Recorded at or after it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_after?: string | undefined
          /** Recorded before it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_before?: string | undefined
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<AuditEvent>
  }
  /**
   * Check that nobody has changed the log.
   *
   * Computes the hash of every event anew. The first break is told.
   *
   * Scope: `audit:read`.
   */
  verifyAuditEvents: {
    answer: AuditVerification
  }
  /**
   * Become a user by an invitation, and log in.
   *
   * Works without a token. The password has at least 15 characters and is none of those that are tried first. With the code that the first start prints it makes you the first owner, and `email` is your address.
   */
  acceptInvitation: {
    body: {
      code: string
      password: string
      email?: string | undefined
    }
    answer: {
      access_token: string
      token_type: 'Bearer'
      /** Seconds. */
      expires_in: number
      refresh_token: string
      /** Seconds. */
      refresh_expires_in: number
      /** Scopes, separated by spaces. */
      scope: string
      account: {
        /** The account. */
        id: string
        name: string
      }
      user: {
        /** The user. */
        id: string
        email: string
        role: string
      } | null
    }
  }
  /**
   * Log in.
   *
   * Works without a token; a Basic Authorization header with client credentials can take the place of the body.
   */
  login: {
    body: {
      email?: string | undefined
      password?: string | undefined
      /** The code of the second factor, where the user has one. */
      otp?: string | undefined
      /** Stands in for `otp`, once. */
      recovery_code?: string | undefined
      /** An API key's prefix. */
      client_id?: string | undefined
      /** The API key. */
      client_secret?: string | undefined
    } | null
    answer: {
      access_token: string
      token_type: 'Bearer'
      /** Seconds. */
      expires_in: number
      refresh_token: string
      /** Seconds. */
      refresh_expires_in: number
      /** Scopes, separated by spaces. */
      scope: string
      account: {
        /** The account. */
        id: string
        name: string
      }
      user: {
        /** The user. */
        id: string
        email: string
        role: string
      } | null
    }
  }
  /**
   * End the login of the access token.
   *
   * Its access and refresh tokens stop working. A token that has ended already is fine.
   */
  logout: {
    answer: undefined
  }
  /**
   * Exchange a refresh token for the next pair.
   *
   * If the answer was lost, repeat the request within 60 seconds: it gives the same pair. A later repetition ends the login, because somebody else may have the token.
   */
  refreshToken: {
    body: {
      refresh_token: string
    }
    answer: {
      access_token: string
      token_type: 'Bearer'
      /** Seconds. */
      expires_in: number
      refresh_token: string
      /** Seconds. */
      refresh_expires_in: number
      /** Scopes, separated by spaces. */
      scope: string
      account: {
        /** The account. */
        id: string
        name: string
      }
      user: {
        /** The user. */
        id: string
        email: string
        role: string
      } | null
    }
  }
  /**
   * List the broadcasts of all campaigns.
   *
   * Scope: `campaigns:read`.
   */
  listAllBroadcasts: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          /** Only those that are in it, such as `awaiting_approval`. */
          status?:
            | 'awaiting_approval'
            | 'scheduled'
            | 'sending'
            | 'paused'
            | 'completed'
            | 'canceled'
            | 'rejected'
            | 'withdrawn'
            | undefined
        }
      | undefined
    answer: Page<Broadcast>
  }
  /**
   * Read a broadcast.
   *
   * Scope: `campaigns:read`.
   */
  getBroadcast: {
    path: {
      /** Id of the broadcast. */
      id: string
    }
    answer: Broadcast
  }
  /**
   * Approve a broadcast.
   *
   * The broadcast starts at once, or at its time. The person who ordered it cannot approve it, nor can another key of theirs, nor a person they invited after the order.
   *
   * Scope: `campaigns:approve`.
   */
  approveBroadcast: {
    path: {
      /** Id of a broadcast. */
      id: string
    }
    body: {
      /** Why; it is kept. */
      reason?: string | undefined
    } | null
    answer: Broadcast
  }
  /**
   * Reject a broadcast.
   *
   * Nothing is sent, and the campaign can have another broadcast. The person who ordered it cannot reject it, nor can another key of theirs, nor a person they invited after the order.
   *
   * Scope: `campaigns:approve`.
   */
  rejectBroadcast: {
    path: {
      /** Id of a broadcast. */
      id: string
    }
    body: {
      /** Why; it is kept. */
      reason: string
    }
    answer: Broadcast
  }
  /**
   * Withdraw a broadcast.
   *
   * Nothing of it is sent; its campaign is `active` again, and can have another. As long as there is no message of it (409 `campaign_not_in_state` then: pause its campaign, or cancel it). One that is withdrawn already is answered as it is.
   *
   * Scope: `campaigns:write`.
   */
  withdrawBroadcast: {
    path: {
      /** Id of a broadcast. */
      id: string
    }
    answer: Broadcast
  }
  /**
   * Create a campaign.
   *
   * Scope: `campaigns:write`.
   */
  createCampaign: {
    body: {
      /** For people. */
      name: string
      /** A name of your own for the campaign, usable wherever its id is; unique in the account. */
      key?: string | undefined
      /** For people. */
      description?: string | undefined
      /** Default type of its messages. */
      type?: 'transactional' | 'marketing' | 'otp' | undefined
      /** Default sender of its messages: one of the senders of the account. */
      from?: string | undefined
      /** Default sender of its messages, instead of `from`: a pool of the account. */
      sender_pool?: string | undefined
      /** Text of its broadcasts, with merge fields: `Hello {{ first_name | default: "there" }}`. */
      message?: string | undefined
      /** Id or name of a template, instead of `message`: each broadcast says what it says then. */
      template?: string | undefined
      /** Values for fields of the text that are the same for all; they go before those of a contact. */
      variables?: Record<string, string | number | boolean | null> | undefined
      /** ISO 3166-1 alpha-2: where imported numbers without a country code are from. */
      default_country?: string | undefined
      /** IANA time zone. */
      timezone?: string | undefined
      /** Default seconds for which its messages may wait to be sent. */
      validity_period?: number | undefined
      /** Segments a second of all its messages, over all carriers and processes; null: as the links allow. */
      pace?: number | null | undefined
      /** What becomes of its messages when the carrier does not answer: held, or sent again, perhaps twice. */
      on_unknown?: 'hold' | 'resend' | undefined
      /** Whether its messages have short links, and clicks are counted. */
      shorten_urls?: boolean | undefined
      /** Where events of its messages are posted, with their texts; to set it needs the scope messages:read_body. */
      callback_url?: string | undefined
      quiet_hours?:
        | {
            enabled?: boolean | undefined
            /** On the clock of the recipient. */
            start?: string | undefined
            /** The first minute that is not quiet any more; on the next day where it is before `start`. */
            end?: string | undefined
            /** Types of messages. Codes are never held. */
            applies_to?: readonly ('marketing' | 'transactional')[] | undefined
            /** IANA time zone of those whose own is not known, and whose number is of no country. */
            fallback_timezone?: string | undefined
          }
        | null
        | undefined
      /** Up to 50 keys of at most 40 characters, values of at most 500. */
      metadata?: Record<string, string> | undefined
      /** Up to 50 labels. */
      tags?: readonly string[] | undefined
    }
    answer: Campaign
  }
  /**
   * List campaigns, newest first.
   *
   * Filters go together.
   *
   * Scope: `campaigns:read`.
   */
  listCampaigns: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          /** Those whose name and key have all of these words, or parts of words, whatever the case. */
          name?: string | undefined
          /** Comma list of draft, active, awaiting_approval, scheduled, sending, paused, completed, canceled, archived. */
          status?: string | undefined
          /** Those with this default type. */
          type?: 'transactional' | 'marketing' | 'otp' | undefined
          /** Those with the tag; with all of a comma list. */
          tag?: string | undefined
          /** Made at or after it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_after?: string | undefined
          /** Made before it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_before?: string | undefined
        }
      | undefined
    answer: Page<Campaign>
  }
  /**
   * Read a campaign.
   *
   * Scope: `campaigns:read`.
   */
  getCampaign: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    answer: Campaign
  }
  /**
   * Change a campaign.
   *
   * Pace and quiet hours hold at every process within seconds, also for what waits already; the rest for what is sent from then on. `from` and `sender_pool` take the place of each other, and so do `message` and `template`.
   *
   * Scope: `campaigns:write`.
   */
  updateCampaign: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    body: {
      /** For people. */
      name?: string | undefined
      /** For people. */
      description?: string | null | undefined
      /** Default type of its messages. */
      type?: 'transactional' | 'marketing' | 'otp' | null | undefined
      /** Default sender of its messages: one of the senders of the account. */
      from?: string | null | undefined
      /** Default sender of its messages, instead of `from`: a pool of the account. */
      sender_pool?: string | null | undefined
      /** Text of its broadcasts, with merge fields: `Hello {{ first_name | default: "there" }}`. */
      message?: string | null | undefined
      /** Id or name of a template, instead of `message`: each broadcast says what it says then. */
      template?: string | null | undefined
      /** Values for fields of the text that are the same for all; they go before those of a contact. */
      variables?: Record<string, string | number | boolean | null> | undefined
      /** ISO 3166-1 alpha-2: where imported numbers without a country code are from. */
      default_country?: string | null | undefined
      /** IANA time zone. */
      timezone?: string | null | undefined
      /** Default seconds for which its messages may wait to be sent. */
      validity_period?: number | null | undefined
      /** What becomes of its messages when the carrier does not answer: held, or sent again, perhaps twice. */
      on_unknown?: 'hold' | 'resend' | null | undefined
      /** Whether its messages have short links, and clicks are counted. */
      shorten_urls?: boolean | null | undefined
      /** Where events of its messages are posted, with their texts; to set it needs the scope messages:read_body. */
      callback_url?: string | null | undefined
      /** Up to 50 keys of at most 40 characters, values of at most 500. */
      metadata?: Record<string, string> | undefined
      /** Up to 50 labels. */
      tags?: readonly string[] | undefined
      /** Segments a second of all its messages, over all carriers and processes; null: as the links allow. */
      pace?: number | null | undefined
      quiet_hours?:
        | {
            enabled?: boolean | undefined
            /** On the clock of the recipient. */
            start?: string | undefined
            /** The first minute that is not quiet any more; on the next day where it is before `start`. */
            end?: string | undefined
            /** Types of messages. Codes are never held. */
            applies_to?: readonly ('marketing' | 'transactional')[] | undefined
            /** IANA time zone of those whose own is not known, and whose number is of no country. */
            fallback_timezone?: string | undefined
          }
        | null
        | undefined
    }
    answer: Campaign
  }
  /**
   * Archive a campaign.
   *
   * It takes no more messages and contacts, and stays to be read.
   *
   * Scope: `campaigns:write`.
   */
  archiveCampaign: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    answer: Campaign
  }
  /**
   * List the broadcasts of a campaign.
   *
   * Scope: `campaigns:read`.
   */
  listBroadcasts: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          /** Only those that are in it, such as `awaiting_approval`. */
          status?:
            | 'awaiting_approval'
            | 'scheduled'
            | 'sending'
            | 'paused'
            | 'completed'
            | 'canceled'
            | 'rejected'
            | 'withdrawn'
            | undefined
        }
      | undefined
    answer: Page<Broadcast>
  }
  /**
   * Cancel the broadcast of a campaign.
   *
   * Messages that wait are canceled; what a carrier has stays sent. The campaign is closed. One that is canceled already is answered as it is.
   *
   * Scope: `campaigns:write`.
   */
  cancelCampaign: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    answer: Broadcast
  }
  /**
   * Add a contact to a campaign.
   *
   * A number is in a campaign once. `on_conflict=update` sets the fields given (attributes one by one), `skip` leaves the contact as it is; both answer 200 with it. Nothing here undoes an opt-out.
   *
   * Scope: `contacts:write`.
   */
  createContact: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    query?:
      | {
          on_conflict?: 'update' | 'skip' | undefined
        }
      | undefined
    body: {
      /** With country code; the plus sign may be left out. */
      phone_number: string
      first_name?: string | undefined
      last_name?: string | undefined
      /** Your own id of the person. */
      external_id?: string | undefined
      /** BCP 47. */
      language?: string | undefined
      /** ISO 3166-1 alpha-2; by default the one of the number. */
      country?: string | undefined
      /** IANA. */
      timezone?: string | undefined
      /** Up to 50 values of your own. */
      attributes?: Record<string, string | number | boolean> | undefined
      /** Up to 50 labels. */
      tags?: readonly string[] | undefined
      /** Evidence of consent. */
      consent?:
        | {
            /** `opted_out` opts the number out of the whole account; `opted_in` does not undo an opt-out. */
            status: 'opted_in' | 'opted_out' | 'unknown'
            method?: string | undefined
            source?: string | undefined
            /** What the person agreed to. */
            text?: string | undefined
            /** When it was given; not in the future. */
            obtained_at?: string | undefined
            ip?: string | undefined
          }
        | undefined
    }
    answer: Contact
  }
  /**
   * List the contacts of a campaign.
   *
   * Newest first. Filters go together; attributes are filtered by `attributes[name]=value`. A page looks at 200,000 contacts at most: with filters that few match it may be short, or empty, and still have a `next_cursor`.
   *
   * Scope: `contacts:read`.
   */
  listContacts: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          /** Only the contact with this number. */
          phone_number?: string | undefined
          /** Numbers that begin so, country code first. */
          phone_prefix?: string | undefined
          /** Your own id of the person. */
          external_id?: string | undefined
          /** Those with the tag; with all of a comma list. */
          tag?: string | undefined
          /** `en` finds `en-GB` too. */
          language?: string | undefined
          /** Whose number was forgotten is found by neither. */
          status?: 'active' | 'opted_out' | undefined
          /** Made then or later. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_after?: string | undefined
          /** Made before. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_before?: string | undefined
          [attributes: `attributes[${string}]`]: string | undefined
        }
      | undefined
    answer: Page<Contact>
  }
  /**
   * Export the contacts of a campaign.
   *
   * All that match, oldest first, as one file: CSV with a column for each attribute, which an import takes back, or NDJSON with a contact a line. Cells that a spreadsheet would run as a formula have an apostrophe before them.
   *
   * Scope: `contacts:read`.
   */
  exportContacts: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    query?:
      | {
          /** Default: as `Accept` says, else CSV. */
          format?: 'csv' | 'ndjson' | undefined
          /** Only the contact with this number. */
          phone_number?: string | undefined
          /** Numbers that begin so, country code first. */
          phone_prefix?: string | undefined
          /** Your own id of the person. */
          external_id?: string | undefined
          /** Those with the tag; with all of a comma list. */
          tag?: string | undefined
          /** `en` finds `en-GB` too. */
          language?: string | undefined
          /** Whose number was forgotten is found by neither. */
          status?: 'active' | 'opted_out' | undefined
          /** Made then or later. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_after?: string | undefined
          /** Made before. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_before?: string | undefined
        }
      | undefined
    answer: Response
  }
  /**
   * Import contacts from a file.
   *
   * CSV, a workbook, NDJSON or a JSON list, as a body or as `file` of a form; each of them also as gzip. The answer comes when the file is on disk; the job goes on by itself. A bad row never stops the file, and an opt-out survives every import. Columns that are no fields of a contact become attributes.
   *
   * Scope: `contacts:write`.
   */
  importContacts: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    query?:
      | {
          /** What to do with numbers that the campaign has. Default `update`. */
          on_conflict?: 'update' | 'skip' | undefined
          /** Where numbers without a country code are from. Default: the campaign's. */
          default_country?: string | undefined
          /** Reads the whole file and counts, shows the first 20 rows as they would be stored, and writes no contact. */
          dry_run?: boolean | undefined
          /** Of a text file, where neither its bytes nor its charset tell: `windows-1251`, `shift_jis`, `gb18030` … */
          encoding?: string | undefined
          /** What separates cells. Default: what fits the rows. */
          delimiter?: ',' | ';' | '	' | '|' | undefined
          /** The line with the names of the columns. Default: the first that has names. */
          header_line?: number | undefined
          /** What to do with rows of a workbook that a filter or a person hides. Default `leave_out`; `counts.hidden` has how many. */
          hidden_rows?: 'leave_out' | 'import' | undefined
          /** For columns that are not recognised by their names: the field each fills, `attributes.<name>`, or null to leave it out. A JSON object. */
          mapping?: string | undefined
        }
      | undefined
    body:
      | {
          contacts: readonly (
            | {
                /** With country code; the plus sign may be left out. */
                phone_number: string
                first_name?: string | undefined
                last_name?: string | undefined
                /** Your own id of the person. */
                external_id?: string | undefined
                /** BCP 47. */
                language?: string | undefined
                /** ISO 3166-1 alpha-2; by default the one of the number. */
                country?: string | undefined
                /** IANA. */
                timezone?: string | undefined
                /** Up to 50 values of your own. */
                attributes?: Record<string, string | number | boolean> | undefined
                /** Up to 50 labels. */
                tags?: readonly string[] | undefined
                /** Evidence of consent. */
                consent?:
                  | {
                      /** `opted_out` opts the number out of the whole account; `opted_in` does not undo an opt-out. */
                      status: 'opted_in' | 'opted_out' | 'unknown'
                      method?: string | undefined
                      source?: string | undefined
                      /** What the person agreed to. */
                      text?: string | undefined
                      /** When it was given; not in the future. */
                      obtained_at?: string | undefined
                      ip?: string | undefined
                    }
                  | undefined
              }
            | Contact
          )[]
          /** What to do with numbers that the campaign has. Default `update`. */
          on_conflict?: 'update' | 'skip' | undefined
          /** Where numbers without a country code are from. Default: the campaign's. */
          default_country?: string | undefined
          /** Reads the whole file and counts, shows the first 20 rows as they would be stored, and writes no contact. */
          dry_run?: boolean | undefined
        }
      | Upload
    answer: Import
  }
  /**
   * Read a contact.
   *
   * Scope: `contacts:read`.
   */
  getContact: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
      /** Id of a contact. */
      contact: string
    }
    answer: Contact
  }
  /**
   * Change a contact.
   *
   * Sets the fields given; null clears one. Attributes are set one by one, tags and consent as a whole. Nothing here undoes an opt-out.
   *
   * Scope: `contacts:write`.
   */
  updateContact: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
      /** Id of a contact. */
      contact: string
    }
    body: {
      /** With country code; the plus sign may be left out. */
      phone_number?: string | undefined
      first_name?: string | null | undefined
      last_name?: string | null | undefined
      /** Your own id of the person. */
      external_id?: string | null | undefined
      /** BCP 47. */
      language?: string | null | undefined
      /** ISO 3166-1 alpha-2; by default the one of the number. */
      country?: string | null | undefined
      /** IANA. */
      timezone?: string | null | undefined
      /** Those named are set, or removed by null; the others stay. */
      attributes?: Record<string, string | number | boolean | null> | null | undefined
      /** Up to 50 labels. */
      tags?: readonly string[] | null | undefined
      /** Evidence of consent. */
      consent?:
        | {
            /** `opted_out` opts the number out of the whole account; `opted_in` does not undo an opt-out. */
            status: 'opted_in' | 'opted_out' | 'unknown'
            method?: string | undefined
            source?: string | undefined
            /** What the person agreed to. */
            text?: string | undefined
            /** When it was given; not in the future. */
            obtained_at?: string | undefined
            ip?: string | undefined
          }
        | null
        | undefined
    }
    answer: Contact
  }
  /**
   * Delete a contact.
   *
   * An opt-out of the number stays.
   *
   * Scope: `contacts:write`.
   */
  deleteContact: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
      /** Id of a contact. */
      contact: string
    }
    answer: undefined
  }
  /**
   * List the imports of a campaign.
   *
   * Scope: `contacts:read`.
   */
  listImports: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<Import>
  }
  /**
   * Pause the broadcast of a campaign.
   *
   * Nothing more goes to a carrier, of what waits in line neither.
   *
   * Scope: `campaigns:write`.
   */
  pauseCampaign: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    answer: Broadcast
  }
  /**
   * Resume the broadcast of a campaign.
   *
   * It goes on where it was.
   *
   * Scope: `campaigns:write`.
   */
  resumeCampaign: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    answer: Broadcast
  }
  /**
   * Send to the contacts of a campaign.
   *
   * Needs an `Idempotency-Key`. Answers at once; each contact becomes a message when its turn comes, once, whatever is restarted meanwhile. With `dry_run` nothing is sent and the answer says what would be (it needs the scope contacts:read too); with `Accept: text/csv` it lists who would get nothing, and why.
   *
   * Scope: `campaigns:write`.
   */
  sendCampaign: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    body: {
      /** The text, with merge fields: `Hello {{ first_name | default: "there" }}`; without it and `template` it is that of the campaign. */
      message?: string | undefined
      /** Id or name of a template, instead of `message`: each contact gets the text in its language. It is copied; later changes don't count. */
      template?: string | undefined
      /** Values for merge fields that are the same for all; they go before those of the contact. */
      variables?: Record<string, string | number | boolean | null> | undefined
      /** One of the account's senders; the campaign's or the account's default otherwise. An account without senders sends without one, and the carrier puts its own. */
      from?: string | undefined
      /** A pool of the account, one of whose senders is used. Not together with `from`. */
      sender_pool?: string | undefined
      /** What it is for; otp goes first, marketing last. */
      type?: 'transactional' | 'marketing' | 'otp' | undefined
      /** auto: GSM-7 where the text allows it. */
      encoding?: 'auto' | 'gsm7' | 'ucs2' | undefined
      /** Replace typographic characters (curly quotes, dashes, ellipses, special spaces) where this alone brings the text into GSM-7. Never for codes. */
      smart_encoding?: boolean | undefined
      /** The most it may cost, by the estimate. Where no price is known it is sent. */
      max_price?:
        | {
            amount: string
            /** ISO 4217. */
            currency: string
          }
        | undefined
      /** Refuse a text that needs more. */
      max_segments?: number | undefined
      /** Put a short link of its own in the place of each address in the text, and count clicks. The campaign's or false otherwise. */
      shorten_urls?: boolean | undefined
      /** Seconds for which it is of use; the campaign's or 36000 otherwise. */
      validity_period?: number | undefined
      /** When the carrier does not answer: `hold` it as unconfirmed, or `resend`, perhaps twice. The campaign's, the account's or the link's otherwise. */
      on_unknown?: 'hold' | 'resend' | undefined
      /** false: the text is removed as soon as the message is over. true otherwise. */
      retain_content?: boolean | undefined
      /** Gets this message's events instead of the account's webhooks. */
      callback_url?: string | undefined
      /** Yours; returned with the message and in its events. */
      metadata?: Record<string, string> | undefined
      /** For filters. */
      tags?: readonly string[] | undefined
      /** Which contacts; all of the campaign otherwise. */
      audience?:
        | {
            /** Contacts that have one of these tags. */
            tags: readonly string[]
          }
        | undefined
      /** When it begins; now otherwise. */
      send_at?: string | undefined
      /** A time without a zone: each recipient's own clock decides. Not together with `send_at`. */
      send_at_local?: string | undefined
      /** Messages a minute, at most; sets the campaign's pace, of which each segment takes one. */
      max_rate?: number | undefined
      /** Sends nothing: says how many would get it, in how many segments, and who not. */
      dry_run?: boolean | undefined
    }
    answer: DryRun | Broadcast
  }
  /**
   * Read what became of a campaign’s messages, by hour, country, carrier, error or segments.
   *
   * By the hour in which messages were accepted. Exact at every moment, also while it is sent. A series by hour has every hour of at most 31 days; without `from` it begins with the first message. By error only what failed or was canceled is told.
   *
   * Scope: `campaigns:read`.
   */
  getCampaignStats: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    query?:
      | {
          /** From the hour of this time on. Hours and days are those of UTC. A date alone (`2026-11-20`) is the start of its day in UTC. */
          from?: string | undefined
          /** To this time, which is not in it unless it is within an hour. A date alone (`2026-11-20`) is the start of its day in UTC. */
          to?: string | undefined
          /** Id of a broadcast: only its messages and replies. */
          broadcast?: string | undefined
          /** What is told apart. */
          group?: 'hour' | 'country' | 'carrier' | 'error' | 'segments' | undefined
        }
      | undefined
    answer: {
      object: 'campaign_stats'
      /** The campaign. */
      campaign: string
      /** From then on. */
      from: string
      /** Until before it. */
      to: string
      group: 'hour' | 'country' | 'carrier' | 'error' | 'segments'
      data: {
        /** Its beginning. */
        hour?: string
        /** ISO 3166-1 alpha-2; null: of no country. */
        country?: string | null
        /** Null: with none of them. */
        carrier?: string | null
        /** Why they failed or were canceled; null: by a caller. */
        error?: string | null
        /** Of each of them. */
        segments_per_message?: number
        /** All to people: the sum of the next six. */
        messages: number
        queued: number
        sent: number
        delivered: number
        failed: number
        unconfirmed: number
        canceled: number
        replies: number
        /** Segments of `messages`. */
        segments: number
        /** Estimated cost of what carriers took or may have taken: an amount a currency, none where no rate is known. */
        cost: {
          amount: string
          /** ISO 4217. */
          currency: string
        }[]
      }[]
      total: {
        /** All to people: the sum of the next six. */
        messages: number
        queued: number
        sent: number
        delivered: number
        failed: number
        unconfirmed: number
        canceled: number
        replies: number
        /** Segments of `messages`. */
        segments: number
        /** Estimated cost of what carriers took or may have taken: an amount a currency, none where no rate is known. */
        cost: {
          amount: string
          /** ISO 4217. */
          currency: string
        }[]
      }
    }
  }
  /**
   * Export the stats of a campaign as CSV.
   *
   * A line for each hour, type, country, carrier, status, error and number of segments that occurs, in the order of time.
   *
   * Scope: `campaigns:read`.
   */
  exportCampaignStats: {
    path: {
      /** Id or key of a campaign. */
      campaign: string
    }
    query?:
      | {
          /** From the hour of this time on. Hours and days are those of UTC. A date alone (`2026-11-20`) is the start of its day in UTC. */
          from?: string | undefined
          /** To this time, which is not in it unless it is within an hour. A date alone (`2026-11-20`) is the start of its day in UTC. */
          to?: string | undefined
          /** Id of a broadcast: only its messages and replies. */
          broadcast?: string | undefined
        }
      | undefined
    answer: Response
  }
  /**
   * List carriers with the live state of their links.
   *
   * Scope: `carriers:read`.
   */
  listCarriers: {
    answer: {
      data: Carrier[]
    }
  }
  /**
   * Create an SMPP or HTTP carrier; its link begins at once.
   *
   * Scope: `carriers:write`.
   */
  createCarrier: {
    body:
      | {
          /** Your name for it. */
          name: string
          enabled?: boolean | undefined
          /** Segments a second that the carrier sells. */
          pace?: number | undefined
          /** Lower goes first. */
          priority?: number | undefined
          kind?: 'smpp' | 'http' | undefined
          settings: {
            /** Host name or address of the SMSC, without a scheme or a port. */
            host: string
            /** Its port; mostly 2775, or 3550 with TLS. */
            port: number
            /** Name to bind with, in ASCII (SMPP 3.4 §5.2.1). */
            system_id: string
            /** As the carrier says; mostly empty. */
            system_type?: string | undefined
            /** One session for both directions, or one for each. */
            bind?: 'transceiver' | 'transmitter_receiver' | undefined
            /** TLS with verification of the certificate. */
            tls?: boolean | undefined
            /** PEM of the authority, where it is not a public one. */
            tls_ca?: string | undefined
            /** Binds at a time that the carrier allows, over all processes; two sockets each with `transmitter_receiver`. */
            sessions?: number | undefined
            /** Unanswered submits of a session at most. */
            window?: number | undefined
            /** After it the outcome of a submit is unknown. */
            response_timeout_seconds?: number | undefined
            /** Idle time before a heartbeat. */
            enquire_link_seconds?: number | undefined
            /** Wait for the answer to a heartbeat; the second in a row that is missed ends the session. */
            enquire_timeout_seconds?: number | undefined
            /** From dialling until bound; then the session is given up and dialled again. */
            bind_timeout_seconds?: number | undefined
            /** How a receipt's id becomes the submit response's. `hex` and `dec`: it is the same number, whatever its zeros, capitals and 0x. */
            message_id_form?: 'raw' | 'hex-to-dec' | 'dec-to-hex' | 'hex' | 'dec' | undefined
            /** What the carrier means by data_coding 0, and what texts are written in; what it lacks is written in UCS-2. */
            default_alphabet?: 'gsm7' | 'gsm7-packed' | 'latin1' | 'ascii' | undefined
            /** data_coding of our submits by alphabet, where it is another than 0, or 8 for ucs2. */
            data_codings_out?:
              | {
                  gsm7?: number | undefined
                  'gsm7-packed'?: number | undefined
                  latin1?: number | undefined
                  ascii?: number | undefined
                  ucs2?: number | undefined
                }
              | undefined
            /** How deliveries are read by data_coding, where the carrier does not mean what SMPP's table says. */
            data_codings_in?:
              | Record<
                  string,
                  | 'gsm7'
                  | 'gsm7-packed'
                  | 'latin1'
                  | 'ascii'
                  | 'ucs2'
                  | 'utf8'
                  | 'binary'
                  | 'shift_jis'
                  | 'iso-8859-5'
                  | 'iso-8859-8'
                  | 'iso-2022-jp'
                  | 'euc-kr'
                >
              | undefined
            /** How long texts are cut. */
            concatenation?: 'udh8' | 'udh16' | 'sar' | 'payload' | undefined
            /** Whether submits carry their expiry. */
            validity?: 'absolute' | 'none' | undefined
            /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
            on_unknown?: 'hold' | 'resend' | undefined
            /** Whether submits carry a reference (SMPP 3.4 §5.3.2.17). Where the carrier echoes it, the receipt of a submit that was never answered finds its message, also among several to one number. */
            user_message_reference?: boolean | undefined
            /** Whether one receipt speaks for all parts of a long message, whichever part it names. For carriers that send one receipt for a long message. */
            one_receipt?: boolean | undefined
            /** TON of numbers as sender. */
            long_code_ton?: number | undefined
            /** NPI of numbers as sender. */
            long_code_npi?: number | undefined
            /** TON of short codes as sender. */
            short_code_ton?: number | undefined
            /** NPI of short codes as sender. */
            short_code_npi?: number | undefined
            /** TON of names as sender. */
            alphanumeric_ton?: number | undefined
            /** NPI of names as sender. */
            alphanumeric_npi?: number | undefined
            /** TON of recipients. */
            recipient_ton?: number | undefined
            /** NPI of recipients. */
            recipient_npi?: number | undefined
            /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
            recipient_other_form?: readonly ('AR' | 'MX')[] | undefined
            /** ISO 3166-1 code of the country whose national numbers the carrier delivers; empty: it does not. */
            country?: string | undefined
          }
          /** Password to bind with, in ASCII; sent as it is, though SMPP 3.4 has 8 characters; stored encrypted and never shown. */
          password: string
        }
      | {
          /** Your name for it. */
          name: string
          enabled?: boolean | undefined
          /** Segments a second that the carrier sells. */
          pace?: number | undefined
          /** Lower goes first. */
          priority?: number | undefined
          kind: 'http'
          settings: {
            adapter: 'twilio'
            /** Address of the carrier's API, without a slash at the end. */
            base_url?: string | undefined
            /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
            on_unknown?: 'hold' | 'resend' | undefined
            /** Requests at a time, each over a connection of its own. */
            window?: number | undefined
            /** After it the outcome of a request is unknown. */
            response_timeout_seconds?: number | undefined
            /** Whether every message says where its receipts go, or the carrier's account does. */
            receipt_url?: 'message' | 'account' | undefined
            /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
            recipient_other_form?: readonly ('AR' | 'MX')[] | undefined
            /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
            allowed_cidrs?: readonly string[] | undefined
            /** Another number makes new addresses for receipts and replies; the old ones are refused. */
            url_version?: number | undefined
            /** Account SID. */
            account_sid: string
            /** Messaging service that sends; chooses the sender of messages that name none. */
            messaging_service_sid?: string | undefined
          }
          secrets: {
            /** Auth token; also the key of X-Twilio-Signature. */
            auth_token: string
          }
        }
      | {
          /** Your name for it. */
          name: string
          enabled?: boolean | undefined
          /** Segments a second that the carrier sells. */
          pace?: number | undefined
          /** Lower goes first. */
          priority?: number | undefined
          kind: 'http'
          settings: {
            adapter: 'telnyx'
            /** Address of the carrier's API, without a slash at the end. */
            base_url?: string | undefined
            /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
            on_unknown?: 'hold' | 'resend' | undefined
            /** Requests at a time, each over a connection of its own. */
            window?: number | undefined
            /** After it the outcome of a request is unknown. */
            response_timeout_seconds?: number | undefined
            /** Whether every message says where its receipts go, or the carrier's account does. */
            receipt_url?: 'message' | 'account' | undefined
            /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
            recipient_other_form?: readonly ('AR' | 'MX')[] | undefined
            /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
            allowed_cidrs?: readonly string[] | undefined
            /** Another number makes new addresses for receipts and replies; the old ones are refused. */
            url_version?: number | undefined
            /** Public key of your account (Ed25519, base64), with which Telnyx signs what it posts. */
            public_key: string
            /** Messaging profile; needed for names and for number pools. */
            messaging_profile_id?: string | undefined
          }
          secrets: {
            /** API key (v2). */
            api_key: string
          }
        }
      | {
          /** Your name for it. */
          name: string
          enabled?: boolean | undefined
          /** Segments a second that the carrier sells. */
          pace?: number | undefined
          /** Lower goes first. */
          priority?: number | undefined
          kind: 'http'
          settings: {
            adapter: 'vonage'
            /** Address of the carrier's API, without a slash at the end. */
            base_url?: string | undefined
            /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
            on_unknown?: 'hold' | 'resend' | undefined
            /** Requests at a time, each over a connection of its own. */
            window?: number | undefined
            /** After it the outcome of a request is unknown. */
            response_timeout_seconds?: number | undefined
            /** Whether every message says where its receipts go, or the carrier's account does. */
            receipt_url?: 'message' | 'account' | undefined
            /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
            recipient_other_form?: readonly ('AR' | 'MX')[] | undefined
            /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
            allowed_cidrs?: readonly string[] | undefined
            /** Another number makes new addresses for receipts and replies; the old ones are refused. */
            url_version?: number | undefined
            /** API key of the account. */
            api_key: string
            /** As the dashboard's settings say; md5hash is its `MD5 hash signature`, the others are HMACs. */
            signature_method?: 'md5hash' | 'md5' | 'sha1' | 'sha256' | 'sha512' | undefined
          }
          secrets: {
            /** API secret of the account. */
            api_secret: string
            /** The dashboard's signature secret; with it only signed receipts and replies are taken. */
            signature_secret?: string | undefined
          }
        }
      | {
          /** Your name for it. */
          name: string
          enabled?: boolean | undefined
          /** Segments a second that the carrier sells. */
          pace?: number | undefined
          /** Lower goes first. */
          priority?: number | undefined
          kind: 'http'
          settings: {
            adapter: 'plivo'
            /** Address of the carrier's API, without a slash at the end. */
            base_url?: string | undefined
            /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
            on_unknown?: 'hold' | 'resend' | undefined
            /** Requests at a time, each over a connection of its own. */
            window?: number | undefined
            /** After it the outcome of a request is unknown. */
            response_timeout_seconds?: number | undefined
            /** Whether every message says where its receipts go, or the carrier's account does. */
            receipt_url?: 'message' | 'account' | undefined
            /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
            recipient_other_form?: readonly ('AR' | 'MX')[] | undefined
            /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
            allowed_cidrs?: readonly string[] | undefined
            /** Another number makes new addresses for receipts and replies; the old ones are refused. */
            url_version?: number | undefined
            /** Auth ID of the account or subaccount. */
            auth_id: string
            /** Powerpack that chooses the sender of messages that name none. */
            powerpack_uuid?: string | undefined
          }
          secrets: {
            /** Auth token; also the key of the signatures. */
            auth_token: string
          }
        }
      | {
          /** Your name for it. */
          name: string
          enabled?: boolean | undefined
          /** Segments a second that the carrier sells. */
          pace?: number | undefined
          /** Lower goes first. */
          priority?: number | undefined
          kind: 'http'
          settings: {
            adapter: 'sinch'
            /** Address of the carrier's API, without a slash at the end. */
            base_url?: string | undefined
            /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
            on_unknown?: 'hold' | 'resend' | undefined
            /** Requests at a time, each over a connection of its own. */
            window?: number | undefined
            /** After it the outcome of a request is unknown. */
            response_timeout_seconds?: number | undefined
            /** Whether every message says where its receipts go, or the carrier's account does. */
            receipt_url?: 'message' | 'account' | undefined
            /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
            recipient_other_form?: readonly ('AR' | 'MX')[] | undefined
            /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
            allowed_cidrs?: readonly string[] | undefined
            /** Another number makes new addresses for receipts and replies; the old ones are refused. */
            url_version?: number | undefined
            /** Service plan; its region is in `base_url` (us, eu, au, br, ca). */
            service_plan_id: string
          }
          secrets: {
            /** API token of the service plan. */
            api_token: string
            /** Key of the HMAC of callbacks, where it is set up; only signed receipts and replies are taken then. */
            callback_secret?: string | undefined
          }
        }
      | {
          /** Your name for it. */
          name: string
          enabled?: boolean | undefined
          /** Segments a second that the carrier sells. */
          pace?: number | undefined
          /** Lower goes first. */
          priority?: number | undefined
          kind: 'http'
          settings: {
            adapter: 'infobip'
            /** Address of the carrier's API, without a slash at the end. */
            base_url: string
            /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
            on_unknown?: 'hold' | 'resend' | undefined
            /** Requests at a time, each over a connection of its own. */
            window?: number | undefined
            /** After it the outcome of a request is unknown. */
            response_timeout_seconds?: number | undefined
            /** Whether every message says where its receipts go, or the carrier's account does. */
            receipt_url?: 'message' | 'account' | undefined
            /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
            recipient_other_form?: readonly ('AR' | 'MX')[] | undefined
            /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
            allowed_cidrs?: readonly string[] | undefined
            /** Another number makes new addresses for receipts and replies; the old ones are refused. */
            url_version?: number | undefined
          }
          secrets: {
            /** API key. */
            api_key: string
            /** User name that your subscription at Infobip authenticates with. */
            callback_user?: string | undefined
            /** Its password; with both only such receipts and replies are taken. */
            callback_password?: string | undefined
          }
        }
      | {
          /** Your name for it. */
          name: string
          enabled?: boolean | undefined
          /** Segments a second that the carrier sells. */
          pace?: number | undefined
          /** Lower goes first. */
          priority?: number | undefined
          kind: 'http'
          settings: {
            adapter: 'generic'
            /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
            on_unknown?: 'hold' | 'resend' | undefined
            /** Requests at a time, each over a connection of its own. */
            window?: number | undefined
            /** After it the outcome of a request is unknown. */
            response_timeout_seconds?: number | undefined
            /** Whether every message says where its receipts go, or the carrier's account does. */
            receipt_url?: 'message' | 'account' | undefined
            /** Countries whose numbers the carrier wants in their other form: AR without the 9 behind 54, MX with a 1 behind 52. Others are written in the current form. */
            recipient_other_form?: readonly ('AR' | 'MX')[] | undefined
            /** Networks from which the carrier posts receipts and replies; empty: any. For carriers that sign nothing. */
            allowed_cidrs?: readonly string[] | undefined
            /** Another number makes new addresses for receipts and replies; the old ones are refused. */
            url_version?: number | undefined
            /** The carrier takes a request that is repeated with the same {{id}} once. */
            idempotent?: boolean | undefined
            /** How a message is sent. */
            request: {
              method?: 'POST' | 'PUT' | 'GET' | undefined
              /** Address; fields are percent-encoded, and may stand behind the host only. */
              url: string
              /** Headers by name. */
              headers?: Record<string, string> | undefined
              /** The carrier's words for `{{encoding}}`, such as 0 and 2. Left out: ours. */
              encodings?:
                | {
                    'GSM-7'?: string | undefined
                    'UCS-2'?: string | undefined
                  }
                | undefined
              /** Form of the body: values are escaped for it. `none`: there is no body. */
              format?: 'json' | 'form' | 'xml' | 'none' | undefined
              /** A JSON document, an object of form fields, or an XML text; its texts are templates. */
              body?: unknown
            }
            /** What an answer means. */
            answer?:
              | {
                  /** Pointer (RFC 6901) to the carrier's id in a JSON answer. */
                  id?: string | undefined
                  /** Pointer to a status or error code. */
                  code?: string | undefined
                  /** Codes that say yes. Without them every 2xx is a yes. */
                  accepted?: readonly string[] | undefined
                  /** Codes of a no that will pass: tried again later. */
                  passing?: readonly string[] | undefined
                  /** Codes that say "too fast": the pace is lowered. */
                  throttled?: readonly string[] | undefined
                  /** Codes that every message gets until somebody acts, such as wrong credentials. */
                  faults?: readonly string[] | undefined
                }
              | undefined
            /** Where receipts have what counts. Pointers also read forms and queries: /name. */
            receipt?:
              | {
                  /** Pointer to the list of receipts, where one request brings several. */
                  list?: string | undefined
                  /** Pointer to the carrier's id. */
                  id: string
                  /** Pointer to our `id`, where the carrier gives it back. */
                  reference?: string | undefined
                  /** Pointer to the word that says what became of the message. */
                  state: string
                  /** The carrier's words; others are no end. */
                  states: Record<
                    string,
                    'enroute' | 'delivered' | 'undeliverable' | 'rejected' | 'expired' | 'deleted' | 'unknown'
                  >
                  /** Pointer to an error code. */
                  code?: string | undefined
                  /** Pointer to the time of the event: tells repetitions apart. */
                  time?: string | undefined
                }
              | undefined
            /** Where replies have what counts. */
            reply?:
              | {
                  /** Pointer to the list of replies, where one request brings several. */
                  list?: string | undefined
                  /** Pointer to the number of the person. */
                  from: string
                  /** Pointer to your number. */
                  to: string
                  /** Pointer to the text. */
                  text: string
                  /** Charset of the text, where it comes in a query or a form. Left out: UTF-8, or what the octets show. */
                  charset?: string | undefined
                  /** Pointer to the name of the charset, where each reply says its own. */
                  charset_at?: string | undefined
                  /** What the carrier's names at `charset_at` mean; others are names of charsets. */
                  charsets?: Record<string, string> | undefined
                  /** Pointer to the carrier's id, by which a repetition is known. */
                  id?: string | undefined
                }
              | undefined
            /** HMAC of the body (of the query, for GET) under the secret `signature`. */
            signature?:
              | {
                  /** Header with the signature. */
                  header: string
                  algorithm?: 'sha1' | 'sha256' | 'sha512' | undefined
                  encoding?: 'hex' | 'base64' | undefined
                  /** Text before it, such as `sha256=`. */
                  prefix?: string | undefined
                }
              | undefined
            /** What the carrier's codes mean. */
            codes?:
              | Record<
                  string,
                  | 'unknown_subscriber'
                  | 'landline_or_unroutable'
                  | 'handset_unreachable'
                  | 'handset_busy'
                  | 'handset_memory_full'
                  | 'recipient_blocked'
                  | 'recipient_opted_out'
                  | 'content_filtered'
                  | 'carrier_congestion'
                  | 'throttled'
                  | 'sender_not_registered'
                  | 'invalid_sender'
                  | 'invalid_destination'
                  | 'destination_not_allowed'
                  | 'fraud_suspected'
                  | 'queue_full'
                  | 'expired_in_queue'
                  | 'expired_at_carrier'
                  | 'message_too_long'
                  | 'spend_limit_reached'
                  | 'text_unavailable'
                  | 'quiet_hours'
                  | 'provider_timeout'
                  | 'provider_error'
                  | 'no_route_available'
                  | 'outcome_unknown'
                  | 'no_receipt'
                  | 'carrier_unknown'
                >
              | undefined
          }
          secrets?: Record<string, string> | undefined
        }
    answer: Carrier
  }
  /**
   * Get a carrier with the live state of its links, their times, and what waits for it.
   *
   * Scope: `carriers:read`.
   */
  getCarrier: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    answer: Carrier
  }
  /**
   * Change a carrier; its link drains and binds anew.
   *
   * Scope: `carriers:write`.
   */
  updateCarrier: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    body: {
      /** Your name for it. */
      name?: string | undefined
      enabled?: boolean | undefined
      /** Segments a second that the carrier sells. */
      pace?: number | undefined
      /** Lower goes first. */
      priority?: number | undefined
      /** What it names changes; null removes. */
      settings?: Record<string, unknown> | undefined
      /** Password to bind with, in ASCII; sent as it is, though SMPP 3.4 has 8 characters; stored encrypted and never shown. */
      password?: string | undefined
      /** Of an HTTP carrier; null removes. */
      secrets?: Record<string, unknown> | undefined
    }
    answer: Carrier
  }
  /**
   * Delete a carrier that has no senders and is in no route.
   *
   * Scope: `carriers:write`.
   */
  deleteCarrier: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    answer: undefined
  }
  /**
   * Find out why receipts match no message.
   *
   * Looks up the receipts without a message in every form in which carriers write ids, and names the setting that most of them ask for.
   *
   * Scope: `carriers:read`.
   */
  diagnoseReceipts: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    query?:
      | {
          /** How far back. */
          hours?: number | undefined
        }
      | undefined
    answer: ReceiptDoctor
  }
  /**
   * Match the receipts without a message again.
   *
   * Done in the background, as after every change of `message_id_form`; the doctor tells how far it is.
   *
   * Scope: `carriers:write`.
   */
  rematchReceipts: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    answer: {
      object: 'rematch'
      links: number
    }
  }
  /**
   * List what the links of a carrier have of their own.
   *
   * Scope: `carriers:read`.
   */
  listLinks: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    answer: {
      data: LinkSettings[]
    }
  }
  /**
   * Add a link to an SMPP carrier.
   *
   * Scope: `carriers:write`.
   */
  createLink: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    body: {
      enabled?: boolean | undefined
      /** Segments a second over this link; null: the carrier's pace. */
      pace?: number | null | undefined
      /** Settings of its own; null: the carrier's. */
      settings?:
        | {
            /** Host name or address of the SMSC, without a scheme or a port. */
            host?: string | null | undefined
            /** Its port; mostly 2775, or 3550 with TLS. */
            port?: number | null | undefined
            /** Name to bind with, in ASCII (SMPP 3.4 §5.2.1). */
            system_id?: string | null | undefined
            /** As the carrier says; mostly empty. */
            system_type?: string | null | undefined
            /** One session for both directions, or one for each. */
            bind?: 'transceiver' | 'transmitter_receiver' | null | undefined
            /** TLS with verification of the certificate. */
            tls?: boolean | null | undefined
            /** PEM of the authority, where it is not a public one. */
            tls_ca?: string | null | undefined
            /** Binds at a time that the carrier allows, over all processes; two sockets each with `transmitter_receiver`. */
            sessions?: number | null | undefined
            /** Unanswered submits of a session at most. */
            window?: number | null | undefined
            /** After it the outcome of a submit is unknown. */
            response_timeout_seconds?: number | null | undefined
            /** Idle time before a heartbeat. */
            enquire_link_seconds?: number | null | undefined
            /** Wait for the answer to a heartbeat; the second in a row that is missed ends the session. */
            enquire_timeout_seconds?: number | null | undefined
            /** From dialling until bound; then the session is given up and dialled again. */
            bind_timeout_seconds?: number | null | undefined
            /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
            on_unknown?: 'hold' | 'resend' | null | undefined
          }
        | undefined
      /** Password to bind with, in ASCII; stored encrypted and never shown. null: the carrier's. */
      password?: string | null | undefined
    }
    answer: LinkSettings
  }
  /**
   * Show what a carrier's codes mean.
   *
   * Scope: `carriers:read`.
   */
  listStatusMappings: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    query?:
      | {
          /** The built-in ones too, behind its own. */
          defaults?: boolean | undefined
        }
      | undefined
    answer: {
      data: StatusMapping[]
    }
  }
  /**
   * Delete a carrier's table, or a row of it.
   *
   * Scope: `carriers:write`.
   */
  deleteStatusMappings: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    query?:
      | {
          kind?: 'submit' | 'receipt' | undefined
          /** Of the row; left out where it is null. */
          stat?: string | undefined
          /** Of the row; left out where it is null. */
          code?: string | undefined
        }
      | undefined
    answer: undefined
  }
  /**
   * Replace a carrier's table.
   *
   * JSON or CSV; it counts within a second. What it does not name has the built-in meaning again.
   *
   * Scope: `carriers:write`.
   */
  replaceStatusMappings: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    body:
      | {
          /** Begin with the codes that this aggregator publishes for receipts over SMPP. */
          preset?: 'twilio' | 'vonage' | 'infobip' | 'sinch' | '8x8' | undefined
          mappings?: readonly unknown[] | undefined
        }
      | Upload
    answer: {
      data: StatusMapping[]
    }
  }
  /**
   * Add rows to a carrier's table.
   *
   * JSON or CSV; it counts within a second. A row takes the place of the one with its kind, stat and code.
   *
   * Scope: `carriers:write`.
   */
  updateStatusMappings: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    body:
      | {
          /** Begin with the codes that this aggregator publishes for receipts over SMPP. */
          preset?: 'twilio' | 'vonage' | 'infobip' | 'sinch' | '8x8' | undefined
          mappings?: readonly unknown[] | undefined
        }
      | Upload
    answer: {
      data: StatusMapping[]
    }
  }
  /**
   * A carrier's rate card.
   *
   * With `Accept: text/csv` as a file that PUT takes.
   *
   * Scope: `carriers:read`.
   */
  getRates: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    answer: RateCard
  }
  /**
   * Replace a carrier's rate card.
   *
   * JSON or CSV, all or nothing; it counts within two seconds. Prices are estimates when messages are accepted, and what the limits of routes (`max_cost`) and sends (`max_price`) are compared with.
   *
   * Scope: `carriers:write`.
   */
  replaceRates: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    body:
      | {
          /** All of them; none: the carrier has no prices. All wrong rows are told at once. */
          rates: readonly unknown[]
        }
      | Upload
    answer: RateCard
  }
  /**
   * What a segment to a number costs at a carrier now.
   *
   * Scope: `carriers:read`.
   */
  testRates: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    body: {
      to: string
    }
    answer: {
      object: 'rate_test'
      to: string
      country: string | null
      /** null: the card says nothing of it. */
      price: {
        amount: string
        /** ISO 4217. */
        currency: string
      } | null
    }
  }
  /**
   * List the receipts without a message, newest first.
   *
   * Scope: `carriers:read`.
   */
  listUnmatchedReceipts: {
    path: {
      /** Id of a carrier. */
      id: string
    }
    query: {
      /** Items a page. */
      limit?: number | undefined
      /** A cursor of an earlier page with the same filters. */
      cursor?: string | undefined
      /** true: a receipt with a message is in its timeline. */
      unmatched: boolean
    }
    answer: Page<Receipt>
  }
  /**
   * All that a number has agreed to or withdrawn, newest first.
   *
   * Entries are added and never changed. They outlive contacts, messages and forgotten numbers.
   *
   * Scope: `contacts:read`.
   */
  listConsent: {
    query: {
      /** Items a page. */
      limit?: number | undefined
      /** A cursor of an earlier page with the same filters. */
      cursor?: string | undefined
      /** E.164, with or without a plus sign. */
      number: string
    }
    answer: Page<Consent>
  }
  /**
   * Record what a person has agreed to or withdrawn.
   *
   * `opted_out` opts the number out of the account. `opted_in` does not undo an opt-out.
   *
   * Scope: `contacts:write`.
   */
  recordConsent: {
    body: {
      number: string
      status: 'opted_in' | 'opted_out' | 'unknown'
      /** Id or key of the campaign that it is for. */
      campaign?: string | undefined
      /** How it was given: `web_form`, `paper`, `phone`, … */
      method?: string | undefined
      /** Where: the address of a page, the name of a shop. */
      source?: string | undefined
      /** What the person was told, or said. */
      text?: string | undefined
      /** When the person said it; not in the future. */
      obtained_at?: string | undefined
      /** From which network address. */
      ip?: string | undefined
    }
    answer: Consent
  }
  /**
   * The same as CSV, for a complaint.
   *
   * Scope: `contacts:read`.
   */
  exportConsent: {
    query: {
      /** E.164, with or without a plus sign. */
      number: string
    }
    answer: Response
  }
  /**
   * List conversations, the last reply first.
   *
   * Filters go together. A page looks at 200,000 conversations at most, with `search` at 2000: where few match, it may be short, or empty, and still have a `next_cursor`.
   *
   * Scope: `messages:read`.
   */
  listConversations: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          /** Those that are open, or closed. */
          state?: 'open' | 'closed' | undefined
          /** Those whose number has these digits, or whose number and last message have all of these words, or parts of words, whatever the case and the accents. Texts need the scope messages:read_body; those of earlier messages, and redacted ones, are not searched. */
          search?: string | undefined
          /** Those with unread replies, or those without. */
          unread?: boolean | undefined
          /** Id of a user; `none`: nobody looks after it. */
          assignee?: string | undefined
          /** Those of this number of ours. */
          our_number?: string | undefined
          /** Those with this person. */
          their_number?: string | undefined
          /** Id or key of a campaign: those whose last reply to a campaign answered this one. */
          campaign?: string | undefined
        }
      | undefined
    answer: Page<Conversation>
  }
  /**
   * Read a conversation.
   *
   * Scope: `messages:read`.
   */
  getConversation: {
    path: {
      /** Id of a conversation. */
      conversation: string
    }
    answer: Conversation
  }
  /**
   * Say who looks after a conversation, close it, or open it again.
   *
   * Scope: `messages:write`.
   */
  updateConversation: {
    path: {
      /** Id of a conversation. */
      conversation: string
    }
    body: {
      /** Id of a user of the account; null: nobody. */
      assignee?: string | null | undefined
      /** Closing reads nothing: what is unread stays so. */
      state?: 'open' | 'closed' | undefined
      /** With `state` closed: id of the last message that was seen. Where the person has written since, it stays open. */
      last_message?: string | undefined
    }
    answer: Conversation
  }
  /**
   * List the messages of a conversation, both directions, newest first.
   *
   * Scope: `messages:read`.
   */
  listConversationMessages: {
    path: {
      /** Id of a conversation. */
      conversation: string
    }
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<Message>
  }
  /**
   * Answer in a conversation: a send from its number to its person.
   *
   * Scope: `messages:write`.
   */
  replyInConversation: {
    path: {
      /** Id of a conversation. */
      conversation: string
    }
    body: {
      /** The text. */
      message?: string | undefined
      /** Id or key of a campaign. */
      campaign?: string | undefined
      /** What it is for; otp goes first, marketing last. */
      type?: 'transactional' | 'marketing' | 'otp' | undefined
      /** auto: GSM-7 where the text allows it. */
      encoding?: 'auto' | 'gsm7' | 'ucs2' | undefined
      /** Replace typographic characters (curly quotes, dashes, ellipses, special spaces) where this alone brings the text into GSM-7. Never for codes. */
      smart_encoding?: boolean | undefined
      /** The most it may cost, by the estimate. Where no price is known it is sent. */
      max_price?:
        | {
            amount: string
            /** ISO 4217. */
            currency: string
          }
        | undefined
      /** Refuse a text that needs more. */
      max_segments?: number | undefined
      /** Put a short link of its own in the place of each address in the text, and count clicks. The campaign's or false otherwise. */
      shorten_urls?: boolean | undefined
      /** When to send it; up to 365 days ahead. */
      send_at?: string | undefined
      /** Seconds for which it is of use; the campaign's or 36000 otherwise. */
      validity_period?: number | undefined
      /** When the carrier does not answer: `hold` it as unconfirmed, or `resend`, perhaps twice. The campaign's, the account's or the link's otherwise. */
      on_unknown?: 'hold' | 'resend' | undefined
      /** false: the text is removed as soon as the message is over. true otherwise. */
      retain_content?: boolean | undefined
      /** Gets this message's events instead of the account's webhooks. */
      callback_url?: string | undefined
      /** Yours; returned with the message and in its events. */
      metadata?: Record<string, string> | undefined
      /** For filters. */
      tags?: readonly string[] | undefined
      /** Id or name of a template, instead of `message`. */
      template?: string | undefined
      /** Values for the fields of the template; null counts as not given. */
      variables?: Record<string, string | number | boolean | null> | undefined
      /** BCP 47: which of the template's texts; the default one where it has none in this language. */
      language?: string | undefined
    }
    answer: Message
  }
  /**
   * Mark a conversation as read.
   *
   * Scope: `messages:write`.
   */
  readConversation: {
    path: {
      /** Id of a conversation. */
      conversation: string
    }
    body: {
      /** Id of the last message that was read: replies after it stay unread. All are read otherwise. */
      last_message?: string | undefined
    }
    answer: Conversation
  }
  /**
   * What will go, and who of the account still calls it.
   *
   * Scope: `keys:read`.
   */
  listDeprecations: {
    answer: {
      data: {
        object: 'deprecation'
        /** `operationId` of the OpenAPI document. */
        operation: string
        method: string
        path: string
        /** Since when it should not be called any more. */
        since: string
        /** When it will go; null: that is not decided. */
        sunset: string | null
        /** What to call instead. */
        successor: string | null
        docs: string
        /** Of this account, the latest first; a call is seen within a minute or two. */
        callers: {
          /** Id of an API key or of a user. */
          credential: string
          calls: number
          /** The first call since it is deprecated. */
          first_called_at: string
          /** The last one. */
          last_called_at: string
        }[]
      }[]
    }
  }
  /**
   * Erase a number.
   *
   * From everything that the account has: contacts, messages, conversations, events, imports. What waits for it is canceled. Messages stay in all counts, without number, text and metadata. An opt-out stays too, as a keyed hash. It takes some minutes; a number that is being erased is answered with its erasure.
   *
   * Scope: `privacy:write`.
   */
  createErasure: {
    body: {
      number: string
      /** Of which request; kept, so without personal data. */
      reason?: string | undefined
    }
    answer: Erasure
  }
  /**
   * List erasures, newest first.
   *
   * Scope: `privacy:read`.
   */
  listErasures: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<Erasure>
  }
  /**
   * Get an erasure.
   *
   * Scope: `privacy:read`.
   */
  getErasure: {
    path: {
      /** Id of an erasure. */
      id: string
    }
    answer: Erasure
  }
  /** Every error code. */
  listErrors: {
    answer: {
      data: {
        code: string
        status: number
        title: string
        advice: string
        retryable: boolean
        url: string
      }[]
      fields: {
        code: string
        title: string
        url: string
      }[]
      messages: {
        code: string
        title: string
        advice: string
        permanent: boolean
        url: string
      }[]
    }
  }
  /**
   * List events, newest first, or read on after one.
   *
   * Scope: `events:read`.
   */
  listEvents: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          /** Event types, parted by commas. */
          type?: string | undefined
          /** Events of one message. */
          message?: string | undefined
          /** false: events that some address refused and has not taken since; true: events that were taken, and refused by nobody since. Not with `after`. */
          delivery_success?: boolean | undefined
          /** Reads forward, oldest first, from after this event (`start`: from the oldest); pass the last id of each answer next. Nothing is skipped, however late its transaction commits. */
          after?: string | undefined
          /** With `after`: seconds to wait while there is nothing. */
          wait?: number | undefined
        }
      | undefined
    answer: Page<Event>
  }
  /**
   * Events as they happen (server-sent events).
   *
   * The fields of each message are `id`, `event` (the type) and `data` (the Event). Every 15 seconds a comment comes, and at least once an hour the stream ends: connect again with `Last-Event-ID`, and nothing is missed. So does whoever is cut off for reading too slowly.
   *
   * Scope: `events:read`.
   */
  streamEvents: {
    query?:
      | {
          /** Event types, parted by commas. */
          type?: string | undefined
          /** Events of one message. */
          message?: string | undefined
          /** Begins after this event (`start`: with the oldest), as the header `Last-Event-ID` does, which goes first. Without either: with what happens from now on. */
          after?: string | undefined
          /** The stream ends after so long; 0: when everything that is there was sent. */
          max_seconds?: number | undefined
        }
      | undefined
    answer: Response
  }
  /**
   * Get an event.
   *
   * Scope: `events:read`.
   */
  getEvent: {
    path: {
      id: string
    }
    answer: Event
  }
  /**
   * List the attempts to post an event, to every address, newest first.
   *
   * Scope: `events:read`.
   */
  listEventDeliveries: {
    path: {
      id: string
    }
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<Attempt>
  }
  /**
   * Post an event again.
   *
   * With the same id, to where it went: its callback address, the webhook that it tested, or the webhooks that subscribe to it now.
   *
   * Scope: `webhooks:write`.
   */
  redeliverEvent: {
    path: {
      id: string
    }
    answer: {
      event: string
      /** To how many addresses. */
      posts: number
      /** Why it is posted to none; null where it is. */
      detail: string | null
    }
  }
  /**
   * List the stops in force, newest first.
   *
   * Scope: `settings:read`.
   */
  listGuards: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<Guard>
  }
  /**
   * The guards that stand, with what is used of each.
   *
   * All that the settings say, whether they have stopped something or not. `used` counts what was accepted, and what waits to be sent; with `number`, also the messages of this hour to numbers with its prefix.
   *
   * Scope: `settings:read`.
   */
  listGuardLimits: {
    query?:
      | {
          /** A recipient, whose prefix is asked for where one is limited. */
          number?: string | undefined
        }
      | undefined
    answer: {
      data: GuardLimit[]
    }
  }
  /**
   * Release a stop.
   *
   * Sending goes on at once, and broadcasts that wait go on within seconds. A limit that is reached again afterwards is another stop.
   *
   * Scope: `settings:write`.
   */
  releaseGuard: {
    path: {
      /** Id of a stop. */
      id: string
    }
    body: {
      /** Why; it is kept. */
      reason: string
      /** Until when it does not stop again; else, without `raise_by`, until its time is over. */
      until?: string | undefined
      /** By how much the limit is raised until its time is over, in what it counts: segments, messages or money. */
      raise_by?: string | undefined
    }
    answer: Guard
  }
  /**
   * Read an import and its progress.
   *
   * Scope: `contacts:read`.
   */
  getImport: {
    path: {
      /** Id of an import. */
      import: string
    }
    answer: Import
  }
  /**
   * Stop an import.
   *
   * Rows that were written stay; `counts` says how many. One that is canceled already is answered as it is.
   *
   * Scope: `contacts:write`.
   */
  cancelImport: {
    path: {
      /** Id of an import. */
      import: string
    }
    answer: Import
  }
  /**
   * List what was wrong with the rows of an import.
   *
   * With `Accept: text/csv` only the bad rows, with their columns and `error`, to correct and send again.
   *
   * Scope: `contacts:read`.
   */
  listImportErrors: {
    path: {
      /** Id of an import. */
      import: string
    }
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<{
      /** Line of the file; of a JSON list the position in it, from 1. */
      line: number
      column: string | null
      value: string | null
      code: string
      detail: string
      suggestion: string | null
    }>
  }
  /**
   * Change a link; where its settings change it drains and binds anew.
   *
   * Scope: `carriers:write`.
   */
  updateLink: {
    path: {
      /** Id of a link. */
      id: string
    }
    body: {
      enabled?: boolean | undefined
      /** Segments a second over this link; null: the carrier's pace. */
      pace?: number | null | undefined
      /** Settings of its own; null: the carrier's. */
      settings?:
        | {
            /** Host name or address of the SMSC, without a scheme or a port. */
            host?: string | null | undefined
            /** Its port; mostly 2775, or 3550 with TLS. */
            port?: number | null | undefined
            /** Name to bind with, in ASCII (SMPP 3.4 §5.2.1). */
            system_id?: string | null | undefined
            /** As the carrier says; mostly empty. */
            system_type?: string | null | undefined
            /** One session for both directions, or one for each. */
            bind?: 'transceiver' | 'transmitter_receiver' | null | undefined
            /** TLS with verification of the certificate. */
            tls?: boolean | null | undefined
            /** PEM of the authority, where it is not a public one. */
            tls_ca?: string | null | undefined
            /** Binds at a time that the carrier allows, over all processes; two sockets each with `transmitter_receiver`. */
            sessions?: number | null | undefined
            /** Unanswered submits of a session at most. */
            window?: number | null | undefined
            /** After it the outcome of a submit is unknown. */
            response_timeout_seconds?: number | null | undefined
            /** Idle time before a heartbeat. */
            enquire_link_seconds?: number | null | undefined
            /** Wait for the answer to a heartbeat; the second in a row that is missed ends the session. */
            enquire_timeout_seconds?: number | null | undefined
            /** From dialling until bound; then the session is given up and dialled again. */
            bind_timeout_seconds?: number | null | undefined
            /** What becomes of messages whose submit was not answered, where neither they nor their campaign or account say: held, or sent again after a while, perhaps twice. */
            on_unknown?: 'hold' | 'resend' | null | undefined
          }
        | undefined
      /** Password to bind with, in ASCII; stored encrypted and never shown. null: the carrier's. */
      password?: string | null | undefined
    }
    answer: LinkSettings
  }
  /**
   * Delete a link that is not the first of its carrier.
   *
   * Scope: `carriers:write`.
   */
  deleteLink: {
    path: {
      /** Id of a link. */
      id: string
    }
    answer: undefined
  }
  /**
   * Get the live state of a link.
   *
   * Scope: `carriers:read`.
   */
  getLink: {
    path: {
      /** Id of a link. */
      id: string
    }
    answer: Link
  }
  /**
   * Send a message (same as /v1/messages/send).
   *
   * Scope: `messages:write`.
   */
  createMessage: {
    body: {
      /** Recipient in E.164: digits, a plus sign in front is allowed. */
      to: string
      /** The text. */
      message?: string | undefined
      /** Id or key of a campaign. */
      campaign?: string | undefined
      /** One of the account's senders; the campaign's or the account's default otherwise. An account without senders sends without one, and the carrier puts its own. */
      from?: string | undefined
      /** A pool of the account, one of whose senders is used. Not together with `from`. */
      sender_pool?: string | undefined
      /** What it is for; otp goes first, marketing last. */
      type?: 'transactional' | 'marketing' | 'otp' | undefined
      /** auto: GSM-7 where the text allows it. */
      encoding?: 'auto' | 'gsm7' | 'ucs2' | undefined
      /** Replace typographic characters (curly quotes, dashes, ellipses, special spaces) where this alone brings the text into GSM-7. Never for codes. */
      smart_encoding?: boolean | undefined
      /** The most it may cost, by the estimate. Where no price is known it is sent. */
      max_price?:
        | {
            amount: string
            /** ISO 4217. */
            currency: string
          }
        | undefined
      /** Refuse a text that needs more. */
      max_segments?: number | undefined
      /** Put a short link of its own in the place of each address in the text, and count clicks. The campaign's or false otherwise. */
      shorten_urls?: boolean | undefined
      /** When to send it; up to 365 days ahead. */
      send_at?: string | undefined
      /** Seconds for which it is of use; the campaign's or 36000 otherwise. */
      validity_period?: number | undefined
      /** When the carrier does not answer: `hold` it as unconfirmed, or `resend`, perhaps twice. The campaign's, the account's or the link's otherwise. */
      on_unknown?: 'hold' | 'resend' | undefined
      /** false: the text is removed as soon as the message is over. true otherwise. */
      retain_content?: boolean | undefined
      /** Gets this message's events instead of the account's webhooks. */
      callback_url?: string | undefined
      /** Yours; returned with the message and in its events. */
      metadata?: Record<string, string> | undefined
      /** For filters. */
      tags?: readonly string[] | undefined
      /** Id or name of a template, instead of `message`. */
      template?: string | undefined
      /** Values for the fields of the template; null counts as not given. */
      variables?: Record<string, string | number | boolean | null> | undefined
      /** BCP 47: which of the template's texts; the default one where it has none in this language. */
      language?: string | undefined
    }
    answer: Message
  }
  /**
   * List messages, newest first.
   *
   * Filters go together; besides those below, `metadata[name]=value`. `tag`, `metadata`, `segments_gte` and `updated_*` need another filter that finds few messages, or a `created_after` of the last 31 days. A page looks at 100,000 messages at most: with filters that few match it may be short, or empty, and still have a `next_cursor`. `refresh_cursor` shows what was created since; what changed within the last minute may come again.
   *
   * Scope: `messages:read`.
   */
  listMessages: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          /** Newest or oldest first. */
          sort?: '-created_at' | 'created_at' | undefined
          /** Comma list of scheduled, queued, sending, sent, delivered, undelivered, rejected, failed, expired, unconfirmed, canceled, received. */
          status?: string | undefined
          delivery_status?: 'Delivered' | 'Failed' | undefined
          direction?: 'outbound' | 'inbound' | undefined
          /** Outbound messages to it; with direction=inbound, replies to it. */
          to?: string | undefined
          /** Outbound messages from it; with direction=inbound, replies from it. */
          from?: string | undefined
          /** A person's: messages to it and from it, in one list. With `direction`, those alone. */
          number?: string | undefined
          /** Id or key of a campaign. */
          campaign?: string | undefined
          /** Id of a contact. */
          contact?: string | undefined
          /** Why it failed, or is unconfirmed. */
          error_code?: string | undefined
          type?: 'transactional' | 'marketing' | 'otp' | undefined
          tag?: string | undefined
          /** Created at or after it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_after?: string | undefined
          /** Created before it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_before?: string | undefined
          /** Last changed at or after it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          updated_after?: string | undefined
          /** Last changed before it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          updated_before?: string | undefined
          /** Of so many segments or more. */
          segments_gte?: number | undefined
          /** Sent in test mode, or not. */
          test?: boolean | undefined
          [metadata: `metadata[${string}]`]: string | undefined
        }
      | undefined
    answer: Page<Message>
  }
  /**
   * Send up to 10,000 messages; Idempotency-Key is required.
   *
   * Scope: `messages:write`.
   */
  sendBatch: {
    body: {
      messages: readonly SendMessage[]
      /** All or none. */
      atomic?: boolean | undefined
    }
    answer: {
      object: 'batch'
      accepted: number
      refused: number
      results: {
        index: number
        /** What a single send would have answered. */
        status: number
        message?: Message
        error?: Problem
      }[]
    }
  }
  /**
   * Export messages.
   *
   * All that match, oldest first, up to the time of the request: NDJSON with a message a line as in answers, or CSV. An export that fails ends with a broken connection, never as if it were whole. Filters go together; besides those below, `metadata[name]=value`. `tag`, `metadata`, `segments_gte` and `updated_*` need another filter that finds few messages, or a `created_after` of the last 31 days.
   *
   * Scope: `messages:read`.
   */
  exportMessages: {
    query?:
      | {
          /** Default: as `Accept` says, else NDJSON. */
          format?: 'ndjson' | 'csv' | undefined
          /** Comma list of scheduled, queued, sending, sent, delivered, undelivered, rejected, failed, expired, unconfirmed, canceled, received. */
          status?: string | undefined
          delivery_status?: 'Delivered' | 'Failed' | undefined
          direction?: 'outbound' | 'inbound' | undefined
          /** Outbound messages to it; with direction=inbound, replies to it. */
          to?: string | undefined
          /** Outbound messages from it; with direction=inbound, replies from it. */
          from?: string | undefined
          /** A person's: messages to it and from it, in one list. With `direction`, those alone. */
          number?: string | undefined
          /** Id or key of a campaign. */
          campaign?: string | undefined
          /** Id of a contact. */
          contact?: string | undefined
          /** Why it failed, or is unconfirmed. */
          error_code?: string | undefined
          type?: 'transactional' | 'marketing' | 'otp' | undefined
          tag?: string | undefined
          /** Created at or after it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_after?: string | undefined
          /** Created before it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_before?: string | undefined
          /** Last changed at or after it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          updated_after?: string | undefined
          /** Last changed before it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          updated_before?: string | undefined
          /** Of so many segments or more. */
          segments_gte?: number | undefined
          /** Sent in test mode, or not. */
          test?: boolean | undefined
          [metadata: `metadata[${string}]`]: string | undefined
        }
      | undefined
    answer: Response
  }
  /**
   * What a message would be sent as, without sending it.
   *
   * A text, a template with its values, or a `campaign` alone, whose own text it is then; a campaign also brings its type, its sender and whether it has short links, where the body does not say. Texts of templates and campaigns need the scope campaigns:read.
   *
   * Scope: `messages:read`.
   */
  previewMessage: {
    body: {
      /** The text. */
      message?: string | undefined
      /** Id or name of a template, instead of `message`. */
      template?: string | undefined
      /** Values for the fields of the template; null counts as not given. */
      variables?: Record<string, string | number | boolean | null> | undefined
      /** BCP 47: which of the template's texts; the default one where it has none in this language. */
      language?: string | undefined
      /** Recipient in E.164: digits, a plus sign in front is allowed. */
      to?: string | undefined
      /** One of the account's senders; the campaign's or the account's default otherwise. An account without senders sends without one, and the carrier puts its own. */
      from?: string | undefined
      /** A pool of the account, one of whose senders is used. Not together with `from`. */
      sender_pool?: string | undefined
      /** Id or key of a campaign. */
      campaign?: string | undefined
      /** What it is for; otp goes first, marketing last. */
      type?: 'transactional' | 'marketing' | 'otp' | undefined
      /** auto: GSM-7 where the text allows it. */
      encoding?: 'auto' | 'gsm7' | 'ucs2' | undefined
      /** Replace typographic characters (curly quotes, dashes, ellipses, special spaces) where this alone brings the text into GSM-7. Never for codes. */
      smart_encoding?: boolean | undefined
      /** Put a short link of its own in the place of each address in the text, and count clicks. The campaign's or false otherwise. */
      shorten_urls?: boolean | undefined
    }
    answer: {
      object: 'preview'
      to: string | null
      /** With `to`: who it would be from; null: nobody, or it is not known. */
      from: string | null
      /** The campaign that it would be of. */
      campaign: string | null
      /** What it would be sent as. */
      type: 'transactional' | 'marketing' | 'otp'
      /** The text as it would be sent. */
      message: string
      encoding: 'GSM-7' | 'UCS-2'
      characters: number
      segments: number
      parts: {
        text: string
        characters: number
      }[]
      replaced: {
        character: string
        /** As U+2019; of a letter with combining marks, all of them. */
        code_point: string
        /** Empty where it was left out. */
        replacement: string
        count: number
      }[]
      warnings: {
        code: string
        detail: string
        /** Of `quiet_hours_hold`: when they end. */
        until?: string
        characters?: {
          character: string
          code_point: string
          position: number
        }[]
        replaced?: {
          character: string
          /** As U+2019; of a letter with combining marks, all of them. */
          code_point: string
          /** Empty where it was left out. */
          replacement: string
          count: number
        }[]
      }[]
      /** Whether the recipient has opted out; null without `to`. */
      opted_out: boolean | null
      /** With `to`: what it would cost; null: no price is known. */
      estimated_price?: {
        amount: string
        /** ISO 4217. */
        currency: string
      } | null
      /** With `to`: the carriers in the order in which they would be tried, and what each takes. */
      routes?: {
        /** The carrier. */
        carrier: string
        cost: {
          amount: string
          /** ISO 4217. */
          currency: string
        } | null
      }[]
    }
  }
  /**
   * Send a message.
   *
   * Scope: `messages:write`.
   */
  sendMessage: {
    body: {
      /** Recipient in E.164: digits, a plus sign in front is allowed. */
      to: string
      /** The text. */
      message?: string | undefined
      /** Id or key of a campaign. */
      campaign?: string | undefined
      /** One of the account's senders; the campaign's or the account's default otherwise. An account without senders sends without one, and the carrier puts its own. */
      from?: string | undefined
      /** A pool of the account, one of whose senders is used. Not together with `from`. */
      sender_pool?: string | undefined
      /** What it is for; otp goes first, marketing last. */
      type?: 'transactional' | 'marketing' | 'otp' | undefined
      /** auto: GSM-7 where the text allows it. */
      encoding?: 'auto' | 'gsm7' | 'ucs2' | undefined
      /** Replace typographic characters (curly quotes, dashes, ellipses, special spaces) where this alone brings the text into GSM-7. Never for codes. */
      smart_encoding?: boolean | undefined
      /** The most it may cost, by the estimate. Where no price is known it is sent. */
      max_price?:
        | {
            amount: string
            /** ISO 4217. */
            currency: string
          }
        | undefined
      /** Refuse a text that needs more. */
      max_segments?: number | undefined
      /** Put a short link of its own in the place of each address in the text, and count clicks. The campaign's or false otherwise. */
      shorten_urls?: boolean | undefined
      /** When to send it; up to 365 days ahead. */
      send_at?: string | undefined
      /** Seconds for which it is of use; the campaign's or 36000 otherwise. */
      validity_period?: number | undefined
      /** When the carrier does not answer: `hold` it as unconfirmed, or `resend`, perhaps twice. The campaign's, the account's or the link's otherwise. */
      on_unknown?: 'hold' | 'resend' | undefined
      /** false: the text is removed as soon as the message is over. true otherwise. */
      retain_content?: boolean | undefined
      /** Gets this message's events instead of the account's webhooks. */
      callback_url?: string | undefined
      /** Yours; returned with the message and in its events. */
      metadata?: Record<string, string> | undefined
      /** For filters. */
      tags?: readonly string[] | undefined
      /** Id or name of a template, instead of `message`. */
      template?: string | undefined
      /** Values for the fields of the template; null counts as not given. */
      variables?: Record<string, string | number | boolean | null> | undefined
      /** BCP 47: which of the template's texts; the default one where it has none in this language. */
      language?: string | undefined
    }
    answer: Message
  }
  /**
   * Get a message.
   *
   * Scope: `messages:read`.
   */
  getMessage: {
    path: {
      /** Id of a message. */
      id: string
    }
    answer: Message
  }
  /**
   * Cancel a scheduled or queued message.
   *
   * Scope: `messages:write`.
   */
  cancelMessage: {
    path: {
      /** Id of a message. */
      id: string
    }
    answer: Message
  }
  /**
   * What happened to a message, in order.
   *
   * Scope: `messages:read`.
   */
  getMessageTimeline: {
    path: {
      /** Id of a message. */
      id: string
    }
    answer: {
      data: {
        at: string
        /** accepted, scheduled, submitted, answered, receipt, or a status. */
        type: string
        detail: string
        segment?: number
        try?: number
        carrier_message_id?: string | null
        /** It repeats a try whose outcome was unknown: the carrier may have both. */
        possible_duplicate?: boolean
      }[]
    }
  }
  /**
   * Every decision about a message, with its rule and time.
   *
   * Scope: `messages:read`.
   */
  explainMessage: {
    path: {
      /** Id of a message. */
      id: string
    }
    answer: {
      object: 'explanation'
      /** The message. */
      message: string
      status:
        | 'scheduled'
        | 'queued'
        | 'sending'
        | 'sent'
        | 'delivered'
        | 'undelivered'
        | 'rejected'
        | 'failed'
        | 'expired'
        | 'unconfirmed'
        | 'canceled'
        | 'received'
      final: boolean
      /** In the order of time. */
      decisions: {
        /** When it was made. */
        at: string
        step: 'accept' | 'country' | 'sender' | 'route' | 'hold' | 'submit' | 'answer' | 'retry' | 'receipt' | 'outcome'
        /** What was decided. */
        decision: string | null
        /** By which rule: an id, a code, or the word of a carrier. */
        rule: string | null
        detail: string
        segment?: number
        try?: number
        /** The carrier. */
        carrier?: string | null
        carrier_message_id?: string | null
        possible_duplicate?: boolean
      }[]
    }
  }
  /**
   * The short links of a message, and how often they were clicked.
   *
   * Scope: `messages:read`.
   */
  listMessageLinks: {
    path: {
      /** Id of a message. */
      id: string
    }
    answer: {
      /** In the order of the text. */
      data: {
        object: 'short_link'
        /** Where it leads; null without the scope messages:read_body. */
        url: string | null
        /** As it stands in the text. */
        short_url: string | null
        /** Of people, as far as programs can be told from them. */
        clicks: number
        bot_clicks: number
        /** When a person first clicked. */
        first_clicked_at: string | null
        /** When a person last clicked. */
        last_clicked_at: string | null
      }[]
    }
  }
  /**
   * Remove the text of a message that is over.
   *
   * From the message, its events and its webhooks from now on, for ever. Numbers, times, segments and the outcome stay; so do `sequence` and `updated_at`, because nothing happened to the message. A message that is redacted is answered as it is.
   *
   * Scope: `messages:write`.
   */
  redactMessage: {
    path: {
      /** Id of a message. */
      id: string
    }
    answer: Message
  }
  /**
   * Send a message again whose outcome is unknown.
   *
   * The recipient may get it twice: the message says so from now on (`possible_duplicate`). It is noted who asked for it.
   *
   * Scope: `messages:write`.
   */
  resendMessage: {
    path: {
      /** Id of a message. */
      id: string
    }
    answer: Message
  }
  /**
   * OAuth 2.0 token endpoint.
   *
   * Grants `client_credentials`, `password` and `refresh_token`, form-encoded; errors as RFC 6749 §5.2 words them.
   */
  oauthToken: {
    body: URLSearchParams
    answer: {
      access_token: string
      token_type: 'Bearer'
      /** Seconds. */
      expires_in: number
      refresh_token: string
      /** Scopes, parted by spaces. */
      scope: string
    }
  }
  /**
   * List opt-outs, newest first.
   *
   * Filters go together. `reason` is looked for in 200,000 opt-outs a page at most: where few have it, a page may be short, or empty, and still have a `next_cursor`.
   *
   * Scope: `messages:read`.
   */
  listOptOuts: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          /** The opt-out of this number. */
          number?: string | undefined
          /** Where they came from. */
          source?: 'reply' | 'api' | 'import' | 'consent' | 'review' | 'carrier' | undefined
          /** Those whose reason has all of these words, or parts of words, whatever the case. */
          reason?: string | undefined
          /** Made at or after it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_after?: string | undefined
          /** Made before it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_before?: string | undefined
        }
      | undefined
    answer: Page<OptOut>
  }
  /**
   * Opt a number out.
   *
   * Of everything from the account; what waits for it is canceled. 200 where it was out before. No import and no contact takes it back: only the person, with START, or DELETE with a reason.
   *
   * Scope: `contacts:write`.
   */
  createOptOut: {
    body: {
      number: string
      /** Why, for the ledger of consent. */
      reason?: string | undefined
    }
    answer: OptOut
  }
  /**
   * Ask for many numbers whether they have opted out.
   *
   * Scope: `messages:read`.
   */
  checkOptOuts: {
    body: {
      numbers: readonly string[]
    }
    answer: {
      data: {
        /** As it is stored; as it was sent where it is no number. */
        number: string
        valid: boolean
        opted_out: boolean
        since: string | null
      }[]
    }
  }
  /**
   * All opt-outs as CSV, newest first.
   *
   * An import takes the file as it is. Numbers that were forgotten are not in it.
   *
   * Scope: `contacts:read`.
   */
  exportOptOuts: {
    answer: Response
  }
  /**
   * Opt the numbers of a list out.
   *
   * Up to 100000 rows. One bad row stops nothing. It may be repeated: what is out stays out, whatever the list says, and an answer that was lost can be asked for again.
   *
   * Scope: `contacts:write`.
   */
  importOptOuts: {
    query?:
      | {
          /** Of a text file, where neither its bytes nor its charset tell: `windows-1251`, `shift_jis`, `gb18030` … */
          encoding?: string | undefined
          /** What separates cells. Default: what fits the rows. */
          delimiter?: ',' | ';' | '	' | '|' | undefined
          /** The line with the names of the columns. Default: the first that has names. */
          header_line?: number | undefined
          /** Of a file: for names of columns that are not recognised `number`, `reason`, or null to leave one out. A JSON object. */
          mapping?: string | undefined
        }
      | undefined
    body:
      | {
          opt_outs: readonly unknown[]
        }
      | Upload
    answer: {
      object: 'opt_out_import'
      /** Rows, repeated numbers too. */
      total: number
      /** Numbers that are out now and were not before. */
      created: number
      /** Numbers that were out before. */
      existing: number
      /** Rows whose number was in an earlier row. */
      duplicate: number
      /** Rows without a number that can be, or that are no rows. */
      failed: number
      /** The first 1000. */
      errors: {
        line: number
        value: string
        code: string
        detail: string
        suggestion?: string
      }[]
      /** What a file was found to be; null for JSON. */
      detected: {
        encoding: string | null
        delimiter: string | null
        sheet: string | null
        /** The line with the names of the columns; 0: it has none. */
        header_line: number
        /** The column from which the numbers were taken. */
        number_column: string
      } | null
    }
  }
  /**
   * The keywords that hold for replies, and what is answered.
   *
   * Scope: `settings:read`.
   */
  getKeywords: {
    query?:
      | {
          /** Id or key of a campaign; without one, the account is meant. */
          campaign?: string | undefined
        }
      | undefined
    answer: Keywords
  }
  /**
   * Say what the keywords are.
   *
   * Takes the place of what was said before; what is left out is inherited: from the account for a campaign, from the defaults for the account. A reply goes by the campaign of the last message to the person. STOP always opts out.
   *
   * Scope: `settings:write`.
   */
  putKeywords: {
    query?:
      | {
          /** Id or key of a campaign; without one, the account is meant. */
          campaign?: string | undefined
        }
      | undefined
    body: {
      /** Whole replies that opt out. STOP is always among them. */
      stop_keywords?: readonly string[] | undefined
      /** Whole replies that take an opt-out back. */
      start_keywords?: readonly string[] | undefined
      /** Whole replies that ask for help. */
      help_keywords?: readonly string[] | undefined
      replies?:
        | {
            /** Answered once to an opt-out; `{{account_name}}` stands for the name of the account; null: nothing. */
            stop?: string | null | undefined
            /** Answered to an opt-in; null: nothing. */
            start?: string | null | undefined
            /** Answered to a call for help; null: nothing. */
            help?: string | null | undefined
          }
        | undefined
      /** What a reply does that only looks like STOP (`stop please`): `flag` for a person to look at, `ignore`, or `opt_out`. */
      on_suspicion?: 'flag' | 'ignore' | 'opt_out' | undefined
    }
    answer: Keywords
  }
  /**
   * Replies that may mean STOP, newest first.
   *
   * `stop please`, `S T O P`: nothing was done about them. They leave the list when somebody decides, or the person opts out.
   *
   * Scope: `messages:read`.
   */
  listSuspectedOptOuts: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<OptOutSuspicion>
  }
  /**
   * Say what such a reply means.
   *
   * Scope: `contacts:write`.
   */
  decideSuspectedOptOut: {
    path: {
      /** Id of the reply. */
      message: string
    }
    body: {
      /** `dismiss`: it did not mean STOP. */
      action: 'opt_out' | 'dismiss'
    }
    answer: undefined
  }
  /**
   * Get the opt-out of a number.
   *
   * Scope: `messages:read`.
   */
  getOptOut: {
    path: {
      /** E.164, with or without a plus sign. */
      number: string
    }
    answer: OptOut
  }
  /**
   * Let a number in again.
   *
   * Only where the person asked for it otherwise than with START. The reason stays in the ledger of consent.
   *
   * Scope: `contacts:write`.
   */
  deleteOptOut: {
    path: {
      /** E.164, with or without a plus sign. */
      number: string
    }
    query: {
      /** Who asked for it, and how. */
      reason: string
    }
    answer: undefined
  }
  /**
   * Forget the number of an opt-out, and go on refusing it.
   *
   * For the erasing of a person: the number is shown to nobody from now on, and taken away when nothing is on its way to it any more, some minutes later. A keyed hash stays, by which sends are still refused.
   *
   * Scope: `contacts:write`.
   */
  forgetOptOut: {
    path: {
      /** E.164, with or without a plus sign. */
      number: string
    }
    answer: OptOut
  }
  /**
   * List the replies to numbers that no account has, newest first.
   *
   * Scope: `carriers:read`.
   */
  listOrphanReplies: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          /** Only those of this carrier. */
          carrier?: string | undefined
          /** Only those to this number. */
          to?: string | undefined
        }
      | undefined
    answer: Page<OrphanReply>
  }
  /**
   * Give the replies to a number to a sender, and so to its account.
   *
   * All replies that came to the same number of the carrier, within seconds, as if they came now: STOP counts, START does not. Who registers the number itself as a sender is given them without this.
   *
   * Scope: `carriers:write`.
   */
  giveOrphanReply: {
    path: {
      /** Id of a reply. */
      id: string
    }
    body: {
      /** A sender of the same carrier. */
      sender: string
    }
    answer: {
      object: 'gift'
      replies: number
    }
  }
  /**
   * See what waits to be sent, by type and carrier.
   *
   * Scope: `carriers:read`.
   */
  getQueue: {
    answer: Queue
  }
  /**
   * List routes in their order.
   *
   * Scope: `routes:read`.
   */
  listRoutes: {
    query?:
      | {
          /** Position to begin at. */
          from?: number | undefined
          /** Items a page. */
          limit?: number | undefined
        }
      | undefined
    answer: {
      data: Route[]
      has_more: boolean
    }
  }
  /**
   * Create a route; it is in force within a second.
   *
   * Scope: `routes:write`.
   */
  createRoute: {
    body: {
      /** All members must hold; of a list, one item. */
      match: {
        /** Id of an account. */
        account?: string | undefined
        /** Id or key of a campaign of `account`. */
        campaign?: string | undefined
        type?: 'transactional' | 'marketing' | 'otp' | undefined
        /** ISO 3166-1 alpha-2, of the recipient. */
        countries?: readonly string[] | undefined
        /** First digits of the recipient's number, calling code included. */
        prefixes?: readonly string[] | undefined
        /** Numbers or names. */
        senders?: readonly string[] | undefined
      }
      /** Share the messages by weight. None: what the route matches is refused. */
      carriers: readonly {
        /** Id of a carrier. */
        carrier: string
        /** Its share; 0: only when others refuse. */
        weight?: number | undefined
        /** Of a segment, over this carrier; what its rate card says where nothing is said. */
        cost?:
          | {
              amount: string
              /** ISO 4217. */
              currency: string
            }
          | undefined
      }[]
      /** Your name for it. */
      name?: string | null | undefined
      /** Place among the routes; last where nothing is said. */
      position?: number | undefined
      /** Tried in this order after all of `carriers` have refused. */
      failover?:
        | readonly {
            /** Id of a carrier. */
            carrier: string
            /** Of a segment, over this carrier; what its rate card says where nothing is said. */
            cost?:
              | {
                  amount: string
                  /** ISO 4217. */
                  currency: string
                }
              | undefined
          }[]
        | undefined
      /** Of a message; carriers at which its segments would cost more are passed over, and those whose rate card has no price in its currency. */
      max_cost?:
        | {
            amount: string
            /** ISO 4217. */
            currency: string
          }
        | null
        | undefined
      enabled?: boolean | undefined
    }
    answer: Route
  }
  /**
   * Put all routes into another order.
   *
   * Scope: `routes:write`.
   */
  reorderRoutes: {
    body: {
      /** The ids of all routes, each once. */
      routes: readonly string[]
    }
    answer: undefined
  }
  /**
   * Which route a message would take, and why; nothing is sent.
   *
   * Scope: `routes:read`.
   */
  testRoute: {
    body: {
      /** E.164. */
      to: string
      /** Whose message; yours where nothing is said. */
      account?: string | undefined
      from?: string | undefined
      sender_pool?: string | undefined
      type?: 'transactional' | 'marketing' | 'otp' | undefined
      /** Id or key. */
      campaign?: string | undefined
      /** For its segments; one without it. */
      message?: string | undefined
    }
    answer: {
      object: 'route_test'
      /** `held`: it is accepted and waits, because no carrier of the chain is enabled and bound. */
      outcome: 'sent' | 'held' | 'refused'
      detail: string
      /** Code of the error that a send would be answered with. */
      refusal: string | null
      to: string
      /** Of the recipient, by the numbering plans. */
      country: string | null
      type: 'transactional' | 'marketing' | 'otp'
      /** Its campaign. */
      campaign: string | null
      segments: number
      sender: {
        /** Null: the carrier's own. */
        number: string | null
        /** Id of the sender. */
        sender: string | null
        /** Which rule chose it. */
        rule: string
        detail: string
        passed_over: {
          /** Id. */
          sender: string
          number: string
          reason: string
          detail: string
        }[]
      }
      /** The route that takes it; null: the default route, or none. */
      route: string | null
      /** In the order in which carriers are tried; with weights, one such order. */
      chain: {
        /** The carrier. */
        carrier: string
        name: string
        /** Its share of the route; null: failover, or the default route. */
        weight: number | null
        cost: {
          amount: string
          /** ISO 4217. */
          currency: string
        } | null
        links: {
          /** The link. */
          link: string
          state: 'down' | 'binding' | 'bound' | 'throttled' | 'disabled'
        }[]
      }[]
      /** Every route in order. */
      rules: {
        /** The route. */
        route: string
        position: number
        name: string | null
        matched: boolean
        taken: boolean
        /** The condition that did not hold. */
        reason: string | null
        detail: string
      }[]
    }
  }
  /**
   * Get a route.
   *
   * Scope: `routes:read`.
   */
  getRoute: {
    path: {
      /** Id of a route. */
      id: string
    }
    answer: Route
  }
  /**
   * Change or move a route; lists and `match` are replaced whole.
   *
   * Scope: `routes:write`.
   */
  updateRoute: {
    path: {
      /** Id of a route. */
      id: string
    }
    body: {
      /** All members must hold; of a list, one item. */
      match?:
        | {
            /** Id of an account. */
            account?: string | undefined
            /** Id or key of a campaign of `account`. */
            campaign?: string | undefined
            type?: 'transactional' | 'marketing' | 'otp' | undefined
            /** ISO 3166-1 alpha-2, of the recipient. */
            countries?: readonly string[] | undefined
            /** First digits of the recipient's number, calling code included. */
            prefixes?: readonly string[] | undefined
            /** Numbers or names. */
            senders?: readonly string[] | undefined
          }
        | undefined
      /** Share the messages by weight. None: what the route matches is refused. */
      carriers?:
        | readonly {
            /** Id of a carrier. */
            carrier: string
            /** Its share; 0: only when others refuse. */
            weight?: number | undefined
            /** Of a segment, over this carrier; what its rate card says where nothing is said. */
            cost?:
              | {
                  amount: string
                  /** ISO 4217. */
                  currency: string
                }
              | undefined
          }[]
        | undefined
      /** Your name for it. */
      name?: string | null | undefined
      /** Place among the routes; last where nothing is said. */
      position?: number | undefined
      /** Tried in this order after all of `carriers` have refused. */
      failover?:
        | readonly {
            /** Id of a carrier. */
            carrier: string
            /** Of a segment, over this carrier; what its rate card says where nothing is said. */
            cost?:
              | {
                  amount: string
                  /** ISO 4217. */
                  currency: string
                }
              | undefined
          }[]
        | undefined
      /** Of a message; carriers at which its segments would cost more are passed over, and those whose rate card has no price in its currency. */
      max_cost?:
        | {
            amount: string
            /** ISO 4217. */
            currency: string
          }
        | null
        | undefined
      enabled?: boolean | undefined
    }
    answer: Route
  }
  /**
   * Delete a route.
   *
   * Scope: `routes:write`.
   */
  deleteRoute: {
    path: {
      /** Id of a route. */
      id: string
    }
    answer: undefined
  }
  /**
   * List sender pools, newest first.
   *
   * Scope: `settings:read`.
   */
  listSenderPools: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<SenderPool>
  }
  /**
   * Let senders share messages.
   *
   * Scope: `settings:write`.
   */
  createSenderPool: {
    body: {
      /** Your name for it. */
      name: string
      /** `sticky`: a person keeps a sender for 90 days after its last message; `round_robin`: message by message. */
      strategy?: 'sticky' | 'round_robin' | undefined
      /** Those of the recipient’s country are preferred where there are any. */
      senders: readonly {
        /** Id of a sender of the account. */
        sender: string
        /** Its share among the others. */
        weight?: number | undefined
      }[]
    }
    answer: SenderPool
  }
  /**
   * Get a sender pool.
   *
   * Scope: `settings:read`.
   */
  getSenderPool: {
    path: {
      /** Id of a pool. */
      id: string
    }
    answer: SenderPool
  }
  /**
   * Change a sender pool; people keep their senders that stay in it.
   *
   * Scope: `settings:write`.
   */
  updateSenderPool: {
    path: {
      /** Id of a pool. */
      id: string
    }
    body: {
      /** Your name for it. */
      name?: string | undefined
      /** `sticky`: a person keeps a sender for 90 days after its last message; `round_robin`: message by message. */
      strategy?: 'sticky' | 'round_robin' | undefined
      /** Those of the recipient’s country are preferred where there are any. */
      senders?:
        | readonly {
            /** Id of a sender of the account. */
            sender: string
            /** Its share among the others. */
            weight?: number | undefined
          }[]
        | undefined
    }
    answer: SenderPool
  }
  /**
   * Delete a sender pool that no open campaign uses; its senders stay.
   *
   * Scope: `settings:write`.
   */
  deleteSenderPool: {
    path: {
      /** Id of a pool. */
      id: string
    }
    answer: undefined
  }
  /**
   * List the account's senders, newest first.
   *
   * Scope: `settings:read`.
   */
  listSenders: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          kind?: 'long_code' | 'short_code' | 'toll_free' | 'alphanumeric' | undefined
          /** ISO 3166-1 alpha-2. */
          country?: string | undefined
          /** Only those of this carrier. */
          carrier?: string | undefined
          /** Only this number or name. */
          number?: string | undefined
          default?: boolean | undefined
          /** Those of an account below yours; for who may `carriers:read`. */
          account?: string | undefined
        }
      | undefined
    answer: Page<Sender>
  }
  /**
   * Make a number or name one of the account's senders.
   *
   * Scope: `carriers:write`.
   */
  createSender: {
    body: {
      /** Whose sender it is: an account below yours; yours without it. */
      account?: string | undefined
      /** E.164, a short code of 3 to 8 digits, or up to 11 characters with a letter. */
      number: string
      /** Carrier that it belongs to. */
      carrier: string
      /** Told from the number where it is missing. */
      kind?: 'long_code' | 'short_code' | 'toll_free' | 'alphanumeric' | undefined
      /** ISO 3166-1 alpha-2. */
      country?: string | undefined
      /** `sms`: sends; `replies`: people can answer it; `international`: a short code that reaches other countries. */
      capabilities?: readonly ('sms' | 'replies' | 'international')[] | undefined
      /** Segments a second; null: its carrier's. */
      pace?: number | null | undefined
      /** For messages that name no sender. */
      default?: boolean | undefined
    }
    answer: Sender
  }
  /**
   * Get a sender.
   *
   * Scope: `settings:read`.
   */
  getSender: {
    path: {
      /** Id of a sender. */
      id: string
    }
    answer: Sender
  }
  /**
   * Change a sender; its number and kind stay.
   *
   * Scope: `carriers:write`.
   */
  updateSender: {
    path: {
      /** Id of a sender. */
      id: string
    }
    body: {
      /** Carrier that it belongs to. */
      carrier?: string | undefined
      /** ISO 3166-1 alpha-2. */
      country?: string | null | undefined
      /** `sms`: sends; `replies`: people can answer it; `international`: a short code that reaches other countries. */
      capabilities?: readonly ('sms' | 'replies' | 'international')[] | undefined
      /** Segments a second; null: its carrier's. */
      pace?: number | null | undefined
      /** For messages that name no sender. */
      default?: boolean | undefined
    }
    answer: Sender
  }
  /**
   * Give a sender up; it leaves its pools, and replies to it have no owner afterwards.
   *
   * Scope: `carriers:write`.
   */
  deleteSender: {
    path: {
      /** Id of a sender. */
      id: string
    }
    answer: undefined
  }
  /**
   * Settings of the account.
   *
   * Scope: `settings:read`.
   */
  getSettings: {
    answer: {
      object: 'settings'
      account: {
        id: string
        name: string
        status: string
      }
      mode: 'live' | 'test'
      default_sender: string | null
      /** What becomes of messages whose submit was not answered; null: as the carrier has it. */
      on_unknown: 'hold' | 'resend' | null
      default_country: string | null
      timezone: string
      /** ISO 3166-1 alpha-2 of the countries that may be written to; `*`: all. */
      allowed_countries: string[]
      /** Whether messages may go to premium numbers (+1 900 and the like of each country), whose recipients may earn by them. Default false. */
      allow_premium_numbers: boolean
      country_limits: {
        /** ISO 3166-1 alpha-2. */
        country: string
        /** Messages in an hour of the clock. */
        per_hour: number
        /** `alert` only records the event. */
        action: 'block' | 'alert'
      }[]
      velocity: {
        /** Messages in an hour of the clock to numbers that differ in the last four digits only; broadcasts do not count. */
        per_prefix_per_hour: number | null
      }
      /** Seconds in which the same text from the same sender to the same number is refused; 0: none. */
      dedupe_window: number
      approval: {
        /** Broadcasts to more recipients need the approval of somebody else. */
        recipients_above: number | null
      }
      quiet_hours: {
        enabled: boolean
        /** On the clock of the recipient. */
        start: string
        /** The first minute that is not quiet any more; on the next day where it is before `start`. */
        end: string
        /** Types of messages. Codes are never held. */
        applies_to: ('marketing' | 'transactional')[]
        /** IANA time zone of those whose own is not known, and whose number is of no country. */
        fallback_timezone: string
      }
      opt_out: {
        stop_keywords: string[]
        start_keywords: string[]
        help_keywords: string[]
        /** null: none. */
        replies: Record<string, string | null>
      }
      limits: {
        /** null: no limit. */
        api_per_second: number | null
        /** null: no limit. */
        segments_per_second: number | null
        max_batch: number
        max_import_rows: number
        /** null: no limit. */
        max_queue_seconds: number | null
        /** Segments a day of the account's clock; null: no limit. */
        daily_segments: number | null
        /** null: nobody counts, as there is no limit. */
        segments_today: number | null
      }
      spend: {
        /** null: no limit. */
        daily_limit: string | null
        spent_today: string | null
        currency: string | null
        resets_at: string | null
      }
      retention: {
        /** Texts of messages that are over; 0: only until they are. */
        message_body_days: number
        /** Texts of replies; 0: two minutes. */
        reply_body_days: number
        /** Messages without their texts: numbers, times, outcomes. */
        message_days: number
        /** Events, and the attempts to post them. */
        event_days: number
        /** The audit log. */
        audit_days: number
      }
      /** Encryption of texts and contacts in the database. The keys themselves are never shown. */
      encryption: {
        /** Texts of new messages, and contacts, are encrypted; the operator says so. */
        content: boolean
        key: {
          version: number
          /** When it was made. */
          created_at: string
        } | null
        /** null: all is encrypted with the key. */
        rotation: {
          /** Keys that still encrypt something. */
          retired_keys: number
          /** Messages up to this time have a later key than the oldest of them; null: it begins in some minutes. */
          done_until: string | null
        } | null
      }
      webhooks: {
        endpoints: number
        failing: number
        /** Of them: those that answered 410 or failed for days. Nothing is posted to them. */
        disabled: number
      }
      /** What this version can do. */
      features: Record<string, boolean>
      api_version: string
      server_version: string
    }
  }
  /**
   * Change settings of the account.
   *
   * With the `ETag` of the settings as `If-Match`, only if nobody has changed them since.
   *
   * Scope: `settings:write`.
   */
  updateSettings: {
    body: {
      account?:
        | {
            /** For people; confirmations of STOP say it. */
            name: string
          }
        | undefined
      on_unknown?: 'hold' | 'resend' | null | undefined
      /** Number or name of one of your senders. */
      default_sender?: string | null | undefined
      /** Of campaigns that do not say, ISO 3166-1 alpha-2. */
      default_country?: string | null | undefined
      quiet_hours?:
        | {
            enabled?: boolean | undefined
            /** On the clock of the recipient. */
            start?: string | undefined
            /** The first minute that is not quiet any more; on the next day where it is before `start`. */
            end?: string | undefined
            /** Types of messages. Codes are never held. */
            applies_to?: readonly ('marketing' | 'transactional')[] | undefined
            /** IANA time zone of those whose own is not known, and whose number is of no country. */
            fallback_timezone?: string | undefined
          }
        | undefined
      retention?:
        | {
            /** Texts of messages that are over; 0: only until they are. */
            message_body_days?: number | undefined
            /** Texts of replies; 0: two minutes. */
            reply_body_days?: number | undefined
            /** Messages without their texts: numbers, times, outcomes. */
            message_days?: number | undefined
            /** Events, and the attempts to post them. */
            event_days?: number | undefined
            /** The audit log. */
            audit_days?: number | undefined
          }
        | undefined
      /** IANA time zone; days of limits begin by it. */
      timezone?: string | undefined
      /** ISO 3166-1 alpha-2 of the countries that may be written to; `*`: all. */
      allowed_countries?: readonly string[] | undefined
      /** Whether messages may go to premium numbers (+1 900 and the like of each country), whose recipients may earn by them. Default false. */
      allow_premium_numbers?: boolean | undefined
      country_limits?:
        | readonly {
            /** ISO 3166-1 alpha-2. */
            country: string
            /** Messages in an hour of the clock. */
            per_hour: number
            /** `alert` only records the event. */
            action: 'block' | 'alert'
          }[]
        | undefined
      limits?:
        | {
            /** Segments a day of the account's clock; null: no limit. */
            daily_segments: number | null
          }
        | undefined
      spend?:
        | {
            /** What a day may cost; null: no limit. */
            daily_limit: string | null
            /** ISO 4217. */
            currency?: string | null | undefined
          }
        | undefined
      velocity?:
        | {
            /** Messages in an hour of the clock to numbers that differ in the last four digits only; broadcasts do not count. */
            per_prefix_per_hour: number | null
          }
        | undefined
      /** Seconds in which the same text from the same sender to the same number is refused; 0: none. */
      dedupe_window?: number | undefined
      approval?:
        | {
            /** Broadcasts to more recipients need the approval of somebody else. */
            recipients_above: number | null
          }
        | undefined
    }
    answer: {
      object: 'settings'
      account: {
        id: string
        name: string
        status: string
      }
      mode: 'live' | 'test'
      default_sender: string | null
      /** What becomes of messages whose submit was not answered; null: as the carrier has it. */
      on_unknown: 'hold' | 'resend' | null
      default_country: string | null
      timezone: string
      /** ISO 3166-1 alpha-2 of the countries that may be written to; `*`: all. */
      allowed_countries: string[]
      /** Whether messages may go to premium numbers (+1 900 and the like of each country), whose recipients may earn by them. Default false. */
      allow_premium_numbers: boolean
      country_limits: {
        /** ISO 3166-1 alpha-2. */
        country: string
        /** Messages in an hour of the clock. */
        per_hour: number
        /** `alert` only records the event. */
        action: 'block' | 'alert'
      }[]
      velocity: {
        /** Messages in an hour of the clock to numbers that differ in the last four digits only; broadcasts do not count. */
        per_prefix_per_hour: number | null
      }
      /** Seconds in which the same text from the same sender to the same number is refused; 0: none. */
      dedupe_window: number
      approval: {
        /** Broadcasts to more recipients need the approval of somebody else. */
        recipients_above: number | null
      }
      quiet_hours: {
        enabled: boolean
        /** On the clock of the recipient. */
        start: string
        /** The first minute that is not quiet any more; on the next day where it is before `start`. */
        end: string
        /** Types of messages. Codes are never held. */
        applies_to: ('marketing' | 'transactional')[]
        /** IANA time zone of those whose own is not known, and whose number is of no country. */
        fallback_timezone: string
      }
      opt_out: {
        stop_keywords: string[]
        start_keywords: string[]
        help_keywords: string[]
        /** null: none. */
        replies: Record<string, string | null>
      }
      limits: {
        /** null: no limit. */
        api_per_second: number | null
        /** null: no limit. */
        segments_per_second: number | null
        max_batch: number
        max_import_rows: number
        /** null: no limit. */
        max_queue_seconds: number | null
        /** Segments a day of the account's clock; null: no limit. */
        daily_segments: number | null
        /** null: nobody counts, as there is no limit. */
        segments_today: number | null
      }
      spend: {
        /** null: no limit. */
        daily_limit: string | null
        spent_today: string | null
        currency: string | null
        resets_at: string | null
      }
      retention: {
        /** Texts of messages that are over; 0: only until they are. */
        message_body_days: number
        /** Texts of replies; 0: two minutes. */
        reply_body_days: number
        /** Messages without their texts: numbers, times, outcomes. */
        message_days: number
        /** Events, and the attempts to post them. */
        event_days: number
        /** The audit log. */
        audit_days: number
      }
      /** Encryption of texts and contacts in the database. The keys themselves are never shown. */
      encryption: {
        /** Texts of new messages, and contacts, are encrypted; the operator says so. */
        content: boolean
        key: {
          version: number
          /** When it was made. */
          created_at: string
        } | null
        /** null: all is encrypted with the key. */
        rotation: {
          /** Keys that still encrypt something. */
          retired_keys: number
          /** Messages up to this time have a later key than the oldest of them; null: it begins in some minutes. */
          done_until: string | null
        } | null
      }
      webhooks: {
        endpoints: number
        failing: number
        /** Of them: those that answered 410 or failed for days. Nothing is posted to them. */
        disabled: number
      }
      /** What this version can do. */
      features: Record<string, boolean>
      api_version: string
      server_version: string
    }
  }
  /**
   * Encrypt texts with a new key.
   *
   * New texts and contacts are encrypted with it from 5 seconds later on, and in the background those that are there; then the old key is destroyed. `encryption` in the settings tells how far that is.
   *
   * Scope: `settings:write`.
   */
  rotateDataKey: {
    answer: {
      object: 'settings'
      account: {
        id: string
        name: string
        status: string
      }
      mode: 'live' | 'test'
      default_sender: string | null
      /** What becomes of messages whose submit was not answered; null: as the carrier has it. */
      on_unknown: 'hold' | 'resend' | null
      default_country: string | null
      timezone: string
      /** ISO 3166-1 alpha-2 of the countries that may be written to; `*`: all. */
      allowed_countries: string[]
      /** Whether messages may go to premium numbers (+1 900 and the like of each country), whose recipients may earn by them. Default false. */
      allow_premium_numbers: boolean
      country_limits: {
        /** ISO 3166-1 alpha-2. */
        country: string
        /** Messages in an hour of the clock. */
        per_hour: number
        /** `alert` only records the event. */
        action: 'block' | 'alert'
      }[]
      velocity: {
        /** Messages in an hour of the clock to numbers that differ in the last four digits only; broadcasts do not count. */
        per_prefix_per_hour: number | null
      }
      /** Seconds in which the same text from the same sender to the same number is refused; 0: none. */
      dedupe_window: number
      approval: {
        /** Broadcasts to more recipients need the approval of somebody else. */
        recipients_above: number | null
      }
      quiet_hours: {
        enabled: boolean
        /** On the clock of the recipient. */
        start: string
        /** The first minute that is not quiet any more; on the next day where it is before `start`. */
        end: string
        /** Types of messages. Codes are never held. */
        applies_to: ('marketing' | 'transactional')[]
        /** IANA time zone of those whose own is not known, and whose number is of no country. */
        fallback_timezone: string
      }
      opt_out: {
        stop_keywords: string[]
        start_keywords: string[]
        help_keywords: string[]
        /** null: none. */
        replies: Record<string, string | null>
      }
      limits: {
        /** null: no limit. */
        api_per_second: number | null
        /** null: no limit. */
        segments_per_second: number | null
        max_batch: number
        max_import_rows: number
        /** null: no limit. */
        max_queue_seconds: number | null
        /** Segments a day of the account's clock; null: no limit. */
        daily_segments: number | null
        /** null: nobody counts, as there is no limit. */
        segments_today: number | null
      }
      spend: {
        /** null: no limit. */
        daily_limit: string | null
        spent_today: string | null
        currency: string | null
        resets_at: string | null
      }
      retention: {
        /** Texts of messages that are over; 0: only until they are. */
        message_body_days: number
        /** Texts of replies; 0: two minutes. */
        reply_body_days: number
        /** Messages without their texts: numbers, times, outcomes. */
        message_days: number
        /** Events, and the attempts to post them. */
        event_days: number
        /** The audit log. */
        audit_days: number
      }
      /** Encryption of texts and contacts in the database. The keys themselves are never shown. */
      encryption: {
        /** Texts of new messages, and contacts, are encrypted; the operator says so. */
        content: boolean
        key: {
          version: number
          /** When it was made. */
          created_at: string
        } | null
        /** null: all is encrypted with the key. */
        rotation: {
          /** Keys that still encrypt something. */
          retired_keys: number
          /** Messages up to this time have a later key than the oldest of them; null: it begins in some minutes. */
          done_until: string | null
        } | null
      }
      webhooks: {
        endpoints: number
        failing: number
        /** Of them: those that answered 410 or failed for days. Nothing is posted to them. */
        disabled: number
      }
      /** What this version can do. */
      features: Record<string, boolean>
      api_version: string
      server_version: string
    }
  }
  /**
   * SMPP credentials of the account, newest first.
   *
   * Scope: `smpp:read`.
   */
  listSmppCredentials: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<SmppCredential>
  }
  /**
   * Make a credential for an SMPP client.
   *
   * An account has at most 100. The answer has the password, once.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `smpp:write`.
   */
  createSmppCredential: {
    body: {
      /** For you. */
      name: string
      /** False: its sessions are ended within five seconds, and it binds no more. */
      enabled?: boolean | undefined
      /** Networks that it may bind from; empty: any. */
      allowed_cidrs?: readonly string[] | undefined
      /** Sessions at one time, over all processes. */
      max_sessions?: number | undefined
      /** Unanswered requests of a session, each way. */
      window?: number | undefined
      /** Segments a second, over all its sessions; above it a submit is answered ESME_RTHROTTLED. */
      pace?: number | undefined
      /** What it means by data_coding 0. */
      default_alphabet?: 'gsm7' | 'latin1' | 'ascii' | undefined
      /** Whether replies to the account's numbers go to it, too. */
      receives_replies?: boolean | undefined
      /** How long replies come to it. */
      reply_concatenation?: 'udh8' | 'udh16' | 'sar' | 'payload' | undefined
    }
    answer: {
      /** The credential. */
      id: string
      object: 'smpp_credential'
      /** For you. */
      name: string
      /** The name to bind with. */
      system_id: string
      /** That of the key which made it. */
      mode: 'live' | 'test'
      /** False: its sessions are ended within five seconds, and it binds no more. */
      enabled: boolean
      /** Networks that it may bind from; empty: any. */
      allowed_cidrs: string[]
      /** Sessions at one time, over all processes. */
      max_sessions: number
      /** Unanswered requests of a session, each way. */
      window: number
      /** Segments a second, over all its sessions; above it a submit is answered ESME_RTHROTTLED. */
      pace: number
      /** What it means by data_coding 0. */
      default_alphabet: 'gsm7' | 'latin1' | 'ascii'
      /** Whether replies to the account's numbers go to it, too. */
      receives_replies: boolean
      /** How long replies come to it. */
      reply_concatenation: 'udh8' | 'udh16' | 'sar' | 'payload'
      /** Sessions that are bound now. */
      sessions: number
      /** Long messages that were not sent: parts did not come, or came under the reference of another. */
      incomplete_messages: number
      /** When the last of them was given up. */
      last_incomplete_at: string | null
      /** When it was made. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
      /** When it last bound. */
      last_bound_at: string | null
      /** Eight characters: shown only now. */
      password: string
    }
  }
  /**
   * One SMPP credential.
   *
   * Scope: `smpp:read`.
   */
  getSmppCredential: {
    path: {
      /** Id of a credential. */
      id: string
    }
    answer: SmppCredential
  }
  /**
   * Change what an SMPP client may do.
   *
   * Bound sessions follow within five seconds; those from networks no longer allowed are ended.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `smpp:write`.
   */
  updateSmppCredential: {
    path: {
      /** Id of a credential. */
      id: string
    }
    body: {
      /** For you. */
      name?: string | undefined
      /** False: its sessions are ended within five seconds, and it binds no more. */
      enabled?: boolean | undefined
      /** Networks that it may bind from; empty: any. */
      allowed_cidrs?: readonly string[] | undefined
      /** Sessions at one time, over all processes. */
      max_sessions?: number | undefined
      /** Unanswered requests of a session, each way. */
      window?: number | undefined
      /** Segments a second, over all its sessions; above it a submit is answered ESME_RTHROTTLED. */
      pace?: number | undefined
      /** What it means by data_coding 0. */
      default_alphabet?: 'gsm7' | 'latin1' | 'ascii' | undefined
      /** Whether replies to the account's numbers go to it, too. */
      receives_replies?: boolean | undefined
      /** How long replies come to it. */
      reply_concatenation?: 'udh8' | 'udh16' | 'sar' | 'payload' | undefined
    }
    answer: SmppCredential
  }
  /**
   * Delete an SMPP credential.
   *
   * Its sessions are ended within five seconds; receipts and replies that wait for it are forgotten.
   *
   * Scope: `smpp:write`.
   */
  deleteSmppCredential: {
    path: {
      /** Id of a credential. */
      id: string
    }
    answer: undefined
  }
  /**
   * Give an SMPP client another password.
   *
   * Sessions bound with the old one are ended within five seconds.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `smpp:write`.
   */
  rotateSmppPassword: {
    path: {
      /** Id of a credential. */
      id: string
    }
    answer: {
      /** The credential. */
      id: string
      object: 'smpp_credential'
      /** For you. */
      name: string
      /** The name to bind with. */
      system_id: string
      /** That of the key which made it. */
      mode: 'live' | 'test'
      /** False: its sessions are ended within five seconds, and it binds no more. */
      enabled: boolean
      /** Networks that it may bind from; empty: any. */
      allowed_cidrs: string[]
      /** Sessions at one time, over all processes. */
      max_sessions: number
      /** Unanswered requests of a session, each way. */
      window: number
      /** Segments a second, over all its sessions; above it a submit is answered ESME_RTHROTTLED. */
      pace: number
      /** What it means by data_coding 0. */
      default_alphabet: 'gsm7' | 'latin1' | 'ascii'
      /** Whether replies to the account's numbers go to it, too. */
      receives_replies: boolean
      /** How long replies come to it. */
      reply_concatenation: 'udh8' | 'udh16' | 'sar' | 'payload'
      /** Sessions that are bound now. */
      sessions: number
      /** Long messages that were not sent: parts did not come, or came under the reference of another. */
      incomplete_messages: number
      /** When the last of them was given up. */
      last_incomplete_at: string | null
      /** When it was made. */
      created_at: string
      /** When it was last changed. */
      updated_at: string
      /** When it last bound. */
      last_bound_at: string | null
      /** Eight characters: shown only now. */
      password: string
    }
  }
  /**
   * Create a template.
   *
   * Scope: `campaigns:write`.
   */
  createTemplate: {
    body: {
      /** Unique in the account; usable wherever the id is. */
      name: string
      /** The text with its merge fields. */
      body: string
      /** Language of the body (BCP 47); en otherwise. It is also the one of everybody whose language is not there. */
      language?: string | undefined
      /** The text in other languages, by their tags (BCP 47). `de` also serves `de-AT`. */
      languages?: Record<string, string> | undefined
    }
    answer: Template
  }
  /**
   * List templates, newest first.
   *
   * Scope: `campaigns:read`.
   */
  listTemplates: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          /** Those whose name has all of these words, or parts of words. */
          name?: string | undefined
          /** Those with a text in it; `en` finds `en-GB` too. */
          language?: string | undefined
          /** Made at or after it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_after?: string | undefined
          /** Made before it. A date alone (`2026-11-20`) is the start of its day in UTC. */
          created_before?: string | undefined
        }
      | undefined
    answer: Page<Template>
  }
  /**
   * Read a template.
   *
   * Scope: `campaigns:read`.
   */
  getTemplate: {
    path: {
      /** Id or name of a template. */
      template: string
    }
    answer: Template
  }
  /**
   * Change a template.
   *
   * Fields that are not given stay; `languages` is replaced as a whole. Messages and broadcasts that were accepted keep the text that they had.
   *
   * Scope: `campaigns:write`.
   */
  updateTemplate: {
    path: {
      /** Id or name of a template. */
      template: string
    }
    body: {
      /** Unique in the account; usable wherever the id is. */
      name?: string | undefined
      /** The text with its merge fields. */
      body?: string | undefined
      /** Language of the body (BCP 47); en otherwise. It is also the one of everybody whose language is not there. */
      language?: string | undefined
      /** The text in other languages, by their tags (BCP 47). `de` also serves `de-AT`. */
      languages?: Record<string, string> | undefined
    }
    answer: Template
  }
  /**
   * Delete a template.
   *
   * Messages and broadcasts that were accepted keep the text that they had. Refused while an open campaign has it as its text.
   *
   * Scope: `campaigns:write`.
   */
  deleteTemplate: {
    path: {
      /** Id or name of a template. */
      template: string
    }
    answer: undefined
  }
  /**
   * What a template would be sent as, for given values or for a contact.
   *
   * With a `campaign`, its type, its sender and whether it has short links count where the body does not say.
   *
   * Scope: `campaigns:read`.
   */
  previewTemplate: {
    path: {
      /** Id or name of a template. */
      template: string
    }
    body: {
      /** Values for the fields of the template; null counts as not given. */
      variables?: Record<string, string | number | boolean | null> | undefined
      /** BCP 47: which of the template's texts; the default one where it has none in this language. */
      language?: string | undefined
      /** Id or number of a contact of the campaign: its fields and attributes are the values, its language decides the text. `variables` and `language` go first. Needs the scope contacts:read. */
      contact?: string | undefined
      /** Recipient in E.164: digits, a plus sign in front is allowed. */
      to?: string | undefined
      /** One of the account's senders; the campaign's or the account's default otherwise. An account without senders sends without one, and the carrier puts its own. */
      from?: string | undefined
      /** A pool of the account, one of whose senders is used. Not together with `from`. */
      sender_pool?: string | undefined
      /** Id or key of a campaign. */
      campaign?: string | undefined
      /** What it is for; otp goes first, marketing last. */
      type?: 'transactional' | 'marketing' | 'otp' | undefined
      /** auto: GSM-7 where the text allows it. */
      encoding?: 'auto' | 'gsm7' | 'ucs2' | undefined
      /** Replace typographic characters (curly quotes, dashes, ellipses, special spaces) where this alone brings the text into GSM-7. Never for codes. */
      smart_encoding?: boolean | undefined
      /** Put a short link of its own in the place of each address in the text, and count clicks. The campaign's or false otherwise. */
      shorten_urls?: boolean | undefined
    }
    answer: {
      object: 'preview'
      to: string | null
      /** With `to`: who it would be from; null: nobody, or it is not known. */
      from: string | null
      /** The campaign that it would be of. */
      campaign: string | null
      /** What it would be sent as. */
      type: 'transactional' | 'marketing' | 'otp'
      /** The text as it would be sent. */
      message: string
      encoding: 'GSM-7' | 'UCS-2'
      characters: number
      segments: number
      parts: {
        text: string
        characters: number
      }[]
      replaced: {
        character: string
        /** As U+2019; of a letter with combining marks, all of them. */
        code_point: string
        /** Empty where it was left out. */
        replacement: string
        count: number
      }[]
      warnings: {
        code: string
        detail: string
        /** Of `quiet_hours_hold`: when they end. */
        until?: string
        characters?: {
          character: string
          code_point: string
          position: number
        }[]
        replaced?: {
          character: string
          /** As U+2019; of a letter with combining marks, all of them. */
          code_point: string
          /** Empty where it was left out. */
          replacement: string
          count: number
        }[]
      }[]
      /** Whether the recipient has opted out; null without `to`. */
      opted_out: boolean | null
      /** With `to`: what it would cost; null: no price is known. */
      estimated_price?: {
        amount: string
        /** ISO 4217. */
        currency: string
      } | null
      /** With `to`: the carriers in the order in which they would be tried, and what each takes. */
      routes?: {
        /** The carrier. */
        carrier: string
        cost: {
          amount: string
          /** ISO 4217. */
          currency: string
        } | null
      }[]
      /** Of the text that was taken. */
      language: string
    }
  }
  /**
   * Credentials for programs written for Twilio's API; at most ten.
   *
   * Scope: `keys:read`.
   */
  listTwilioCredentials: {
    answer: {
      data: TwilioCredential[]
    }
  }
  /**
   * Make one; it can send and read messages, and nothing else.
   *
   * Callbacks are signed with the oldest that is not revoked: to rotate, make a second, give it to your program, and revoke the first.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `keys:write`.
   */
  createTwilioCredential: {
    body: {
      name: string
      /** By default the maker's. */
      mode?: 'live' | 'test' | undefined
    }
    answer: {
      id: string
      object: 'twilio_credential'
      name: string
      mode: 'live' | 'test'
      /** User name of HTTP Basic; the same for all credentials of the account. */
      account_sid: string
      /** When it was made. */
      created_at: string
      /** Its last use, to the minute. */
      last_used_at: string | null
      /** Password of HTTP Basic, and key of X-Twilio-Signature: shown only now. */
      auth_token: string
    }
  }
  /**
   * Revoke one; known everywhere within five seconds.
   *
   * Scope: `keys:write`.
   */
  revokeTwilioCredential: {
    path: {
      id: string
    }
    answer: undefined
  }
  /**
   * What was sent, and what it costs.
   *
   * Messages by the hour in which they were accepted, so that the numbers of a span add up; what becomes of them later changes the hour in which they were. Exact at every moment. With `Accept: text/csv` the same as CSV. Groups with a comma between them are told apart together, a line for each combination that occurs. `account` and `group=account` are for who may `accounts:read`.
   *
   * Scope: `usage:read`.
   */
  getUsage: {
    query?:
      | {
          /** From the hour of this time on. Hours and days are those of UTC. A date alone (`2026-11-20`) is the start of its day in UTC. */
          from?: string | undefined
          /** To this time, which is not in it unless it is within an hour. A date alone (`2026-11-20`) is the start of its day in UTC. */
          to?: string | undefined
          /** What is told apart: day, month, country, carrier, campaign, type, account; or up to four of them, with commas between them. */
          group?: string | undefined
          /** Id of an account below yours, or of yours: its messages. */
          account?: string | undefined
          /** Messages of test mode instead. */
          test?: boolean | undefined
        }
      | undefined
    answer: {
      object: 'usage'
      /** From then on. */
      from: string
      /** Until before it. */
      to: string
      /** As it was asked for. */
      group: string
      data: {
        /** In UTC. */
        day?: string | null
        /** In UTC, such as 2026-11. */
        month?: string | null
        /** ISO 3166-1 alpha-2; null: of no country. */
        country?: string | null
        /** Null: with none of them. */
        carrier?: string | null
        /** Null: of none, automatic answers among them. */
        campaign?: string | null
        /** transactional, marketing or otp. */
        type?: string | null
        /** Yours, or one below it. */
        account?: string | null
        /** All to people: the sum of the next six. */
        messages: number
        queued: number
        sent: number
        delivered: number
        failed: number
        unconfirmed: number
        canceled: number
        replies: number
        /** Segments of `messages`. */
        segments: number
        /** Estimated cost of what carriers took or may have taken: an amount a currency, none where no rate is known. */
        cost: {
          amount: string
          /** ISO 4217. */
          currency: string
        }[]
      }[]
      total: {
        /** All to people: the sum of the next six. */
        messages: number
        queued: number
        sent: number
        delivered: number
        failed: number
        unconfirmed: number
        canceled: number
        replies: number
        /** Segments of `messages`. */
        segments: number
        /** Estimated cost of what carriers took or may have taken: an amount a currency, none where no rate is known. */
        cost: {
          amount: string
          /** ISO 4217. */
          currency: string
        }[]
      }
    }
  }
  /**
   * People of the account, newest first.
   *
   * Scope: `users:read`.
   */
  listUsers: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<User>
  }
  /**
   * Invite somebody.
   *
   * The answer has a code, once: give it to the person, who becomes a user with it (`POST /v1/auth/accept-invitation`). Heliogram sends no mail. An earlier invitation of the same address ends.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `users:write`.
   */
  createInvitation: {
    body: {
      email: string
      role: 'owner' | 'admin' | 'developer' | 'sender' | 'viewer'
    }
    answer: {
      /** The invitation. */
      id: string
      object: 'invitation'
      email: string
      role: 'owner' | 'admin' | 'developer' | 'sender' | 'viewer'
      /** When it was made. */
      created_at: string
      /** When it ends: after 7 days. */
      expires_at: string
      /** Give it to the person; shown only now. No mail is sent. */
      code: string
    }
  }
  /**
   * Open invitations, newest first.
   *
   * Scope: `users:read`.
   */
  listInvitations: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<Invitation>
  }
  /**
   * Withdraw an invitation.
   *
   * Scope: `users:write`.
   */
  deleteInvitation: {
    path: {
      id: string
    }
    answer: undefined
  }
  /**
   * Who you are.
   *
   * Scope: `profile:read`.
   */
  getMe: {
    answer: {
      /** The user. */
      id: string
      object: 'user'
      email: string
      role: 'owner' | 'admin' | 'developer' | 'sender' | 'viewer'
      status: 'active' | 'disabled'
      /** Whether a second factor is asked for at login. */
      totp: boolean
      /** When they came. */
      created_at: string
      /** When they were last changed. */
      updated_at: string
      /** How many codes can still stand in for the second factor. */
      recovery_codes_left: number
    }
  }
  /**
   * Change your password.
   *
   * Your other logins end: at once here, within five seconds on other nodes.
   *
   * Scope: `profile:write`.
   */
  updateMe: {
    body: {
      password: string
      current_password: string
    }
    answer: {
      /** The user. */
      id: string
      object: 'user'
      email: string
      role: 'owner' | 'admin' | 'developer' | 'sender' | 'viewer'
      status: 'active' | 'disabled'
      /** Whether a second factor is asked for at login. */
      totp: boolean
      /** When they came. */
      created_at: string
      /** When they were last changed. */
      updated_at: string
      /** How many codes can still stand in for the second factor. */
      recovery_codes_left: number
    }
  }
  /**
   * Show again who you are.
   *
   * What gives access to others (keys, people, webhooks, credentials, sub-accounts) asks a login for this when its password is more than an hour old: it answers 401 `insufficient_user_authentication` (RFC 9470). With a second factor, `otp` or `recovery_code` is needed as well.
   *
   * Scope: `profile:write`.
   */
  confirmMe: {
    body: {
      password: string
      /** The code that the app shows. */
      otp?: string | undefined
      recovery_code?: string | undefined
    }
    answer: {
      object: 'confirmation'
      /** Until when this login is not asked again. */
      confirmed_until: string
    }
  }
  /**
   * Prepare a second factor.
   *
   * Takes the password, because who found an open session could otherwise lock its owner out. Nothing changes before `/confirm`.
   *
   * Scope: `profile:write`.
   */
  beginTotp: {
    body: {
      password: string
    }
    answer: {
      object: 'totp'
      /** Base32, to be typed where no camera is. Shown only now. */
      secret: string
      /** For a QR code. */
      otpauth_url: string
    }
  }
  /**
   * Turn the second factor off.
   *
   * Takes one of: a code, a recovery code, the password.
   *
   * Scope: `profile:write`.
   */
  disableTotp: {
    body: {
      /** The code that the app shows. */
      otp?: string | undefined
      recovery_code?: string | undefined
      password?: string | undefined
    }
    answer: undefined
  }
  /**
   * Turn the second factor on.
   *
   * Takes a code of the prepared secret. The answer has ten recovery codes, shown only now; each works once.
   *
   * Scope: `profile:write`.
   */
  confirmTotp: {
    body: {
      /** The code that the app shows. */
      otp: string
    }
    answer: {
      object: 'recovery_codes'
      recovery_codes: string[]
    }
  }
  /**
   * One user.
   *
   * Scope: `users:read`.
   */
  getUser: {
    path: {
      id: string
    }
    answer: User
  }
  /**
   * Change somebody's role, or disable them.
   *
   * Who is disabled or gets another role is logged out: at once here, within five seconds on other nodes. Only owners make and change owners, nobody gives a role that may do more than they, and nobody changes themselves.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `users:write`.
   */
  updateUser: {
    path: {
      id: string
    }
    body: {
      role?: 'owner' | 'admin' | 'developer' | 'sender' | 'viewer' | undefined
      status?: 'active' | 'disabled' | undefined
    }
    answer: User
  }
  /**
   * Remove a user.
   *
   * They are logged out, and their address is free. API keys that they made belong to the account and stay.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `users:write`.
   */
  deleteUser: {
    path: {
      id: string
    }
    answer: undefined
  }
  /**
   * Create a webhook.
   *
   * An account has at most 20. The answer contains the signing secret, once.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `webhooks:write`.
   */
  createWebhook: {
    body: {
      /** Where events are posted: https, a public address, port 443 or 8443, unless the operator allows more. */
      url: string
      events?:
        | readonly (
            | '*'
            | 'message.*'
            | 'contact.*'
            | 'campaign.*'
            | 'guard.*'
            | 'spend.*'
            | 'import.*'
            | 'link.*'
            | 'sender.*'
            | 'webhook.*'
            | 'reply.*'
            | 'message.delivered'
            | 'message.failed'
            | 'message.received'
            | 'message.queued'
            | 'message.scheduled'
            | 'message.sent'
            | 'message.canceled'
            | 'message.unconfirmed'
            | 'contact.opted_out'
            | 'contact.opted_in'
            | 'contact.opt_out_suspected'
            | 'campaign.completed'
            | 'campaign.approval_needed'
            | 'campaign.approved'
            | 'campaign.rejected'
            | 'campaign.withdrawn'
            | 'campaign.held'
            | 'guard.tripped'
            | 'guard.released'
            | 'spend.limit_reached'
            | 'import.completed'
            | 'link.clicked'
            | 'link.down'
            | 'link.up'
            | 'link.throttled'
            | 'link.recovered'
            | 'sender.degraded'
            | 'sender.recovered'
            | 'webhook.failing'
            | 'webhook.recovered'
            | 'reply.orphaned'
            | 'webhook.answer_refused'
            | 'webhook.disabled'
            | 'webhook.test'
          )[]
        | undefined
      description?: string | null | undefined
      enabled?: boolean | undefined
      /** Headers that every post carries too, such as `Authorization`; at most 10, in 4096 characters. Kept encrypted and shown as `********`; that value in a change means: as it is. */
      headers?: Record<string, string> | undefined
      /** Events of one message are posted one after the other: one that fails holds back the later ones of its message, and no other. */
      ordered?: boolean | undefined
      /** Several events a post: `{"events": […]}`, signed as one, with a `webhook-id` of its own (`bat_…`). A 2xx takes all of them; anything else none, and each comes again with its own id, perhaps in other company. null: each event by itself. */
      batch?:
        | {
            /** Events a post, at most. */
            max_events: number
            /** The longest wait for more of them; 1000 otherwise. */
            max_wait_ms?: number | undefined
          }
        | null
        | undefined
      /** Whether texts of messages are in the posts. Only callers with the scope `messages:read_body` can turn it on; without that scope a new webhook, and one whose url is changed, has it off. */
      include_bodies?: boolean | undefined
    }
    answer: {
      /** The endpoint. */
      id: string
      object: 'webhook'
      url: string
      /** Event types, families (`message.*`) or `*`, as they were written. */
      events: string[]
      description: string | null
      /** What waits when it becomes false, and what happens until it is true again, is in the event log and is not posted later but by a replay. */
      enabled: boolean
      /** `gone`: it answered 410; `failing`: it failed for 5 days; `request`: by this API. */
      disabled_reason: string | null
      /** When it was disabled last. What it refused and what waited for it happened before: a replay that catches up begins an hour before `failing_since`, or before this. */
      disabled_at: string | null
      /** Headers that every post carries too, such as `Authorization`; at most 10, in 4096 characters. Kept encrypted and shown as `********`; that value in a change means: as it is. */
      headers: Record<string, string>
      /** Events of one message are posted one after the other: one that fails holds back the later ones of its message, and no other. */
      ordered: boolean
      /** Several events a post: `{"events": […]}`, signed as one, with a `webhook-id` of its own (`bat_…`). A 2xx takes all of them; anything else none, and each comes again with its own id, perhaps in other company. null: each event by itself. */
      batch: {
        /** Events a post, at most. */
        max_events: number
        /** The longest wait for more of them; 1000 otherwise. */
        max_wait_ms?: number
      } | null
      /** Whether texts of messages are in the posts. Only callers with the scope `messages:read_body` can turn it on; without that scope a new webhook, and one whose url is changed, has it off. */
      include_bodies: boolean
      /** The first failure since the last success, or since the url was changed; null while it works. */
      failing_since: string | null
      /** When it was created. */
      created_at: string
      /** When its settings were changed last. */
      updated_at: string
      /** Standard Webhooks secret. Shown once. */
      secret: string
    }
  }
  /**
   * List webhooks, newest first.
   *
   * Scope: `webhooks:read`.
   */
  listWebhooks: {
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<Webhook>
  }
  /**
   * Replace the secret that signs posts to `callback_url` addresses.
   *
   * One secret for the account, in force at once. Call it first to learn the secret.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `webhooks:write`.
   */
  rotateCallbackSecret: {
    answer: {
      /** Standard Webhooks secret. Shown once. */
      secret: string
    }
  }
  /**
   * Get a webhook.
   *
   * Scope: `webhooks:read`.
   */
  getWebhook: {
    path: {
      id: string
    }
    answer: Webhook
  }
  /**
   * Change a webhook.
   *
   * Fields that are not given stay, but headers of your own do not go to another host: give them again. What waits for a webhook when it is disabled is not posted, also when it is enabled again: replay it.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `webhooks:write`.
   */
  updateWebhook: {
    path: {
      id: string
    }
    body: {
      /** Where events are posted: https, a public address, port 443 or 8443, unless the operator allows more. */
      url?: string | undefined
      events?:
        | readonly (
            | '*'
            | 'message.*'
            | 'contact.*'
            | 'campaign.*'
            | 'guard.*'
            | 'spend.*'
            | 'import.*'
            | 'link.*'
            | 'sender.*'
            | 'webhook.*'
            | 'reply.*'
            | 'message.delivered'
            | 'message.failed'
            | 'message.received'
            | 'message.queued'
            | 'message.scheduled'
            | 'message.sent'
            | 'message.canceled'
            | 'message.unconfirmed'
            | 'contact.opted_out'
            | 'contact.opted_in'
            | 'contact.opt_out_suspected'
            | 'campaign.completed'
            | 'campaign.approval_needed'
            | 'campaign.approved'
            | 'campaign.rejected'
            | 'campaign.withdrawn'
            | 'campaign.held'
            | 'guard.tripped'
            | 'guard.released'
            | 'spend.limit_reached'
            | 'import.completed'
            | 'link.clicked'
            | 'link.down'
            | 'link.up'
            | 'link.throttled'
            | 'link.recovered'
            | 'sender.degraded'
            | 'sender.recovered'
            | 'webhook.failing'
            | 'webhook.recovered'
            | 'reply.orphaned'
            | 'webhook.answer_refused'
            | 'webhook.disabled'
            | 'webhook.test'
          )[]
        | undefined
      description?: string | null | undefined
      enabled?: boolean | undefined
      /** Headers that every post carries too, such as `Authorization`; at most 10, in 4096 characters. Kept encrypted and shown as `********`; that value in a change means: as it is. */
      headers?: Record<string, string> | undefined
      /** Events of one message are posted one after the other: one that fails holds back the later ones of its message, and no other. */
      ordered?: boolean | undefined
      /** Several events a post: `{"events": […]}`, signed as one, with a `webhook-id` of its own (`bat_…`). A 2xx takes all of them; anything else none, and each comes again with its own id, perhaps in other company. null: each event by itself. */
      batch?:
        | {
            /** Events a post, at most. */
            max_events: number
            /** The longest wait for more of them; 1000 otherwise. */
            max_wait_ms?: number | undefined
          }
        | null
        | undefined
      /** Whether texts of messages are in the posts. Only callers with the scope `messages:read_body` can turn it on; without that scope a new webhook, and one whose url is changed, has it off. */
      include_bodies?: boolean | undefined
    }
    answer: Webhook
  }
  /**
   * Delete a webhook.
   *
   * Scope: `webhooks:write`.
   */
  deleteWebhook: {
    path: {
      id: string
    }
    answer: undefined
  }
  /**
   * List the attempts at a webhook, newest first.
   *
   * Scope: `webhooks:read`.
   */
  listWebhookDeliveries: {
    path: {
      id: string
    }
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
          /** true: attempts that were answered 2xx; false: the others. */
          delivery_success?: boolean | undefined
        }
      | undefined
    answer: Page<Attempt>
  }
  /**
   * Post events of a time again.
   *
   * With the ids they had, oldest first, beside what is fresh and without delaying it. Events with a callback address are among them. At most 5 replays of a webhook run at a time.
   *
   * Scope: `webhooks:write`.
   */
  replayWebhook: {
    path: {
      id: string
    }
    body: {
      /** Events recorded from then on; up to 30 days ago. */
      since: string
      /** Events recorded before then; now otherwise. */
      until?: string | undefined
      /** The events of the webhook otherwise. */
      types?:
        | readonly (
            | 'message.delivered'
            | 'message.failed'
            | 'message.received'
            | 'message.queued'
            | 'message.scheduled'
            | 'message.sent'
            | 'message.canceled'
            | 'message.unconfirmed'
            | 'contact.opted_out'
            | 'contact.opted_in'
            | 'contact.opt_out_suspected'
            | 'campaign.completed'
            | 'campaign.approval_needed'
            | 'campaign.approved'
            | 'campaign.rejected'
            | 'campaign.withdrawn'
            | 'campaign.held'
            | 'guard.tripped'
            | 'guard.released'
            | 'spend.limit_reached'
            | 'import.completed'
            | 'link.clicked'
            | 'link.down'
            | 'link.up'
            | 'link.throttled'
            | 'link.recovered'
            | 'sender.degraded'
            | 'sender.recovered'
            | 'webhook.failing'
            | 'webhook.recovered'
            | 'reply.orphaned'
            | 'webhook.answer_refused'
            | 'webhook.disabled'
            | 'webhook.test'
          )[]
        | undefined
      /** Only events that this webhook was posted and has never taken. What happened while it was disabled was not posted, and is none of them. */
      only_failed?: boolean | undefined
    }
    answer: Replay
  }
  /**
   * List the replays of a webhook, newest first.
   *
   * Scope: `webhooks:read`.
   */
  listReplays: {
    path: {
      id: string
    }
    query?:
      | {
          /** Items a page. */
          limit?: number | undefined
          /** A cursor of an earlier page with the same filters. */
          cursor?: string | undefined
        }
      | undefined
    answer: Page<Replay>
  }
  /**
   * Get a replay: how far it is.
   *
   * Scope: `webhooks:read`.
   */
  getReplay: {
    path: {
      id: string
      replay: string
    }
    answer: Replay
  }
  /**
   * Cancel a replay.
   *
   * Posts that are under way, at most a few hundred, may still arrive. A replay that is over stays as it is.
   *
   * Scope: `webhooks:write`.
   */
  cancelReplay: {
    path: {
      id: string
      replay: string
    }
    answer: Replay
  }
  /**
   * Replace the signing secret.
   *
   * Posts carry a signature of the old secret too, until the grace time is over.
   *
   * A login asks for the password again where that was longer than an hour ago.
   *
   * Scope: `webhooks:write`.
   */
  rotateWebhookSecret: {
    path: {
      id: string
    }
    body: {
      /** Default 86400, a day; at most 7 days. */
      grace_seconds?: number | undefined
    } | null
    answer: {
      /** The endpoint. */
      id: string
      object: 'webhook'
      url: string
      /** Event types, families (`message.*`) or `*`, as they were written. */
      events: string[]
      description: string | null
      /** What waits when it becomes false, and what happens until it is true again, is in the event log and is not posted later but by a replay. */
      enabled: boolean
      /** `gone`: it answered 410; `failing`: it failed for 5 days; `request`: by this API. */
      disabled_reason: string | null
      /** When it was disabled last. What it refused and what waited for it happened before: a replay that catches up begins an hour before `failing_since`, or before this. */
      disabled_at: string | null
      /** Headers that every post carries too, such as `Authorization`; at most 10, in 4096 characters. Kept encrypted and shown as `********`; that value in a change means: as it is. */
      headers: Record<string, string>
      /** Events of one message are posted one after the other: one that fails holds back the later ones of its message, and no other. */
      ordered: boolean
      /** Several events a post: `{"events": […]}`, signed as one, with a `webhook-id` of its own (`bat_…`). A 2xx takes all of them; anything else none, and each comes again with its own id, perhaps in other company. null: each event by itself. */
      batch: {
        /** Events a post, at most. */
        max_events: number
        /** The longest wait for more of them; 1000 otherwise. */
        max_wait_ms?: number
      } | null
      /** Whether texts of messages are in the posts. Only callers with the scope `messages:read_body` can turn it on; without that scope a new webhook, and one whose url is changed, has it off. */
      include_bodies: boolean
      /** The first failure since the last success, or since the url was changed; null while it works. */
      failing_since: string | null
      /** When it was created. */
      created_at: string
      /** When its settings were changed last. */
      updated_at: string
      /** Standard Webhooks secret. Shown once. */
      secret: string
    }
  }
  /**
   * Post a `webhook.test` event to this webhook.
   *
   * Scope: `webhooks:write`.
   */
  testWebhook: {
    path: {
      id: string
    }
    answer: {
      event: string
      type: string
    }
  }
}
/** What is posted to webhooks, by its type. */
export interface Events {
  /** The network confirmed the delivery. */
  'message.delivered': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'message.delivered'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      message: Message
      /** Null where the message is new. */
      previous_status: string | null
      /** What the receipt said. */
      carrier?: {
        mcc: string | null
        mnc: string | null
        /** The carrier's own error code. */
        code: string | null
        /** The carrier's own word for the state. */
        raw: string
      } | null
    }
  }
  /** The message will not be delivered; `error.code` says why. */
  'message.failed': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'message.failed'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      message: Message
      /** Null where the message is new. */
      previous_status: string | null
      /** What the receipt said. */
      carrier?: {
        mcc: string | null
        mnc: string | null
        /** The carrier's own error code. */
        code: string | null
        /** The carrier's own word for the state. */
        raw: string
      } | null
    }
  }
  /** A person wrote to one of your numbers. */
  'message.received': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'message.received'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      message: Message
    }
  }
  /** The message was accepted. */
  'message.queued': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'message.queued'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      message: Message
      /** Null where the message is new. */
      previous_status: string | null
      /** What the receipt said. */
      carrier?: {
        mcc: string | null
        mnc: string | null
        /** The carrier's own error code. */
        code: string | null
        /** The carrier's own word for the state. */
        raw: string
      } | null
    }
  }
  /** The message was accepted for a later time. */
  'message.scheduled': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'message.scheduled'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      message: Message
      /** Null where the message is new. */
      previous_status: string | null
      /** What the receipt said. */
      carrier?: {
        mcc: string | null
        mnc: string | null
        /** The carrier's own error code. */
        code: string | null
        /** The carrier's own word for the state. */
        raw: string
      } | null
    }
  }
  /** The carrier took every segment. */
  'message.sent': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'message.sent'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      message: Message
      /** Null where the message is new. */
      previous_status: string | null
      /** What the receipt said. */
      carrier?: {
        mcc: string | null
        mnc: string | null
        /** The carrier's own error code. */
        code: string | null
        /** The carrier's own word for the state. */
        raw: string
      } | null
    }
  }
  /** The message was canceled before it was sent. */
  'message.canceled': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'message.canceled'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      message: Message
      /** Null where the message is new. */
      previous_status: string | null
      /** What the receipt said. */
      carrier?: {
        mcc: string | null
        mnc: string | null
        /** The carrier's own error code. */
        code: string | null
        /** The carrier's own word for the state. */
        raw: string
      } | null
    }
  }
  /** The outcome is not known; a late receipt may still settle it. */
  'message.unconfirmed': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'message.unconfirmed'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      message: Message
      /** Null where the message is new. */
      previous_status: string | null
      /** What the receipt said. */
      carrier?: {
        mcc: string | null
        mnc: string | null
        /** The carrier's own error code. */
        code: string | null
        /** The carrier's own word for the state. */
        raw: string
      } | null
    }
  }
  /** A person opted out. */
  'contact.opted_out': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'contact.opted_out'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      phone_number: string
      /** Where it was said: by keyword, by the API, in an import. */
      source: string
      reason: string | null
      keyword: string | null
      /** Id of the reply that said so. */
      message: string | null
      campaign: string | null
    }
  }
  /** A person opted in again. */
  'contact.opted_in': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'contact.opted_in'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      phone_number: string
      /** Where it was said: by keyword, by the API, in an import. */
      source: string
      reason: string | null
      keyword: string | null
      /** Id of the reply that said so. */
      message: string | null
      campaign: string | null
    }
  }
  /** A reply may mean STOP; a person should look at it. */
  'contact.opt_out_suspected': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'contact.opt_out_suspected'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      phone_number: string
      message: Message
      campaign: string | null
    }
  }
  /** The last message of a broadcast has left. */
  'campaign.completed': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'campaign.completed'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      broadcast: Broadcast
    }
  }
  /** A broadcast waits for the approval of somebody else. */
  'campaign.approval_needed': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'campaign.approval_needed'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      broadcast: Broadcast
    }
  }
  /** A broadcast was approved. */
  'campaign.approved': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'campaign.approved'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      broadcast: Broadcast
    }
  }
  /** A broadcast was rejected; nothing of it is sent. */
  'campaign.rejected': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'campaign.rejected'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      broadcast: Broadcast
    }
  }
  /** A broadcast was withdrawn; nothing of it is sent. */
  'campaign.withdrawn': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'campaign.withdrawn'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      broadcast: Broadcast
    }
  }
  /** A broadcast waits for the end of a guard that it ran into. */
  'campaign.held': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'campaign.held'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      broadcast: Broadcast
    }
  }
  /** A guard has stopped messages; told once, not for each. */
  'guard.tripped': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'guard.tripped'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      guard: Guard
    }
  }
  /** A guard was released, or its limit changed. */
  'guard.released': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'guard.released'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      guard: Guard
    }
  }
  /** A limit of the day has stopped messages. */
  'spend.limit_reached': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'spend.limit_reached'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      guard: Guard
    }
  }
  /** An import of contacts is over. */
  'import.completed': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'import.completed'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      import: Import
    }
  }
  /** A person clicked on a short link for the first time. */
  'link.clicked': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'link.clicked'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      message: Message
      link: {
        /** Null where texts are hidden. */
        url: string | null
        /** Null where texts are hidden. */
        short_url: string | null
        /** When the person clicked. */
        clicked_at: string
      }
    }
  }
  /** A link has had no session for ten seconds. */
  'link.down': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'link.down'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      alert: Alert
    }
  }
  /** A link that was down has had one again for ten seconds. */
  'link.up': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'link.up'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      alert: Alert
    }
  }
  /** A carrier has kept a link slower than its pace for half a minute. */
  'link.throttled': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'link.throttled'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      alert: Alert
    }
  }
  /** A link that was throttled has its pace again. */
  'link.recovered': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'link.recovered'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      alert: Alert
    }
  }
  /** Less than 70 % of the messages of a sender arrive. */
  'sender.degraded': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'sender.degraded'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      alert: Alert
    }
  }
  /** At least 80 % of the messages of such a sender arrive again. */
  'sender.recovered': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'sender.recovered'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      alert: Alert
    }
  }
  /** An endpoint has answered nothing but failures for ten seconds. */
  'webhook.failing': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'webhook.failing'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      alert: Alert
    }
  }
  /** An endpoint that was failing answers well again. */
  'webhook.recovered': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'webhook.recovered'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      alert: Alert
    }
  }
  /** A reply came to a number that no account has. */
  'reply.orphaned': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'reply.orphaned'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      alert: Alert
    }
  }
  /** An answer to an incoming message in Twilio's form was not done, or not all of it. */
  'webhook.answer_refused': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'webhook.answer_refused'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      /** Id of the webhook that gave the answer. */
      webhook: string
      /** Id of the event that it answered. */
      event: string
      /** Id of the incoming message. */
      message: string
      faults: {
        /** The element of the TwiML; null: the whole answer. */
        element: string | null
        /** Its place among the elements of the answer, from 1. */
        position: number | null
        /** Twilio's number of the error. */
        code: number
        detail: string
      }[]
    }
  }
  /** An endpoint was disabled. */
  'webhook.disabled': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'webhook.disabled'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      webhook: Webhook
    }
  }
  /** A test that somebody asked for. */
  'webhook.test': {
    /** The same at every try and replay; equals the webhook-id header of a post of one. */
    id: string
    type: 'webhook.test'
    /** When it was recorded. */
    timestamp: string
    api_version: string
    /** Grows with every event of a message: keep the highest. */
    sequence: number
    data: {
      webhook: Webhook
    }
  }
}
/** Method and path of each operation. */
export const routes = {
  getHealth: 'GET /healthz',
  getMetrics: 'GET /metrics',
  listAccounts: 'GET /v1/accounts',
  createAccount: 'POST /v1/accounts',
  getAccount: 'GET /v1/accounts/{id}',
  updateAccount: 'PATCH /v1/accounts/{id}',
  createAccountApiKey: 'POST /v1/accounts/{id}/api-keys',
  closeAccount: 'POST /v1/accounts/{id}/close',
  reopenAccount: 'POST /v1/accounts/{id}/reopen',
  listAlerts: 'GET /v1/alerts',
  listApiKeys: 'GET /v1/api-keys',
  createApiKey: 'POST /v1/api-keys',
  getApiKey: 'GET /v1/api-keys/{id}',
  revokeApiKey: 'DELETE /v1/api-keys/{id}',
  updateApiKey: 'PATCH /v1/api-keys/{id}',
  rotateApiKey: 'POST /v1/api-keys/{id}/rotate',
  listAuditEvents: 'GET /v1/audit-events',
  verifyAuditEvents: 'GET /v1/audit-events/verify',
  acceptInvitation: 'POST /v1/auth/accept-invitation',
  login: 'POST /v1/auth/login',
  logout: 'POST /v1/auth/logout',
  refreshToken: 'POST /v1/auth/refresh',
  listAllBroadcasts: 'GET /v1/broadcasts',
  getBroadcast: 'GET /v1/broadcasts/{id}',
  approveBroadcast: 'POST /v1/broadcasts/{id}/approve',
  rejectBroadcast: 'POST /v1/broadcasts/{id}/reject',
  withdrawBroadcast: 'POST /v1/broadcasts/{id}/withdraw',
  createCampaign: 'POST /v1/campaigns',
  listCampaigns: 'GET /v1/campaigns',
  getCampaign: 'GET /v1/campaigns/{campaign}',
  updateCampaign: 'PATCH /v1/campaigns/{campaign}',
  archiveCampaign: 'POST /v1/campaigns/{campaign}/archive',
  listBroadcasts: 'GET /v1/campaigns/{campaign}/broadcasts',
  cancelCampaign: 'POST /v1/campaigns/{campaign}/cancel',
  createContact: 'POST /v1/campaigns/{campaign}/contacts',
  listContacts: 'GET /v1/campaigns/{campaign}/contacts',
  exportContacts: 'GET /v1/campaigns/{campaign}/contacts/export',
  importContacts: 'POST /v1/campaigns/{campaign}/contacts/import',
  getContact: 'GET /v1/campaigns/{campaign}/contacts/{contact}',
  updateContact: 'PATCH /v1/campaigns/{campaign}/contacts/{contact}',
  deleteContact: 'DELETE /v1/campaigns/{campaign}/contacts/{contact}',
  listImports: 'GET /v1/campaigns/{campaign}/imports',
  pauseCampaign: 'POST /v1/campaigns/{campaign}/pause',
  resumeCampaign: 'POST /v1/campaigns/{campaign}/resume',
  sendCampaign: 'POST /v1/campaigns/{campaign}/send',
  getCampaignStats: 'GET /v1/campaigns/{campaign}/stats',
  exportCampaignStats: 'GET /v1/campaigns/{campaign}/stats/export',
  listCarriers: 'GET /v1/carriers',
  createCarrier: 'POST /v1/carriers',
  getCarrier: 'GET /v1/carriers/{id}',
  updateCarrier: 'PATCH /v1/carriers/{id}',
  deleteCarrier: 'DELETE /v1/carriers/{id}',
  diagnoseReceipts: 'GET /v1/carriers/{id}/doctor',
  rematchReceipts: 'POST /v1/carriers/{id}/doctor/rematch',
  listLinks: 'GET /v1/carriers/{id}/links',
  createLink: 'POST /v1/carriers/{id}/links',
  listStatusMappings: 'GET /v1/carriers/{id}/mappings',
  deleteStatusMappings: 'DELETE /v1/carriers/{id}/mappings',
  replaceStatusMappings: 'PUT /v1/carriers/{id}/mappings',
  updateStatusMappings: 'PATCH /v1/carriers/{id}/mappings',
  getRates: 'GET /v1/carriers/{id}/rates',
  replaceRates: 'PUT /v1/carriers/{id}/rates',
  testRates: 'POST /v1/carriers/{id}/rates/test',
  listUnmatchedReceipts: 'GET /v1/carriers/{id}/receipts',
  listConsent: 'GET /v1/consent',
  recordConsent: 'POST /v1/consent',
  exportConsent: 'GET /v1/consent/export',
  listConversations: 'GET /v1/conversations',
  getConversation: 'GET /v1/conversations/{conversation}',
  updateConversation: 'PATCH /v1/conversations/{conversation}',
  listConversationMessages: 'GET /v1/conversations/{conversation}/messages',
  replyInConversation: 'POST /v1/conversations/{conversation}/messages',
  readConversation: 'POST /v1/conversations/{conversation}/read',
  listDeprecations: 'GET /v1/deprecations',
  createErasure: 'POST /v1/erasures',
  listErasures: 'GET /v1/erasures',
  getErasure: 'GET /v1/erasures/{id}',
  listErrors: 'GET /v1/errors',
  listEvents: 'GET /v1/events',
  streamEvents: 'GET /v1/events/stream',
  getEvent: 'GET /v1/events/{id}',
  listEventDeliveries: 'GET /v1/events/{id}/deliveries',
  redeliverEvent: 'POST /v1/events/{id}/redeliver',
  listGuards: 'GET /v1/guards',
  listGuardLimits: 'GET /v1/guards/limits',
  releaseGuard: 'POST /v1/guards/{id}/release',
  getImport: 'GET /v1/imports/{import}',
  cancelImport: 'POST /v1/imports/{import}/cancel',
  listImportErrors: 'GET /v1/imports/{import}/errors',
  updateLink: 'PATCH /v1/links/{id}',
  deleteLink: 'DELETE /v1/links/{id}',
  getLink: 'GET /v1/links/{id}',
  createMessage: 'POST /v1/messages',
  listMessages: 'GET /v1/messages',
  sendBatch: 'POST /v1/messages/batch',
  exportMessages: 'GET /v1/messages/export',
  previewMessage: 'POST /v1/messages/preview',
  sendMessage: 'POST /v1/messages/send',
  getMessage: 'GET /v1/messages/{id}',
  cancelMessage: 'POST /v1/messages/{id}/cancel',
  getMessageTimeline: 'GET /v1/messages/{id}/events',
  explainMessage: 'GET /v1/messages/{id}/explain',
  listMessageLinks: 'GET /v1/messages/{id}/links',
  redactMessage: 'POST /v1/messages/{id}/redact',
  resendMessage: 'POST /v1/messages/{id}/resend',
  oauthToken: 'POST /v1/oauth/token',
  listOptOuts: 'GET /v1/opt-outs',
  createOptOut: 'POST /v1/opt-outs',
  checkOptOuts: 'POST /v1/opt-outs/check',
  exportOptOuts: 'GET /v1/opt-outs/export',
  importOptOuts: 'POST /v1/opt-outs/import',
  getKeywords: 'GET /v1/opt-outs/keywords',
  putKeywords: 'PUT /v1/opt-outs/keywords',
  listSuspectedOptOuts: 'GET /v1/opt-outs/suspected',
  decideSuspectedOptOut: 'POST /v1/opt-outs/suspected/{message}',
  getOptOut: 'GET /v1/opt-outs/{number}',
  deleteOptOut: 'DELETE /v1/opt-outs/{number}',
  forgetOptOut: 'POST /v1/opt-outs/{number}/forget',
  listOrphanReplies: 'GET /v1/orphan-replies',
  giveOrphanReply: 'POST /v1/orphan-replies/{id}/give',
  getQueue: 'GET /v1/queue',
  listRoutes: 'GET /v1/routes',
  createRoute: 'POST /v1/routes',
  reorderRoutes: 'POST /v1/routes/reorder',
  testRoute: 'POST /v1/routes/test',
  getRoute: 'GET /v1/routes/{id}',
  updateRoute: 'PATCH /v1/routes/{id}',
  deleteRoute: 'DELETE /v1/routes/{id}',
  listSenderPools: 'GET /v1/sender-pools',
  createSenderPool: 'POST /v1/sender-pools',
  getSenderPool: 'GET /v1/sender-pools/{id}',
  updateSenderPool: 'PATCH /v1/sender-pools/{id}',
  deleteSenderPool: 'DELETE /v1/sender-pools/{id}',
  listSenders: 'GET /v1/senders',
  createSender: 'POST /v1/senders',
  getSender: 'GET /v1/senders/{id}',
  updateSender: 'PATCH /v1/senders/{id}',
  deleteSender: 'DELETE /v1/senders/{id}',
  getSettings: 'GET /v1/settings',
  updateSettings: 'PATCH /v1/settings',
  rotateDataKey: 'POST /v1/settings/rotate-data-key',
  listSmppCredentials: 'GET /v1/smpp-credentials',
  createSmppCredential: 'POST /v1/smpp-credentials',
  getSmppCredential: 'GET /v1/smpp-credentials/{id}',
  updateSmppCredential: 'PATCH /v1/smpp-credentials/{id}',
  deleteSmppCredential: 'DELETE /v1/smpp-credentials/{id}',
  rotateSmppPassword: 'POST /v1/smpp-credentials/{id}/rotate-password',
  createTemplate: 'POST /v1/templates',
  listTemplates: 'GET /v1/templates',
  getTemplate: 'GET /v1/templates/{template}',
  updateTemplate: 'PATCH /v1/templates/{template}',
  deleteTemplate: 'DELETE /v1/templates/{template}',
  previewTemplate: 'POST /v1/templates/{template}/preview',
  listTwilioCredentials: 'GET /v1/twilio-credentials',
  createTwilioCredential: 'POST /v1/twilio-credentials',
  revokeTwilioCredential: 'DELETE /v1/twilio-credentials/{id}',
  getUsage: 'GET /v1/usage',
  listUsers: 'GET /v1/users',
  createInvitation: 'POST /v1/users/invitations',
  listInvitations: 'GET /v1/users/invitations',
  deleteInvitation: 'DELETE /v1/users/invitations/{id}',
  getMe: 'GET /v1/users/me',
  updateMe: 'PATCH /v1/users/me',
  confirmMe: 'POST /v1/users/me/confirm',
  beginTotp: 'POST /v1/users/me/totp',
  disableTotp: 'DELETE /v1/users/me/totp',
  confirmTotp: 'POST /v1/users/me/totp/confirm',
  getUser: 'GET /v1/users/{id}',
  updateUser: 'PATCH /v1/users/{id}',
  deleteUser: 'DELETE /v1/users/{id}',
  createWebhook: 'POST /v1/webhooks',
  listWebhooks: 'GET /v1/webhooks',
  rotateCallbackSecret: 'POST /v1/webhooks/callback-secret/rotate',
  getWebhook: 'GET /v1/webhooks/{id}',
  updateWebhook: 'PATCH /v1/webhooks/{id}',
  deleteWebhook: 'DELETE /v1/webhooks/{id}',
  listWebhookDeliveries: 'GET /v1/webhooks/{id}/deliveries',
  replayWebhook: 'POST /v1/webhooks/{id}/replay',
  listReplays: 'GET /v1/webhooks/{id}/replays',
  getReplay: 'GET /v1/webhooks/{id}/replays/{replay}',
  cancelReplay: 'POST /v1/webhooks/{id}/replays/{replay}/cancel',
  rotateWebhookSecret: 'POST /v1/webhooks/{id}/rotate-secret',
  testWebhook: 'POST /v1/webhooks/{id}/test',
} as const satisfies Record<keyof Operations, string>
/** The operations that take an Idempotency-Key, and can be repeated with it. */
export const keyed: ReadonlySet<keyof Operations> = new Set([
  'createAccount',
  'updateAccount',
  'createAccountApiKey',
  'closeAccount',
  'reopenAccount',
  'createApiKey',
  'revokeApiKey',
  'updateApiKey',
  'rotateApiKey',
  'approveBroadcast',
  'rejectBroadcast',
  'withdrawBroadcast',
  'createCampaign',
  'updateCampaign',
  'archiveCampaign',
  'cancelCampaign',
  'createContact',
  'importContacts',
  'updateContact',
  'deleteContact',
  'pauseCampaign',
  'resumeCampaign',
  'sendCampaign',
  'createCarrier',
  'updateCarrier',
  'deleteCarrier',
  'rematchReceipts',
  'createLink',
  'deleteStatusMappings',
  'replaceStatusMappings',
  'updateStatusMappings',
  'replaceRates',
  'testRates',
  'recordConsent',
  'updateConversation',
  'replyInConversation',
  'readConversation',
  'redeliverEvent',
  'releaseGuard',
  'cancelImport',
  'updateLink',
  'deleteLink',
  'createMessage',
  'sendBatch',
  'previewMessage',
  'sendMessage',
  'cancelMessage',
  'redactMessage',
  'resendMessage',
  'createOptOut',
  'checkOptOuts',
  'importOptOuts',
  'putKeywords',
  'decideSuspectedOptOut',
  'deleteOptOut',
  'forgetOptOut',
  'giveOrphanReply',
  'createRoute',
  'reorderRoutes',
  'testRoute',
  'updateRoute',
  'deleteRoute',
  'createSenderPool',
  'updateSenderPool',
  'deleteSenderPool',
  'createSender',
  'updateSender',
  'deleteSender',
  'updateSettings',
  'rotateDataKey',
  'createSmppCredential',
  'updateSmppCredential',
  'deleteSmppCredential',
  'rotateSmppPassword',
  'createTemplate',
  'updateTemplate',
  'deleteTemplate',
  'previewTemplate',
  'createTwilioCredential',
  'revokeTwilioCredential',
  'createInvitation',
  'deleteInvitation',
  'updateUser',
  'deleteUser',
  'createWebhook',
  'rotateCallbackSecret',
  'updateWebhook',
  'deleteWebhook',
  'replayWebhook',
  'cancelReplay',
  'rotateWebhookSecret',
  'testWebhook',
] as const)
/** The scope that each operation asks of who calls it; those that are not here ask for none. */
export const scopes = {
  listAccounts: 'accounts:read',
  createAccount: 'accounts:write',
  getAccount: 'accounts:read',
  updateAccount: 'accounts:write',
  createAccountApiKey: 'accounts:write',
  closeAccount: 'accounts:write',
  reopenAccount: 'accounts:write',
  listAlerts: 'events:read',
  listApiKeys: 'keys:read',
  createApiKey: 'keys:write',
  getApiKey: 'keys:read',
  revokeApiKey: 'keys:write',
  updateApiKey: 'keys:write',
  rotateApiKey: 'keys:write',
  listAuditEvents: 'audit:read',
  verifyAuditEvents: 'audit:read',

  listAllBroadcasts: 'campaigns:read',
  getBroadcast: 'campaigns:read',
  approveBroadcast: 'campaigns:approve',
  rejectBroadcast: 'campaigns:approve',
  withdrawBroadcast: 'campaigns:write',
  createCampaign: 'campaigns:write',
  listCampaigns: 'campaigns:read',
  getCampaign: 'campaigns:read',
  updateCampaign: 'campaigns:write',
  archiveCampaign: 'campaigns:write',
  listBroadcasts: 'campaigns:read',
  cancelCampaign: 'campaigns:write',
  createContact: 'contacts:write',
  listContacts: 'contacts:read',
  exportContacts: 'contacts:read',
  importContacts: 'contacts:write',
  getContact: 'contacts:read',
  updateContact: 'contacts:write',
  deleteContact: 'contacts:write',
  listImports: 'contacts:read',
  pauseCampaign: 'campaigns:write',
  resumeCampaign: 'campaigns:write',
  sendCampaign: 'campaigns:write',
  getCampaignStats: 'campaigns:read',
  exportCampaignStats: 'campaigns:read',
  listCarriers: 'carriers:read',
  createCarrier: 'carriers:write',
  getCarrier: 'carriers:read',
  updateCarrier: 'carriers:write',
  deleteCarrier: 'carriers:write',
  diagnoseReceipts: 'carriers:read',
  rematchReceipts: 'carriers:write',
  listLinks: 'carriers:read',
  createLink: 'carriers:write',
  listStatusMappings: 'carriers:read',
  deleteStatusMappings: 'carriers:write',
  replaceStatusMappings: 'carriers:write',
  updateStatusMappings: 'carriers:write',
  getRates: 'carriers:read',
  replaceRates: 'carriers:write',
  testRates: 'carriers:read',
  listUnmatchedReceipts: 'carriers:read',
  listConsent: 'contacts:read',
  recordConsent: 'contacts:write',
  exportConsent: 'contacts:read',
  listConversations: 'messages:read',
  getConversation: 'messages:read',
  updateConversation: 'messages:write',
  listConversationMessages: 'messages:read',
  replyInConversation: 'messages:write',
  readConversation: 'messages:write',
  listDeprecations: 'keys:read',
  createErasure: 'privacy:write',
  listErasures: 'privacy:read',
  getErasure: 'privacy:read',

  listEvents: 'events:read',
  streamEvents: 'events:read',
  getEvent: 'events:read',
  listEventDeliveries: 'events:read',
  redeliverEvent: 'webhooks:write',
  listGuards: 'settings:read',
  listGuardLimits: 'settings:read',
  releaseGuard: 'settings:write',
  getImport: 'contacts:read',
  cancelImport: 'contacts:write',
  listImportErrors: 'contacts:read',
  updateLink: 'carriers:write',
  deleteLink: 'carriers:write',
  getLink: 'carriers:read',
  createMessage: 'messages:write',
  listMessages: 'messages:read',
  sendBatch: 'messages:write',
  exportMessages: 'messages:read',
  previewMessage: 'messages:read',
  sendMessage: 'messages:write',
  getMessage: 'messages:read',
  cancelMessage: 'messages:write',
  getMessageTimeline: 'messages:read',
  explainMessage: 'messages:read',
  listMessageLinks: 'messages:read',
  redactMessage: 'messages:write',
  resendMessage: 'messages:write',

  listOptOuts: 'messages:read',
  createOptOut: 'contacts:write',
  checkOptOuts: 'messages:read',
  exportOptOuts: 'contacts:read',
  importOptOuts: 'contacts:write',
  getKeywords: 'settings:read',
  putKeywords: 'settings:write',
  listSuspectedOptOuts: 'messages:read',
  decideSuspectedOptOut: 'contacts:write',
  getOptOut: 'messages:read',
  deleteOptOut: 'contacts:write',
  forgetOptOut: 'contacts:write',
  listOrphanReplies: 'carriers:read',
  giveOrphanReply: 'carriers:write',
  getQueue: 'carriers:read',
  listRoutes: 'routes:read',
  createRoute: 'routes:write',
  reorderRoutes: 'routes:write',
  testRoute: 'routes:read',
  getRoute: 'routes:read',
  updateRoute: 'routes:write',
  deleteRoute: 'routes:write',
  listSenderPools: 'settings:read',
  createSenderPool: 'settings:write',
  getSenderPool: 'settings:read',
  updateSenderPool: 'settings:write',
  deleteSenderPool: 'settings:write',
  listSenders: 'settings:read',
  createSender: 'carriers:write',
  getSender: 'settings:read',
  updateSender: 'carriers:write',
  deleteSender: 'carriers:write',
  getSettings: 'settings:read',
  updateSettings: 'settings:write',
  rotateDataKey: 'settings:write',
  listSmppCredentials: 'smpp:read',
  createSmppCredential: 'smpp:write',
  getSmppCredential: 'smpp:read',
  updateSmppCredential: 'smpp:write',
  deleteSmppCredential: 'smpp:write',
  rotateSmppPassword: 'smpp:write',
  createTemplate: 'campaigns:write',
  listTemplates: 'campaigns:read',
  getTemplate: 'campaigns:read',
  updateTemplate: 'campaigns:write',
  deleteTemplate: 'campaigns:write',
  previewTemplate: 'campaigns:read',
  listTwilioCredentials: 'keys:read',
  createTwilioCredential: 'keys:write',
  revokeTwilioCredential: 'keys:write',
  getUsage: 'usage:read',
  listUsers: 'users:read',
  createInvitation: 'users:write',
  listInvitations: 'users:read',
  deleteInvitation: 'users:write',
  getMe: 'profile:read',
  updateMe: 'profile:write',
  confirmMe: 'profile:write',
  beginTotp: 'profile:write',
  disableTotp: 'profile:write',
  confirmTotp: 'profile:write',
  getUser: 'users:read',
  updateUser: 'users:write',
  deleteUser: 'users:write',
  createWebhook: 'webhooks:write',
  listWebhooks: 'webhooks:read',
  rotateCallbackSecret: 'webhooks:write',
  getWebhook: 'webhooks:read',
  updateWebhook: 'webhooks:write',
  deleteWebhook: 'webhooks:write',
  listWebhookDeliveries: 'webhooks:read',
  replayWebhook: 'webhooks:write',
  listReplays: 'webhooks:read',
  getReplay: 'webhooks:read',
  cancelReplay: 'webhooks:write',
  rotateWebhookSecret: 'webhooks:write',
  testWebhook: 'webhooks:write',
} as const satisfies Partial<Record<keyof Operations, string>>
