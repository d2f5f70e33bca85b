/**
 * Takes out of Heliogram who may enter: loaded before it (`node --import`), this module stands in for the real ones when the program's own
 * modules are resolved. The first caller is let in for good, nothing is counted and nobody is refused; all else is the program as it is.
 */
import { registerHooks } from 'node:module'
import { openAuthenticator as openReal, type Authenticator } from '../../server/accounts/authenticate.ts'
import type { Db } from '../../server/ground/db/db.ts'
import type { Caller } from '../../server/ground/http/http.ts'

// What is not taken out.
export * from '../../server/accounts/authenticate.ts'
export * from '../../server/program/door/door.ts'
export * from '../../server/program/door/overload.ts'

const self = import.meta.url
const replaced = new Set(
  ['accounts/authenticate', 'program/door/door', 'program/door/overload'].map(
    (name) => new URL(`../../server/${name}.ts`, self).href,
  ),
)

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context)
    return replaced.has(found.url) && context.parentURL !== self ? { ...found, url: self } : found
  },
})

/** Everybody is who came first, with whatever token. */
export function openAuthenticator(db: Db, refuse?: (ip: string) => void): Authenticator {
  const real = openReal(db, refuse)
  let first: Caller | null = null
  return {
    authenticate: (authorization, ip) =>
      first ?? Promise.resolve(real.authenticate(authorization, ip)).then((caller) => (first = caller)),
    forget: () => {},
  }
}

/** Everybody has requests left, and is not told how many. */
export const takeRequest = (): null => null

/** Nothing is ever too much. */
export class Overload {
  readonly refusal: null = null
  start(): void {}
  close(): void {}
}
