import { nowMs } from '../ground/db/clock.ts'
import { ApiError } from '../ground/base/errors.ts'
import { showId } from '../ground/base/ids.ts'
import type { GuardRefusal, Stop } from '../message/draft.ts'
import { noCountry } from './judge.ts'
import { showAmount } from './stops.ts'

const messagesThatGo = (anHour: string | null): string =>
  anHour === '1' ? '1 message an hour is allowed' : `${anHour} messages an hour are allowed`

/** `retryAfterSeconds` only if the same send can pass when the window ends. */
export function stopError(refusal: GuardRefusal, stop: Stop | null): ApiError {
  if (!stop) return new ApiError(refusal)
  const { window, limit, guardId, earlierId } = stop
  const guard = guardId === null ? 'the guard' : showId('grd', guardId)
  const release = guardId === null ? '' : ` To allow it now: POST /v1/guards/${guard}/release.`
  const members = guardId === null ? {} : { guard }
  const until = window.endsAt.toISOString()
  const waiting = { members, retryAfterSeconds: Math.max(1, Math.ceil((window.endsAt.getTime() - nowMs()) / 1000)) }
  const most = showAmount(window.kind, limit)
  switch (window.kind) {
    case 'allowed_countries':
      return new ApiError(refusal, {
        detail:
          window.key === noCountry
            ? `The number belongs to no country, and the account allows only its allowed_countries; "*" in PATCH /v1/settings allows all.${release}`
            : `The account does not allow ${window.key}; add it to allowed_countries with PATCH /v1/settings.${release}`,
        members,
      })
    case 'country_limit':
      return new ApiError(refusal, {
        detail: `${messagesThatGo(most)} to ${window.key}; more are allowed from ${until}.${release}`,
        ...waiting,
      })
    case 'velocity':
      return new ApiError(refusal, {
        detail: `${messagesThatGo(most)} to numbers that start with ${window.key}; more are allowed from ${until}.${release}`,
        members,
      })
    case 'daily_segments':
      return new ApiError(refusal, {
        detail: `This send exceeds the daily limit of ${most} segments; it is allowed from ${until}.${release}`,
        ...waiting,
      })
    case 'spend':
      return new ApiError(refusal, {
        detail: `This send exceeds the daily limit of ${most} ${window.key}; it is allowed from ${until}.${release}`,
        ...waiting,
      })
    case 'duplicate':
      return new ApiError(refusal, {
        detail: 'The same text was sent from the same sender to the same number a moment ago.',
        members: { ...members, ...(earlierId !== null && { existing_id: showId('msg', earlierId) }) },
      })
    default:
      return window.kind satisfies never
  }
}
