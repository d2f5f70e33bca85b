/** A request as a command for a shell. */
import type { FuzzRequest } from './openapi-requests.ts'

// A longer body does not help whoever reads it; the seed and the number of the request make it again.
const bodyMax = 4000

/** The command that sends a request again; tokens are `$KEY`. Needs bash where there is more than ASCII in it. */
export function toCurl(
  address: string,
  { method, target, headers, body, isChunked, isMeasuredWrong }: FuzzRequest,
): string {
  const all = headers.filter(([name]) => name !== 'host')
  if (isChunked) all.push(['transfer-encoding', 'chunked'])
  if (isMeasuredWrong) all.push(['content-length', String((body?.length ?? 0) + 7)])
  const shown = all.map(([name, value]) =>
    name === 'authorization' ? '-H "authorization: Bearer $KEY"' : `-H ${quote(`${name}: ${value}`)}`,
  )
  const data = body === null ? [] : [`--data-binary ${quote(body.toString('latin1').slice(0, bodyMax))}`]
  const rest = body !== null && body.length > bodyMax ? ` # and ${body.length - bodyMax} bytes more` : ''
  const verb = method === 'HEAD' ? '--head' : `-X ${quote(method)}`
  return ['curl -i --path-as-is', verb, quote(address + target), ...shown, ...data].join(' ') + rest
}

/** A word of a shell, of a text in which a character is a byte. */
function quote(text: string): string {
  if (/^[\w./:-]+$/.test(text)) return text
  if (/^[\x20-\x7e]*$/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`
  const escaped = text
    .replace(/[\\']/g, '\\$&')
    .replace(/[^\x20-\x7e]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return `$'${escaped}'`
}
