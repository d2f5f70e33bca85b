/** The network that one party can be expected to hold: an IPv4 address, or the /64 of an IPv6 one. */
export function networkOf(ip: string): string {
  if (!ip.includes(':') || ip.includes('.')) return ip.replace(/^::ffff:/i, '')
  const [head = '', tail] = ip.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array.from({ length: zeros }, () => '0'), ...right].slice(0, 4).join(':')
}

/** The networks around that one, of which a party may hold many: a /24 of IPv4, a /48 of IPv6. */
export function areaOf(ip: string): string {
  const network = networkOf(ip)
  return network.includes(':') ? network.split(':').slice(0, 3).join(':') : network.split('.').slice(0, 3).join('.')
}

/** An address to listen on as it stands in a URL to open: nobody reaches all of them at once. */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

const withPort = /(^|,)\s*(?:\[([^\],]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?\s*(?=,|$)/g

/** X-Forwarded-For without the ports that some proxies write there (Azure's): a caller is no other one with each connection. */
export const withoutPorts = (forwarded: string): string =>
  forwarded.replace(withPort, (_, start: string, v6?: string, v4?: string) => `${start}${v6 ?? v4 ?? ''}`)
