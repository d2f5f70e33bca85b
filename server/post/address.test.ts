import { expect, test } from 'vitest'
import { guardAddresses, hostOf, portOf } from './address.ts'

const guard = guardAddresses({ allowedCidrs: [], ports: [443, 8443] })

test.each([
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://127.0.0.1./',
  'https://%31%32%37.0.0.1/',
  'https://0/',
  'https://0.0.0.0/',
  'https://10.0.0.1/',
  'https://100.64.0.1/',
  'https://100.127.255.255/',
  'https://169.254.169.254/latest/meta-data',
  'https://172.16.0.0/',
  'https://172.31.255.255/',
  'https://192.168.1.1/',
  'https://192.0.0.8/',
  'https://192.0.2.1/',
  'https://192.88.99.1/',
  'https://198.18.0.1/',
  'https://198.19.255.255/',
  'https://198.51.100.1/',
  'https://203.0.113.9/',
  'https://224.0.0.1/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  'https://[::]/',
  'https://[::1]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:a00:1]/',
  'https://[::ffff:0:127.0.0.1]/',
  'https://[::ffff:0:a9fe:a9fe]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1::7f00:1]/',
  'https://[2001:0:7f00:1::1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:db8::1]/',
  'https://[3fff::1]/',
  'https://[5f00::1]/',
  'https://[fc00::1]/',
  'https://[fdff:ffff::1]/',
  'https://[fe80::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
  'https://[100::1]/',
])('recognizes %s as a private address', (url) => {
  expect(refuse(url)).toBe('private_address')
})

test.each([
  'https://8.8.8.8/',
  'https://[2606:4700::1111]/',
  'https://1.1.1.1:8443/',
  'https://[::ffff:8.8.8.8]/',
  // Next to the private ranges.
  'https://100.63.255.255/',
  'https://100.128.0.0/',
  'https://172.15.255.255/',
  'https://172.32.0.0/',
  'https://198.17.255.255/',
  'https://198.20.0.0/',
  'https://[2001:200::1]/',
])('allows %s', (url) => {
  expect(refuse(url)).toBeNull()
})

test.each(['http://8.8.8.8/', 'http://8.8.8.8:8443/', 'https://8.8.8.8:22/', 'https://[2606:4700::1111]:6379/'])(
  'refuses %s for its scheme or port',
  (url) => {
    expect(refuse(url)).toBe('not_allowed')
  },
)

test('allows the listed networks by plain http and on any port, and nothing beside them', () => {
  const open = guardAddresses({ allowedCidrs: ['127.0.0.0/8', 'fd00:1::/32'], ports: [443] })
  expect(open('127.0.0.1', 8080, false)).toBeNull()
  expect(open('::ffff:127.0.0.1', 8080, false)).toBeNull()
  expect(open('fd00:1::5', 9, false)).toBeNull()
  expect(open('fd00:2::5', 443, true)).toBe('private_address')
  expect(open('10.0.0.1', 443, true)).toBe('private_address')
  expect(open('fe80::1%eth0', 443, true)).toBe('private_address')
  expect(open('not an address', 443, true)).toBe('private_address')
})

const refuse = (text: string) => {
  const url = new URL(text)
  return guard(hostOf(url), portOf(url), url.protocol === 'https:')
}
