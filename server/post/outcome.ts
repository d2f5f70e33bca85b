/** The outcome of a POST, from a closed list. */
import { DestinationError } from './destination.ts'

/** `status`: an answer other than 2xx. `gone`: 410, send nothing more. `too_large`: headers too large to read. */
export type Outcome =
  | 'ok'
  | 'status'
  | 'redirect'
  | 'gone'
  | 'timeout'
  | 'refused'
  | 'reset'
  | 'dns'
  | 'tls'
  | 'private_address'
  | 'not_allowed'
  | 'too_large'
  | 'protocol'

export function outcomeOfStatus(status: number): Outcome {
  if (status >= 200 && status < 300) return 'ok'
  if (status >= 300 && status < 400) return 'redirect'
  return status === 410 ? 'gone' : 'status'
}

export function outcomeOfError(error: Error): Outcome {
  if (error instanceof DestinationError) return error.fault
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  switch (code) {
    case 'ECONNREFUSED':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EADDRNOTAVAIL':
      return 'refused'
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'timeout'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'dns'
    case 'UND_ERR_HEADERS_OVERFLOW':
      return 'too_large'
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
    case 'UND_ERR_DESTROYED':
    case 'UND_ERR_CLOSED':
      return 'reset'
    default:
      break
  }
  // OpenSSL's and Node's own words for a bad certificate or handshake.
  if (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH|EPROTO$)/.test(code)) return 'tls'
  return 'protocol'
}
