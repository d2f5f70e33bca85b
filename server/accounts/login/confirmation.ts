/**
 * Whether a person has shown lately who they are. What gives access to others, or takes an account away, is not done by a login that was only
 * refreshed since: whoever sits down at a screen that was left open does not come to stay (RFC 9470, step-up authentication).
 */
import { nowMs } from '../../ground/db/clock.ts'
import { ApiError } from '../../ground/base/errors.ts'
import type { Caller } from '../../ground/http/http.ts'

/** For so long a password counts: as long as the first access token of a login, so that who never refreshes is never asked. */
const confirmedSeconds = 3600

/** When what was shown at a time counts no more. */
export const confirmedUntil = (confirmedAt: Date): Date => new Date(confirmedAt.getTime() + confirmedSeconds * 1000)

/** @throws ApiError `insufficient_user_authentication`, with the challenge of RFC 9470 §3, to a person whose password was asked for longer ago. */
export function requireConfirmation({ confirmedAt }: Caller): void {
  if (!confirmedAt || nowMs() < confirmedUntil(confirmedAt).getTime()) return
  throw new ApiError('insufficient_user_authentication', {
    detail:
      'This operation gives or changes access, and you typed your password more than an hour ago. Send it to POST /v1/users/me/confirm, then repeat the request.',
    headers: {
      'www-authenticate': `Bearer realm="heliogram", error="insufficient_user_authentication", error_description="a more recent login is needed", max_age="${confirmedSeconds}"`,
    },
  })
}
