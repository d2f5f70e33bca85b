import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

/** Why a request is refused before it is looked at. */
export interface Refusal {
  readonly status: 403 | 415
  readonly error: string
}

/**
 * Keeps other web pages out: they must not type on the phones of who visits them. The Host must be one that no stranger's
 * DNS can point here (an IP address, localhost, or a name that was allowed), and what changes something must be JSON, which
 * browsers do not send elsewhere unasked, and come from this very origin where it says whence it comes.
 */
export function refuseStranger(request: IncomingMessage, allowedHosts: readonly string[]): Refusal | null {
  const host = request.headers.host ?? ''
  if (!isOurHost(host, allowedHosts)) {
    return { status: 403, error: `The Host "${host}" is not one of the simulator's: see --allow-host.` }
  }
  const { origin, 'sec-fetch-site': site } = request.headers
  if ((origin !== undefined && origin !== `http://${host}`) || site === 'cross-site') {
    return { status: 403, error: 'Pages of other origins may not use the simulator.' }
  }
  const isJson = /^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')
  if (request.method === 'POST' && !isJson) return { status: 415, error: 'Send application/json.' }
  return null
}

function isOurHost(host: string, allowedHosts: readonly string[]): boolean {
  const name = host.replace(/:\d+$/, '').toLowerCase()
  const address = name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name
  return name === 'localhost' || isIP(address) !== 0 || allowedHosts.includes(name)
}
