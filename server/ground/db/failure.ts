/** Node's words for a server that is not there, unreachable, or went away. */
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

/** Words that others say too, such as who opens a file: of a socket that could not be connected. */
const lostConnect = new Set([
  // The folder or file of a unix socket is gone while the server restarts.
  'ENOENT',
  // Its queue is full.
  'EAGAIN',
  // This process, or this machine, has as many files, buffers or ports in use as it may.
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

/** What pg says without a code. */
const lostConnection =
  /^(Connection terminated|Client (has encountered a connection error|was closed) and is not queryable|Query read timeout|timeout e|Cannot use a pool after calling end)/

/** SQLSTATE 40001 serialization failure, 40P01 deadlock: PostgreSQL rolled back one of two so that the other could go on. */
const lostRace = /^(40001|40P01)$/

/**
 * Says that the database is gone, full or overloaded, so that the same statement may work later: answer 503, retry with
 * back-off. Whether a write took place is then unknown: only a statement that may be repeated safely may be repeated.
 */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = codeOf(error)
  if (code !== undefined && lostServer.test(code)) return true
  if (code !== undefined && (lostSocket.has(code) || (lostConnect.has(code) && isFromConnect(error)))) return true
  return lostConnection.test(error.message) || isUnavailable(error.cause)
}

/** No host is the primary of an address with several; `isUnavailable` holds for it. */
export class NoPrimaryError extends Error {
  /** SQLSTATE 08001, a connection could not be made. */
  readonly code = '08001'

  /** @param reasons what each host said */
  constructor(reasons: readonly string[]) {
    super(`no host of DATABASE_URL accepts writes (${reasons.join('; ')})`)
  }
}

/** Says that the database is there, and takes no writes: it is a standby, or read-only, and there is no other host that does. */
export function isReadOnly(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return codeOf(error) === '25006' || error instanceof NoPrimaryError || isReadOnly(error.cause)
}

/** Says that a transaction was rolled back for another's sake, so that repeating the whole of it is right. */
export function isLostRace(error: unknown): boolean {
  return error instanceof Error && lostRace.test(codeOf(error) ?? '')
}

/** SQLSTATE 57014 query canceled, 55P03 lock not available: an administrator, or a timeout that was set for our role, ended the statement. */
const canceled = /^(57014|55P03)$/

/** Says that a failure passes by itself: the database is unavailable, or it lost a race against another. Nobody has to be told. */
export function isPassing(error: unknown): boolean {
  return isUnavailable(error) || isLostRace(error)
}

/**
 * Says that repeating the whole transaction is right: what failed passes, or was canceled. A timeout of the role may cancel the same again
 * and again: it is told, and others do not wait behind it.
 */
export function isRetryable(error: unknown): boolean {
  return isPassing(error) || (error instanceof Error && canceled.test(codeOf(error) ?? ''))
}

/**
 * Says that a statement took longer than the server lets it, or than its process waits for it. Of a database that hangs pg says the latter too:
 * whether it does, another statement tells.
 */
export function isTooLong(error: unknown): boolean {
  return error instanceof Error && (codeOf(error) === '57014' || error.message === 'Query read timeout')
}

/** The SQLSTATE or system error code of an error, if it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

function isFromConnect(error: Error): boolean {
  return 'syscall' in error && error.syscall === 'connect'
}
