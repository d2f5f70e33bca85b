/** Node's codes for an absent, unreachable or lost server. */
const lostSocket = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'EHOSTDOWN',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/** Codes that others use too, such as file access: only for connecting sockets. */
const lostConnect = new Set([
  // The folder or file of a unix socket is gone while the server restarts.
  'ENOENT',
  // Its queue is full.
  'EAGAIN',
  // This process or machine is out of files, buffers or ports.
  'EMFILE',
  'ENFILE',
  'ENOBUFS',
  'EADDRNOTAVAIL',
])

/**
 * SQLSTATEs of a server that is starting, stopping, full or demoted: class 08 connection exception, 53 insufficient resources
 * (disk, memory, connections), 57P01-57P03 shutdown, crash and start, 25P03 and 57P05 ended by an idle timeout,
 * 25006 read-only, which is how a primary that has become a standby answers a write.
 */
const lostServer = /^(08...|53...|57P0[1235]|25P03|25006)$/

/** Errors of pg without a code. */
const lostConnection =
  /^(Connection terminated|Client (has encountered a connection error|was closed) and is not queryable|Query read timeout|timeout e|Cannot use a pool after calling end)/

/** SQLSTATE 40001 serialization failure, 40P01 deadlock: PostgreSQL rolled back one of two so that the other could go on. */
const lostRace = /^(40001|40P01)$/

/**
 * Whether the database is down, full or overloaded, so that the same statement may work later: answer 503, retry with back-off. A write may
 * have happened: repeat only statements that allow it.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  if (code !== undefined && lostServer.test(code)) return true
  if (code !== undefined && (lostSocket.has(code) || (lostConnect.has(code) && isFromConnect(error)))) return true
  return lostConnection.test(error.message) || isUnavailable(error.cause)
}

/** No host of several is the primary; `isUnavailable` holds. */
export class NoPrimaryError extends Error {
  /** SQLSTATE 08001, a connection could not be made. */
  readonly code = '08001'

  /** @param reasons by host */
  constructor(reasons: readonly string[]) {
    super(`no host of DATABASE_URL accepts writes (${reasons.join('; ')})`)
  }
}

/** Whether the database is a standby or read-only, without another host that accepts writes. */
export function isReadOnly(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return codeOf(error) === '25006' || error instanceof NoPrimaryError || isReadOnly(error.cause)
}

/** Whether a transaction was rolled back in favour of another, so that it can be repeated. */
export function isLostRace(error: unknown): boolean {
  return error instanceof Error && lostRace.test(codeOf(error) ?? '')
}

/** SQLSTATE 57014 query canceled, 55P03 lock not available: an administrator, or a timeout of our role, ended the statement. */
const canceled = /^(57014|55P03)$/

/** Whether a failure is temporary: the database is unavailable, or the transaction lost a race. It needs no report. */
export function isPassing(error: unknown): boolean {
  return isUnavailable(error) || isLostRace(error)
}

/**
 * Whether the transaction may be repeated: the failure is temporary, or a cancel. A role's timeout may cancel it every time: report it, and
 * do not block others.
 */
export function isRetryable(error: unknown): boolean {
  return isPassing(error) || (error instanceof Error && canceled.test(codeOf(error) ?? ''))
}

/**
 * Whether a statement exceeded a timeout of the server or of its process. Pg reports the latter for a hanging database too; another
 * statement shows which.
 */
export function isTooLong(error: unknown): boolean {
  return error instanceof Error && (codeOf(error) === '57014' || error.message === 'Query read timeout')
}

export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function isFromConnect(error: Error): boolean {
  return 'syscall' in error && error.syscall === 'connect'
}
