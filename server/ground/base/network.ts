/** The network that one party usually holds: an IPv4 address, or an IPv6 /64. */
export function networkOf(ip: string): string {
  if (!ip.includes(':') || ip.includes('.')) return ip.replace(/^::ffff:/i, '')
  const [head = '', tail] = ip.split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array.from({ length: zeros }, () => '0'), ...right].slice(0, 4).join(':')
}

/** A network of which one party may hold many: an IPv4 /24, an IPv6 /48. */
export function areaOf(ip: string): string {
  const network = networkOf(ip)
  return network.includes(':') ? network.split(':').slice(0, 3).join(':') : network.split('.').slice(0, 3).join('.')
}

/** A listening address in a URL to open: wildcards become a reachable one. */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

const withPort = /(^|,)\s*(?:\[([^\],]+)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?\s*(?=,|$)/g

/** X-Forwarded-For without the ports that some proxies add (Azure's), which differ by connection. */
export const withoutPorts = (forwarded: string): string =>
  forwarded.replace(withPort, (_, start: string, v6?: string, v4?: string) => `${start}${v6 ?? v4 ?? ''}`)
