import { BlockList, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ApiError, type FieldError } from '../ground/base/errors.ts'

export type NetworkTest = (ip: string) => boolean

const everywhere: NetworkTest = () => true

/** An empty list allows all. IPv4 addresses in IPv6 form count as IPv4. */
export function allowNetworks(cidrs: readonly string[]): NetworkTest {
  if (cidrs.length === 0) return everywhere
  const list = new BlockList()
  for (const cidr of cidrs) {
    const [network = '', bits] = cidr.split('/')
    list.addSubnet(network, Number(bits), isIP(network) === 6 ? 'ipv6' : 'ipv4')
  }
  return (ip) => {
    const plain = ip.split('%', 1)[0] ?? ''
    const version = isIP(plain)
    return version !== 0 && list.check(plain, version === 6 ? 'ipv6' : 'ipv4')
  }
}

/** The error names the address, although a thief of the secret sees it too. @throws ApiError `ip_not_allowed`. */
export function requireNetwork(cidrs: readonly string[], ip: string): void {
  if (!allowNetworks(cidrs)(ip)) throw notFrom(ip)
}

export const notFrom = (ip: string): ApiError =>
  new ApiError('ip_not_allowed', { detail: `The key cannot be used from ${ip}.` })

export function isWithin(cidr: string, others: readonly string[]): boolean {
  const [address, bits] = ipaddr.parseCIDR(cidr)
  return others.some((other) => {
    const [network, length] = ipaddr.parseCIDR(other)
    return address.kind() === network.kind() && bits >= length && address.match(network, length)
  })
}

/** Returns networks as they are stored (single addresses become networks, host bits are cleared), and the faults. */
export function readNetworks(list: readonly string[], pointer: string): { networks: string[]; errors: FieldError[] } {
  const errors: FieldError[] = []
  const networks = list.map((text, i) => {
    const bits = /^[^/]+$/.test(text) && isIP(text) !== 0 ? `${text}/${isIP(text) === 6 ? 128 : 32}` : text
    // Programs disagree on short forms of IPv4 (`10/8`, `0x7f.1`).
    if (isIP(bits.split('/')[0] ?? '') === 0 || !ipaddr.isValidCIDR(bits)) {
      const detail = 'must be an address or a network such as 192.0.2.0/24 or 2001:db8::/32'
      errors.push({ pointer: `${pointer}/${i}`, code: 'invalid_format', detail })
      return ''
    }
    const [address, length] = ipaddr.parseCIDR(bits)
    const kind = address.kind() === 'ipv6' ? ipaddr.IPv6 : ipaddr.IPv4
    return `${kind.networkAddressFromCIDR(bits).toString()}/${length}`
  })
  return { networks: [...new Set(networks)], errors }
}
