/** Addresses that posts may reach: public ones over TLS, and private ones that the operator permits. */
import { BlockList, isIP } from 'node:net'

/** The operator's settings (`HELIOGRAM_WEBHOOK_ALLOW_CIDRS`, `HELIOGRAM_WEBHOOK_PORTS`). */
export interface AddressRule {
  /** Networks reachable by plain http and on any port. */
  allowedCidrs: readonly string[]
  /** Ports of public addresses. */
  ports: readonly number[]
}

export type Refusal = 'private_address' | 'not_allowed'

/** Null if a post may go to `port` of `address`. */
export type Guard = (address: string, port: number, isSecure: boolean) => Refusal | null

// Everything that is not global unicast: IANA special-purpose registries (RFC 6890), and the IPv6 ranges that carry an IPv4 address
// (NAT64, 6to4, Teredo, IPv4-compatible, IPv4-translated: RFC 2765, ::ffff:0:0:0/96). IPv4-mapped addresses (::ffff:0:0/96) must not be listed: BlockList compares them with the
// IPv4 rules by itself, and listing them would block all of IPv4.
const specialNetworks = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
  192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
  ::/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10
  fec0::/10 ff00::/8`
  .trim()
  .split(/\s+/)

/** Builds the check of every address, at each connection. */
export function guardAddresses(rule: AddressRule): Guard {
  const special = listNetworks(specialNetworks)
  const allowed = listNetworks(rule.allowedCidrs)
  const ports = new Set(rule.ports)
  return (address, port, isSecure) => {
    const plain = address.split('%', 1)[0] ?? ''
    const version = isIP(plain)
    if (version === 0) return 'private_address'
    const family = version === 6 ? 'ipv6' : 'ipv4'
    if (allowed.check(plain, family)) return null
    if (special.check(plain, family)) return 'private_address'
    return isSecure && ports.has(port) ? null : 'not_allowed'
  }
}

function listNetworks(cidrs: readonly string[]): BlockList {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/')
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4')
  }
  return list
}

/** The host of a URL as an address or a name; IPv6 without its brackets. The URL parser has already read decimal, octal and hex forms. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
}

/** With the scheme's default. */
export function portOf(url: URL): number {
  return url.port ? Number(url.port) : url.protocol === 'https:' ? 443 : 80
}

/** The error for an address that may not be called. */
export const refusalDetails: Record<Refusal, string> = {
  private_address: 'must not be, or resolve to, a private or special address; the operator can allow networks',
  not_allowed: 'must use https, on a port that the operator allows',
}

/** Returns the URL, or the error if it must not be posted to. */
export function readPostUrl(text: string): URL | string {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password)
    return 'must be an https:// address without a user name or password'
  return url
}
