/** Whether a callback address of a send may be called: what can be told at once, without asking a name server on the way of a send. */
import { isIP } from 'node:net'
import { guardAddresses, hostOf, portOf, type AddressRule } from './address.ts'

/** Builds the check; it answers why not, or null. Names are resolved and checked when the post is dialed. */
export function refuseCallbackUrls(rule: AddressRule): (url: string) => string | null {
  const guard = guardAddresses(rule)
  return (text) => {
    const url = URL.parse(text)
    if (!url || !['http:', 'https:'].includes(url.protocol) || url.username || url.password)
      return 'must be an https:// address without a user name or password'
    const host = hostOf(url)
    if (isIP(host) && guard(host, portOf(url), url.protocol === 'https:') !== null)
      return 'must be an address that webhooks may reach; the operator can allow private networks'
    return null
  }
}
