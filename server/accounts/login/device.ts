/**
 * A known device proves an earlier login by a token, so that guesses of strangers do not delay its user on a new network. The token gives
 * no access and is not stored.
 *
 *   usr_… . when it ends, in seconds . keyed hash of both
 */
import { timingSafeEqual } from 'node:crypto'
import { nowMs } from '../../ground/db/clock.ts'
import { parseId, showId } from '../../ground/base/ids.ts'
import type { Vault } from '../../ground/sealing/vault.ts'

/** As long as a network stays known. */
const deviceSeconds = 90 * 86_400

/** The header that returns and sends the token. */
export const deviceHeader = 'heliogram-device'

export function nameDevice(vault: Vault, userId: string): string {
  const told = `${showId('usr', userId)}.${Math.floor(nowMs() / 1000) + deviceSeconds}`
  return `${told}.${macOf(vault, told).toString('base64url')}`
}

/** The user who logged in on the token's device, or null. */
export function readDevice(vault: Vault, word: string): string | null {
  const [, told = '', user = '', until = '', mac = ''] = /^((usr_\w+)\.(\d{1,12}))\.([\w-]{43})$/.exec(word) ?? []
  if (told === '' || !timingSafeEqual(macOf(vault, told), Buffer.from(mac, 'base64url'))) return null
  return Number(until) * 1000 > nowMs() ? parseId('usr', user) : null
}

const macOf = (vault: Vault, told: string): Buffer => vault.mac('login device', told)
