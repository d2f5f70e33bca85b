/** Resolves names so that a name server that hangs delays no other names. */
import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'

/** All addresses of a host; throws if there are none. */
export type Resolve = (hostname: string) => Promise<string[]>

/**
 * The default. Asks the name servers by c-ares, which needs no thread: getaddrinfo waits in one of two threads that all lookups share, so two names
 * whose servers hang would stop every new connection. Names unknown to c-ares (the hosts file, search domains, names without a dot) go to
 * getaddrinfo, one at a time, which leaves the other thread free.
 */
export function createResolve(): Resolve {
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  let last: Promise<unknown> = Promise.resolve()
  const lookUp = (hostname: string): Promise<string[]> => {
    const found = last.then(() => lookup(hostname, { all: true }))
    last = found.catch(() => {})
    return found.then((answers) => answers.map((answer) => answer.address))
  }
  return async (hostname) => {
    if (isIP(hostname)) return [hostname]
    if (!hostname.includes('.') || hostname.endsWith('.localhost')) return lookUp(hostname)
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const isUnanswered = answers.some((answer) => answer.status === 'rejected' && isTimeout(answer.reason))
    if (isUnanswered) throw Object.assign(new Error(`no name server answered for ${hostname}`), { code: 'ETIMEOUT' })
    return lookUp(hostname)
  }
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && 'code' in reason && reason.code === 'ETIMEOUT'
}
