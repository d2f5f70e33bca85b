/** Step-up authentication (RFC 9470): a login that was only refreshed, perhaps at an unattended screen, cannot give access or remove accounts. */
import { nowMs } from '../../ground/db/clock.ts'
import { ApiError } from '../../ground/base/errors.ts'
import type { Caller } from '../../ground/http/http.ts'

/** As long as the first access token of a login, so that a client that never refreshes is never asked. */
const confirmedSeconds = 3600

export const confirmedUntil = (confirmedAt: Date): Date => new Date(confirmedAt.getTime() + confirmedSeconds * 1000)

/** @throws ApiError `insufficient_user_authentication`, with the challenge of RFC 9470 §3, if a person entered the password too long ago. */
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
