/** Checks of a webhook beyond its schema. */
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { readPostUrl, refusalDetails } from '../post/address.ts'
import type { Destinations } from '../post/destination.ts'
import { pointerOf } from '../post/headers.ts'
import { receiverOrigin } from '../post/receiver.ts'
import type { WebhookChange } from '../post/resource.ts'

const headersMax = 10
// Most servers take 8 KiB of headers in all.
const headersCharactersMax = 4096
// RFC 9110 §5.6.2, without characters that servers reject in practice.
const headerName = /^[a-z0-9][a-z0-9_-]{0,63}$/i
const headerValue = /^[\x20-\x7e]*$/
// They steer the connection, or are set by us.
const ownNames = new Set(
  (
    'host connection keep-alive te trailer transfer-encoding upgrade expect via forwarded ' +
    'accept accept-encoding user-agent date cookie origin referer range'
  ).split(' '),
)
const ownPrefixes = ['content-', 'webhook-', 'proxy-', 'sec-', 'x-forwarded-', 'if-']

/**
 * Checks a webhook's url and headers, all at once; `known` holds the faults that the schema found.
 * @throws ApiError `validation_failed`.
 */
export async function checkInput(
  input: WebhookChange,
  destinations: Destinations,
  known: readonly FieldError[],
): Promise<void> {
  const errors = [
    ...known,
    ...(input.url === undefined ? [] : await checkUrl(input.url, destinations)),
    ...(input.headers === undefined ? [] : checkHeaders(input.headers)),
  ]
  if (errors.length > 0) throw invalid(errors)
}

async function checkUrl(text: string, destinations: Destinations): Promise<FieldError[]> {
  const wrong = (detail: string): FieldError[] => [{ pointer: '#/url', code: 'invalid_url', detail }]
  const url = readPostUrl(text)
  if (typeof url === 'string') return wrong(url)
  if (url.origin === receiverOrigin) return []
  const fault = await destinations.check(url)
  // A name may resolve later; if not, the attempts report it.
  return fault === null || fault === 'dns' ? [] : wrong(refusalDetails[fault])
}

function checkHeaders(headers: Record<string, string>): FieldError[] {
  const names = Object.keys(headers)
  const wrong = (name: string, detail: string): FieldError => ({
    pointer: pointerOf(name),
    code: 'invalid_value',
    detail,
  })
  const seen = new Set<string>()
  const errors = names.flatMap((name) => {
    const lower = name.toLowerCase()
    if (!headerName.test(name)) return [wrong(name, 'is not a valid header name')]
    if (seen.size === seen.add(lower).size) return [wrong(name, 'occurs twice: names ignore case')]
    if (ownNames.has(lower) || ownPrefixes.some((prefix) => lower.startsWith(prefix)))
      return [wrong(name, 'is set by the connection or by Heliogram')]
    if (!headerValue.test(headers[name] ?? '')) return [wrong(name, 'must be visible ASCII characters and spaces')]
    return []
  })
  if (names.length > headersMax)
    errors.push({
      pointer: '#/headers',
      code: 'too_long',
      detail: `must have at most ${headersMax} headers; it has ${names.length}`,
    })
  const characters = names.reduce((sum, name) => sum + name.length + (headers[name] ?? '').length, 0)
  if (characters > headersCharactersMax)
    errors.push({
      pointer: '#/headers',
      code: 'too_long',
      detail: `must have at most ${headersCharactersMax} characters in total; it has ${characters}`,
    })
  return errors
}
