/** What a schema cannot say about a webhook's fields. */
import { invalid, type FieldError } from '../errors.ts'
import type { DestinationFault, Destinations } from './destination.ts'
import { pointerOf } from './headers.ts'
import type { WebhookChange } from './resource.ts'

const headersMax = 10
// Most servers take 8 KiB of headers in all.
const headersCharactersMax = 4096
// RFC 9110 §5.6.2, without what is only legal on paper.
const headerName = /^[a-z0-9][a-z0-9_-]{0,63}$/i
const headerValue = /^[\x20-\x7e]*$/
// They steer the connection, or are ours to say.
const ownNames = new Set(
  (
    'host connection keep-alive te trailer transfer-encoding upgrade expect via forwarded ' +
    'accept accept-encoding user-agent date cookie origin referer range'
  ).split(' '),
)
const ownPrefixes = ['content-', 'webhook-', 'proxy-', 'sec-', 'x-forwarded-', 'if-']

/**
 * Checks a webhook's url and headers, all of them before it answers; `known` is what the schema found wrong besides.
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

const faultDetails: Record<Exclude<DestinationFault, 'dns'>, string> = {
  private_address: 'The address is, or resolves to, a private or special one; the operator can allow networks.',
  not_allowed: 'A public address is called by https, and only on the ports that the operator allows.',
}

async function checkUrl(text: string, destinations: Destinations): Promise<FieldError[]> {
  const pointer = '#/url'
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password)
    return [{ pointer, code: 'invalid_url', detail: 'Must be an https:// address without a user name or password.' }]
  const fault = await destinations.check(url)
  // A name that has no address yet may have one when there is something to post; the attempts will say if not.
  if (fault === null || fault === 'dns') return []
  return [{ pointer, code: 'destination_not_allowed', detail: faultDetails[fault] }]
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
    if (!headerName.test(name)) return [wrong(name, 'Not a header name.')]
    if (seen.size === seen.add(lower).size)
      return [wrong(name, 'Names are the same whatever their case; this one is here twice.')]
    if (ownNames.has(lower) || ownPrefixes.some((prefix) => lower.startsWith(prefix)))
      return [wrong(name, 'This header is set by the connection or by Heliogram.')]
    if (!headerValue.test(headers[name] ?? '')) return [wrong(name, 'Must be visible ASCII characters and spaces.')]
    return []
  })
  if (names.length > headersMax)
    errors.push({ pointer: '#/headers', code: 'too_long', detail: `At most ${headersMax} headers.` })
  const characters = names.reduce((sum, name) => sum + name.length + (headers[name] ?? '').length, 0)
  if (characters > headersCharactersMax)
    errors.push({
      pointer: '#/headers',
      code: 'too_long',
      detail: `At most ${headersCharactersMax} characters in all.`,
    })
  return errors
}
