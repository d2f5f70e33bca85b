/**
 * Addresses with several hosts, as libpq writes them: `postgres://user:password@a:5432,b:5433,c/database`. A URL has one host, so the list
 * is replaced by a placeholder while the URL is changed.
 */

export interface Host {
  /** Shown and compared: `a:5432`, `[::1]:5432`. */
  name: string
  hostname: string
  port: number
  /** The address with this host alone. */
  url: string
}

// The last at sign before the path ends the user part: passwords may contain one.
const parts = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is
// A name, an IPv4 address, or an IPv6 one in brackets, and a port.
const oneHost = /^([\w.-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i
// An address and not a name, because pg would check certificates for a name.
const stand = '0.0.0.0'
const defaultPort = 5432

/** The hosts of an address with more than one, else null. */
export function hostsOf(address: string): Host[] | null {
  const [, before = '', list = '', rest = ''] = parts.exec(address) ?? []
  if (!list.includes(',')) return null
  return list.split(',').map((text) => {
    const [, host = '', port = defaultPort] = oneHost.exec(text) ?? []
    const name = `${host.toLowerCase()}:${port}`
    return { name, hostname: host.replace(/^\[|\]$/g, ''), port: Number(port), url: before + name + rest }
  })
}

/** Whether the list is valid, without duplicates, and the rest applies to all hosts. */
export function areHosts(address: string): boolean {
  const hosts = hostsOf(address) ?? []
  return (
    hosts.every(({ hostname, port, url }) => hostname !== '' && port >= 1 && port <= 65_535 && URL.canParse(url)) &&
    new Set(hosts.map(({ name }) => name)).size === hosts.length &&
    // Only the primary is supported.
    !/[?&](host|hostaddr|port)=/i.test(address) &&
    /^(read-write|primary)?$/.test(/[?&]target_session_attrs=([^&#]*)/i.exec(address)?.[1] ?? '')
  )
}

/** Replaces several hosts by the placeholder. */
export function asUrl(address: string): string {
  return hostsOf(address) ? address.replace(parts, `$1${stand}$3`) : address
}

/** Changes an address, for all hosts. */
export function changeAddress(address: string, change: (url: URL) => void): string {
  const url = new URL(asUrl(address))
  change(url)
  const hosts = hostsOf(address)
  if (!hosts) return url.href
  const list = hosts.map(({ name }) => name).join()
  return url.href.replace(parts, (_all, before: string, _stand, rest: string) => before + list + rest)
}

/** An address without session settings and name. */
export function withoutSession(address: string): string {
  return changeAddress(address, ({ searchParams }) => {
    searchParams.delete('options')
    searchParams.delete('application_name')
  })
}
