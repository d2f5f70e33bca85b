/**
 * A device on which a user has logged in proves so by a word that it was given then, so that guesses of strangers do not make them wait where
 * their network is new. The word opens nothing, and nothing is stored of it.
 *
 *   usr_… . when it ends, in seconds . keyed hash of both
 */
import { timingSafeEqual } from 'node:crypto'
import { nowMs } from '../../ground/db/clock.ts'
import { parseId, showId } from '../../ground/base/ids.ts'
import type { Vault } from '../../ground/sealing/vault.ts'

/** For so long a device is known: as long as a network is. */
const deviceSeconds = 90 * 86_400

/** Names the header in which a login gives such a word, and takes one. */
export const deviceHeader = 'heliogram-device'

/** A word for a device on which a user has logged in. */
export function nameDevice(vault: Vault, userId: string): string {
  const told = `${showId('usr', userId)}.${Math.floor(nowMs() / 1000) + deviceSeconds}`
  return `${told}.${macOf(vault, told).toString('base64url')}`
}

/** The user who has logged in on the device that a word came from, or null. */
export function readDevice(vault: Vault, word: string): string | null {
  const [, told = '', user = '', until = '', mac = ''] = /^((usr_\w+)\.(\d{1,12}))\.([\w-]{43})$/.exec(word) ?? []
  if (told === '' || !timingSafeEqual(macOf(vault, told), Buffer.from(mac, 'base64url'))) return null
  return Number(until) * 1000 > nowMs() ? parseId('usr', user) : null
}

const macOf = (vault: Vault, told: string): Buffer => vault.mac('login device', told)
