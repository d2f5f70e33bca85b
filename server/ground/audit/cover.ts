/** Prepares resources for the audit log: only changed values, without secrets and people's numbers. */
import { createHash } from 'node:crypto'
import { canonical } from '../base/canonical.ts'
import { maskNumbers } from '../base/mask.ts'

// An event is for readers; a table of thousands of rows is not.
const bytesMax = 32_768

// Members that grant access. `inbound` are secret addresses; headers carry tokens.
const secret = /secret|password|token|authorization|api_?key|credential|^headers$|^inbound$/i

/** Measured or derived members: their changes are not actions. */
const measured = new Set([
  'contacts_count',
  'counts',
  'failing_since',
  'has_password',
  'in_flight',
  'last_enquire_link_at',
  'last_error',
  'last_error_at',
  'last_used_at',
  'latency',
  'queue',
  'rate_1m',
  'response',
  'sessions',
  'stats',
  'unmatched_receipts',
  'updated_at',
  'url_version',
])

/** The differences of two shown resources, covered; null: none. If both exist, compares only members of `before`, and new secrets. */
export function diffShown(before: unknown, after: unknown): { before: unknown; after: unknown } {
  const [was, is] = [strip(before), strip(after)]
  if (!isRecord(was) || !isRecord(is)) return { before: limit(coverPrivate(was)), after: limit(coverPrivate(is)) }
  const names = [...new Set([...Object.keys(was), ...Object.keys(is).filter((name) => secret.test(name))])].filter(
    // Before covering, so that a changed secret is a change.
    (name) => canonical(was[name] ?? null) !== canonical(is[name] ?? null),
  )
  const pick = (value: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])))
  return { before: limit(coverPrivate(pick(was))), after: limit(coverPrivate(pick(is))) }
}

/**
 * Covers a JSON value: secrets become `[secret]`, telephone numbers and e-mail addresses are masked, URLs lose parts that may identify
 * their caller (user, query, fragment).
 */
export function coverPrivate<T>(value: T): T {
  return cover(value) as T
}

function cover(value: unknown): unknown {
  if (typeof value === 'string') return coverText(value)
  if (Array.isArray(value)) return value.map(cover)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [
      coverText(name),
      secret.test(name) && one !== null && typeof one !== 'boolean' ? '[secret]' : cover(one),
    ]),
  )
}

function coverText(text: string): string {
  const bare = text
    .replace(
      /\b(https?:\/\/)(?:[^\s/?#@]*@)?([^\s?#]*)([?#]\S*)?/gi,
      (_, scheme: string, rest: string, more?: string) =>
        more === undefined ? `${scheme}${rest}` : `${scheme}${rest}?…`,
    )
    // From the start of a word only: matching from each letter would be quadratic.
    .replace(/(?<![^\s@<>"'])[^\s@<>"']+@([^\s@<>"']+\.[^\s@<>"']+)/g, '***@$1')
  return maskNumbers(bare)
}

/** The stored form, without measured members. */
function strip(value: unknown): unknown {
  const plain = JSON.parse(JSON.stringify(value ?? null)) as unknown
  return isRecord(plain) ? Object.fromEntries(Object.entries(plain).filter(([name]) => !measured.has(name))) : plain
}

function limit(value: unknown): unknown {
  if (value === null) return null
  const text = canonical(value)
  if (Buffer.byteLength(text) <= bytesMax) return value
  return { omitted: `over ${bytesMax} bytes`, sha256: createHash('sha256').update(text).digest('hex') }
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
