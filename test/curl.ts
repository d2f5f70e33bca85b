import type { FuzzRequest } from './openapi-requests.ts'

// Longer bodies do not help readers; seed and number reproduce the request.
const bodyMax = 4000

/** Tokens become `$KEY`. Needs bash for other than ASCII. */
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

function quote(text: string): string {
  if (/^[\w./:-]+$/.test(text)) return text
  if (/^[\x20-\x7e]*$/.test(text)) return `'${text.replaceAll("'", `'\\''`)}'`
  const escaped = text
    .replace(/[\\']/g, '\\$&')
    .replace(/[^\x20-\x7e]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, '0')}`)
  return `$'${escaped}'`
}
