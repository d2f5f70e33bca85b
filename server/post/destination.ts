/** From a URL to an address to dial: the guard at save and at each connection. */
import { isIP } from 'node:net'
import { buildConnector } from 'undici'
import { guardAddresses, hostOf, portOf, type AddressRule, type Guard, type Refusal } from './address.ts'
import { createResolve, type Resolve } from './resolve.ts'

/** Why a URL was not dialed. `dns`: its name has no address (now). */
export type DestinationFault = Refusal | 'dns'

/** Thrown into undici by the connector; `fault` becomes the outcome of the attempt. */
export class DestinationError extends Error {
  readonly fault: DestinationFault
  constructor(fault: DestinationFault) {
    super(`destination not dialed: ${fault}`)
    this.fault = fault
  }
}

/** The guard over the operator's rule: one for the process. */
export interface Destinations {
  /** The present objection to a URL; null: none. */
  check(url: URL): Promise<DestinationFault | null>
  /** A connector for undici that dials only checked addresses. */
  connector(connectTimeoutMs: number): buildConnector.connector
}

// A person waits while a URL is saved; a slow name server is no reason to refuse it.
const checkTimeoutMs = 2000
// Enough for both families of a host with two machines.
const addressesMax = 4

/** Only tests pass `resolve`. */
export function guardDestinations(rule: AddressRule, resolve: Resolve = createResolve()): Destinations {
  const guard = guardAddresses(rule)
  return {
    check: async (url) => {
      const found = findAddresses(guard, resolve, hostOf(url), portOf(url), url.protocol === 'https:')
      const late = new Promise<DestinationError>((done) => {
        setTimeout(() => done(new DestinationError('dns')), checkTimeoutMs).unref()
      })
      const answer = await Promise.race([found.catch(asDestinationError), late])
      return answer instanceof DestinationError ? answer.fault : null
    },
    connector: (connectTimeoutMs) => {
      const dial = buildConnector({ timeout: connectTimeoutMs, allowH2: false })
      return (options, callback) => {
        const host = options.hostname.startsWith('[') ? options.hostname.slice(1, -1) : options.hostname
        const isSecure = options.protocol === 'https:'
        const port = Number(options.port) || (isSecure ? 443 : 80)
        findAddresses(guard, resolve, host, port, isSecure).then(
          (addresses) => dialInTurn(dial, options, host, addresses, callback),
          (error: unknown) => callback(asDestinationError(error), null),
        )
      }
    },
  }
}

/** The addresses of a host, IPv4 first, if all are permitted: with a bad one among them, the name server would choose which is dialed. */
async function findAddresses(
  guard: Guard,
  resolve: Resolve,
  host: string,
  port: number,
  isSecure: boolean,
): Promise<string[]> {
  const addresses = await resolve(host)
  if (addresses.length === 0) throw new DestinationError('dns')
  for (const address of addresses) {
    const refusal = guard(address, port, isSecure)
    if (refusal) throw new DestinationError(refusal)
  }
  return addresses.toSorted((a, b) => isIP(a) - isIP(b)).slice(0, addressesMax)
}

/** Dials one address after another until one accepts: `localhost` may be ::1 while the receiver listens on 127.0.0.1 only. */
function dialInTurn(
  dial: buildConnector.connector,
  options: buildConnector.Options,
  host: string,
  [address, ...others]: string[],
  callback: buildConnector.Callback,
): void {
  if (address === undefined) return
  // The name stays in SNI, in the certificate check and in Host; only the dialing uses the checked address.
  dial({ ...options, hostname: address, ...(host !== address && { servername: host }) }, (...result) => {
    if (result[0] && others.length > 0) dialInTurn(dial, options, host, others, callback)
    else callback(...result)
  })
}

function asDestinationError(error: unknown): DestinationError {
  return error instanceof DestinationError ? error : new DestinationError('dns')
}
