/** Checks a callback address without DNS, which would delay the send. */
import { isIP } from 'node:net'
import { guardAddresses, hostOf, portOf, readPostUrl, refusalDetails, type AddressRule } from '../post/address.ts'

/** Returns the fault or null. Names are resolved and checked when the post connects. */
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
