/** Failures: with advice for people, as JSON for programs, and the exit code. */
import type { HeliogramError } from '@heliogram/sdk'
import { exits, Failure } from '../exit.ts'
import { note, paintNote } from './output.ts'
import { clean, safeJson } from './text.ts'

/** Prints it and returns the exit code. Rethrows bugs. */
export function tell(error: unknown, url: string | null, isJson: boolean): number {
  if (error instanceof Failure) {
    if (isJson) note(safeJson({ code: codeOf(error.exit), detail: error.message }))
    else note(`${paintNote('red', error.message)}${error.advice === null ? '' : `\n${error.advice}`}`)
    return error.exit
  }
  if (!isRefusal(error)) throw error
  const exit = exitOf(error)
  if (isJson) {
    const { code, title, detail, status } = error
    note(safeJson(error.problem ?? { code, title, detail, status, request_id: error.requestId }))
    return exit
  }
  const { code, status } = error
  note(`${paintNote('red', clean(error.detail))} ${paintNote('dim', `(${status === 0 ? '' : `${status} `}${code})`)}`)
  for (const { pointer, detail, suggestion } of error.errors)
    note(
      `  ${paintNote('bold', clean(fieldOf(pointer)))} ${clean(detail)}${suggestion && !detail.includes(suggestion) ? `; did you mean ${clean(suggestion)}?` : ''}`,
    )
  for (const line of adviceOf(error, url)) note(line)
  if (error.requestId) note(paintNote('dim', `Request ${error.requestId}`))
  return exit
}

/** Checked by name, because help does not load the SDK. */
const isRefusal = (error: unknown): error is HeliogramError => error instanceof Error && error.name === 'HeliogramError'

function exitOf({ status, code }: HeliogramError): number {
  if (status === 401) return exits.loggedOut
  return status === 0 || status >= 500 || code === 'unexpected_answer' ? exits.unreachable : exits.refused
}

/** `#/messages/3/to` is `messages.3.to`, `?limit` is `limit`. */
const fieldOf = (pointer: string): string =>
  pointer.replace(/^#\//, '').replace(/^\?/, '').replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')

function adviceOf({ code, status, retryAfterMs, problem }: HeliogramError, url: string | null): string[] {
  if (code === 'unreachable' || code === 'timeout')
    return [
      `Is it running at ${url}? On its own machine "npm start" starts it; use --url or HELIOGRAM_URL for another address.`,
    ]
  if (code === 'unexpected_answer') return [`Is ${url} a Heliogram installation?`]
  const lines =
    status === 401 && !['otp_required', 'invalid_otp', 'invalid_credentials'].includes(code)
      ? ['Run "heliogram login", or set HELIOGRAM_API_KEY to a valid key.']
      : []
  if (retryAfterMs !== undefined) lines.push(`It may succeed in ${Math.ceil(retryAfterMs / 1000)} s.`)
  if (problem) lines.push(`More: ${url}/docs/errors/${code}`)
  return lines
}

const codeOf = (exit: number): string =>
  Object.entries(exits)
    .find(([, value]) => value === exit)?.[0]
    .replace(/[A-Z]/g, (char) => `_${char.toLowerCase()}`) ?? 'failed'
