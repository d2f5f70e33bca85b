import type { FastifyRequest } from 'fastify'

/**
 * Whether the caller wants CSV (RFC 9110 §12.5.1): `Accept` names `text/csv`, and prefers no other type. Wildcards do not count as another
 * type.
 */
export function wantsCsv({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  let wish = 0
  let otherwise = 0
  for (const range of (headers.accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => /^q=[01](\.\d{0,3})?$/.test(parameter))?.slice(2)
    const quality = Number(weight ?? 1)
    if (type === 'text/csv') wish = quality
    else if (!type.includes('*') && type !== '') otherwise = Math.max(otherwise, quality)
  }
  return wish > 0 && wish >= otherwise
}
