/**
 * An address with several hosts, as libpq writes it: `postgres://user:password@a:5432,b:5433,c/database`. A URL has one host: what is done with
 * a URL is done with another host in the place of the list, which is put back behind it.
 */

/** One host of such an address. */
export interface Host {
  /** Shown and compared: `a:5432`, `[::1]:5432`. */
  name: string
  hostname: string
  port: number
  /** The address with this host alone. */
  url: string
}

// The last at sign before the path ends what is said of the user: an at sign in a password may stand there as it is.
const parts = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is
// A name, an IPv4 address, or an IPv6 one in brackets, and a port.
const oneHost = /^([\w.-]+|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i
// An address and no name: pg would ask a certificate for the name.
const stand = '0.0.0.0'
const defaultPort = 5432

/** The hosts of an address that lists more than one; null: it names one, or none. */
export function hostsOf(address: string): Host[] | null {
  const [, before = '', list = '', rest = ''] = parts.exec(address) ?? []
  if (!list.includes(',')) return null
  return list.split(',').map((text) => {
    const [, host = '', port = defaultPort] = oneHost.exec(text) ?? []
    const name = `${host.toLowerCase()}:${port}`
    return { name, hostname: host.replace(/^\[|\]$/g, ''), port: Number(port), url: before + name + rest }
  })
}

/** Whether what an address lists are hosts, none of them twice, and the rest of it is about all of them. */
export function areHosts(address: string): boolean {
  const hosts = hostsOf(address) ?? []
  return (
    hosts.every(({ hostname, port, url }) => hostname !== '' && port >= 1 && port <= 65_535 && URL.canParse(url)) &&
    new Set(hosts.map(({ name }) => name)).size === hosts.length &&
    // Who wants another one than the primary is told that there is no other.
    !/[?&](host|hostaddr|port)=/i.test(address) &&
    /^(read-write|primary)?$/.test(/[?&]target_session_attrs=([^&#]*)/i.exec(address)?.[1] ?? '')
  )
}

/** An address of one host as it is; of one with several the same with a host that stands for them. */
export function asUrl(address: string): string {
  return hostsOf(address) ? address.replace(parts, `$1${stand}$3`) : address
}

/** Changes what an address says of all its hosts. */
export function changeAddress(address: string, change: (url: URL) => void): string {
  const url = new URL(asUrl(address))
  change(url)
  const hosts = hostsOf(address)
  if (!hosts) return url.href
  const list = hosts.map(({ name }) => name).join()
  return url.href.replace(parts, (_all, before: string, _stand, rest: string) => before + list + rest)
}

/** An address without what it says of sessions: their settings, and their name. */
export function withoutSession(address: string): string {
  return changeAddress(address, ({ searchParams }) => {
    searchParams.delete('options')
    searchParams.delete('application_name')
  })
}
