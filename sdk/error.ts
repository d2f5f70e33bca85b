import type { Problem } from './operations.ts'

interface Failure {
  code: string
  title: string
  detail: string
  status?: number | undefined
  problem?: Problem | undefined
  requestId?: string | undefined
  retryAfterMs?: number | undefined
  cause?: unknown
}

/**
 * A failed call: refused by the API, answered by something else, or not answered. Branch on `code`: one of the API's (`GET /v1/errors`), or
 * `unreachable` (no response), `timeout`, or `unexpected_answer` (not the API's).
 */
export class HeliogramError extends Error {
  override readonly name = 'HeliogramError'
  readonly code: string
  readonly title: string
  readonly detail: string
  /** Of the response; 0 if there was none. */
  readonly status: number
  /** All faulty fields: `pointer` is a path in the body (`#/to`), or names a parameter (`?limit`). */
  readonly errors: NonNullable<Problem['errors']>
  /** Quote it when you ask for help. */
  readonly requestId: string | undefined
  /** Time until the same request can succeed, if the API says so. */
  readonly retryAfterMs: number | undefined
  /** Whether the same request can succeed later. */
  readonly retryable: boolean
  /** The whole response, if it came from the API. */
  readonly problem: Problem | undefined

  constructor(failure: Failure) {
    super(`${failure.code}: ${failure.detail}`, failure.cause === undefined ? undefined : { cause: failure.cause })
    const { problem, status = 0 } = failure
    this.code = failure.code
    this.title = failure.title
    this.detail = failure.detail
    this.status = status
    this.errors = problem?.errors ?? []
    this.requestId = failure.requestId
    this.retryAfterMs = failure.retryAfterMs
    this.retryable = problem?.retryable ?? [0, 408, 429, 502, 503, 504].includes(status)
    this.problem = problem
  }
}

export async function errorOf(response: Response): Promise<HeliogramError> {
  const { status, statusText, headers } = response
  const requestId = headers.get('x-request-id') ?? undefined
  const retryAfterMs = readRetryAfter(headers.get('retry-after'))
  const told = parse(await response.text().catch(() => ''))
  if (typeof told['code'] === 'string' && typeof told['detail'] === 'string') {
    const problem = told as Problem
    const { code, title, detail } = problem
    return new HeliogramError({
      code,
      title,
      detail,
      status,
      problem,
      requestId: requestId ?? problem.request_id,
      retryAfterMs,
    })
  }
  // The token endpoint uses OAuth's format.
  if (typeof told['error'] === 'string') {
    const { error: code, error_description: about } = told
    const detail = typeof about === 'string' ? about : code
    return new HeliogramError({ code, title: statusText || code, detail, status, requestId, retryAfterMs })
  }
  const title = statusText || `HTTP ${status}`
  const elsewhere = headers.get('location')
  const detail = elsewhere
    ? `The base URL leads elsewhere, to ${elsewhere}: give the address that answers`
    : `The answer is no answer of the API: ${status} ${statusText}`.trimEnd()
  return new HeliogramError({ code: 'unexpected_answer', title, detail, status, requestId, retryAfterMs })
}

function parse(text: string): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>
  } catch {
    return {}
  }
}

/** Retry-After has seconds or a date. Returns milliseconds. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
