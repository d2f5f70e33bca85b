/** What stands before every route that needs a token: overload, the limit of the caller, and the limit of those who are not let in. */
import type { FastifyReply } from 'fastify'
import { ApiError } from '../../ground/base/errors.ts'
import type { Caller } from '../../ground/http/http.ts'
import { RateLimiter, tooMany } from './rate-limit.ts'
import { UnknownCallers, unknownPolicy } from './unknown-callers.ts'

/** Requests a second of a credential where nobody says otherwise. */
const perSecondDefault = 100

export interface Door {
  limiter: RateLimiter
  unknownCallers: UnknownCallers
  /** Why nobody is let in at the moment; null: come in. */
  overload: { readonly refusal: ApiError | null }
}

/** A door; without an overload to look at it lets in whoever has requests left. */
export function openDoor({
  perSecond = perSecondDefault,
  overload = { refusal: null },
}: { perSecond?: number; overload?: Door['overload'] } = {}): Door {
  return { limiter: new RateLimiter(perSecond), unknownCallers: new UnknownCallers(), overload }
}

/** Takes a request of a caller, and tells how many are left; the refusal where none is. Every way of authentication passes here. */
export function takeRequest(
  { limiter }: Door,
  caller: Pick<Caller, 'id' | 'apiPerSecond'>,
  reply: FastifyReply,
): ApiError | null {
  const now = performance.now()
  const bucket = limiter.of(caller, now)
  const isTaken = bucket.take(now)
  reply.header('ratelimit-policy', bucket.policy).header('ratelimit', bucket.state)
  return isTaken
    ? null
    : tooMany(bucket.waitSeconds, 'api', `The credential can make ${bucket.perSecond} requests a second.`)
}

/** Notes that somebody was not let in, and tells how often that may happen. Who belongs to a suspended account is nobody, too. */
export function noteStranger(door: Door, error: unknown, ip: string, reply: FastifyReply): void {
  if (!(error instanceof ApiError)) return
  if (error.status === 401 || error.code === 'account_suspended' || error.code === 'login_throttled')
    countStranger(door, ip, reply)
}

/** Counts somebody who was not known, and tells how often that may happen. */
export function countStranger(door: Door, ip: string, reply: FastifyReply): void {
  door.unknownCallers.note(ip, performance.now())
  limitUnknown(door, ip, reply)
}

/** Tells how often somebody may fail to be let in. */
export function limitUnknown({ unknownCallers }: Door, ip: string, reply: FastifyReply): void {
  reply.header('ratelimit-policy', unknownPolicy).header('ratelimit', unknownCallers.state(ip, performance.now()))
}

/** Refuses to look up a token that is not known, for who has failed too often. @throws ApiError `rate_limited`. */
export function refuseUnknown({ unknownCallers }: Door, ip: string): void {
  const wait = unknownCallers.wait(ip, performance.now())
  if (wait > 0) throw tooMany(wait, 'failures', 'Too many requests from this network had no valid token.')
}
