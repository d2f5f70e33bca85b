import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'

export interface Refusal {
  readonly status: 403 | 415
  readonly error: string
}

/**
 * Keeps other web pages from typing on the phones of their visitors. The Host must be one that no stranger's DNS can point here (an IP address,
 * localhost, or an allowed name). Changes must be JSON, which browsers do not send to other origins unasked, and come from this origin if they
 * name one.
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
