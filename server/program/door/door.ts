/** Checks before every route with a token: overload, the caller's limit, and the limit of unknown callers. */
import type { FastifyReply } from 'fastify'
import { ApiError } from '../../ground/base/errors.ts'
import type { Caller } from '../../ground/http/http.ts'
import { RateLimiter, tooMany } from './rate-limit.ts'
import { UnknownCallers, unknownPolicy } from './unknown-callers.ts'

/** Requests a second of a credential, by default. */
const perSecondDefault = 100

export interface Door {
  limiter: RateLimiter
  unknownCallers: UnknownCallers
  /** Why all requests are refused at the moment; null: they are not. */
  overload: { readonly refusal: ApiError | null }
}

/** By default there is no overload check. */
export function openDoor({
  perSecond = perSecondDefault,
  overload = { refusal: null },
}: { perSecond?: number; overload?: Door['overload'] } = {}): Door {
  return { limiter: new RateLimiter(perSecond), unknownCallers: new UnknownCallers(), overload }
}

/** Takes a caller's request and sets the headers of its limit; returns the refusal if none is left. Every authentication calls it. */
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

/** Counts a failed authentication, and sets the headers of its limit. Callers of suspended accounts count as unknown. */
export function noteStranger(door: Door, error: unknown, ip: string, reply: FastifyReply): void {
  if (!(error instanceof ApiError)) return
  if (error.status === 401 || error.code === 'account_suspended' || error.code === 'login_throttled')
    countStranger(door, ip, reply)
}

/** Counts an unknown caller, and sets the headers of its limit. */
export function countStranger(door: Door, ip: string, reply: FastifyReply): void {
  door.unknownCallers.note(ip, performance.now())
  limitUnknown(door, ip, reply)
}

/** Sets the headers of the limit of failures. */
export function limitUnknown({ unknownCallers }: Door, ip: string, reply: FastifyReply): void {
  reply.header('ratelimit-policy', unknownPolicy).header('ratelimit', unknownCallers.state(ip, performance.now()))
}

/** Refuses token look-ups after too many failures. @throws ApiError `rate_limited`. */
export function refuseUnknown({ unknownCallers }: Door, ip: string): void {
  const wait = unknownCallers.wait(ip, performance.now())
  if (wait > 0) throw tooMany(wait, 'failures', 'Too many requests from this network had no valid token.')
}
