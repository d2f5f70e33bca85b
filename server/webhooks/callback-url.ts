/** Whether a callback address of a send may be called: what can be told at once, without asking a name server on the way of a send. */
import { isIP } from 'node:net'
import { guardAddresses, hostOf, portOf, readPostUrl, refusalDetails, type AddressRule } from '../post/address.ts'

/** Builds the check; it answers why not, or null. Names are resolved and checked when the post is dialed. */
export function refuseCallbackUrls(rule: AddressRule): (url: string) => string | null {
  const guard = guardAddresses(rule)
  return (text) => {
    const url = readPostUrl(text)
    if (typeof url === 'string') return url
    const host = hostOf(url)
    const refusal = isIP(host) ? guard(host, portOf(url), url.protocol === 'https:') : null
    return refusal && refusalDetails[refusal]
  }
}
