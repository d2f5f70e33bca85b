/** Passwords: argon2id (RFC 9106) from Node itself, as PHC strings, a few at a time because each takes 19 MiB and a tenth of a second. */
import { argon2, randomBytes, randomInt, timingSafeEqual, type Argon2Parameters } from 'node:crypto'
import { promisify } from 'node:util'
import { CrowdedError, Shares } from '../../db/shares.ts'
import { ApiError } from '../../errors.ts'

// OWASP password storage: 19 MiB, two passes, one lane.
const cost = { memory: 19_456, passes: 2, parallelism: 1 }
const tagBytes = 32
const nonceBytes = 16

/** Fewer than NIST SP 800-63B-4 asks for alone (§3.1.1.2) is refused. */
export const passwordCharactersMin = 15

/** In the place of a hash, where nobody has chosen a password yet: none matches it. */
export const noPassword = ''

const atOnceMax = 2
const waitingMax = 32

const derive = promisify(argon2) as (algorithm: 'argon2id', parameters: Argon2Parameters) => Promise<Buffer>

/**
 * Who waits for each other: they have their turns one after the other, so that strangers who try passwords make only each other wait. `own`: of
 * somebody who was let in already.
 */
export type PasswordShare = 'own' | 'known' | 'stranger' | 'smpp known' | 'smpp stranger'

const shares = new Shares(atOnceMax, atOnceMax, waitingMax)

/** Hashes a password. @throws ApiError `unavailable` when too many of its share wait. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(nonceBytes)
  const tag = await inTurn('own', () =>
    derive('argon2id', { ...cost, nonce, message: normalize(password), tagLength: tagBytes }),
  )
  const { memory, passes, parallelism } = cost
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(nonce)}$${encode(tag)}`
}

/**
 * Whether a password is the one behind a hash; takes the same time for a null hash (no such user), which nothing matches.
 * @throws ApiError `unavailable` when too many of its share wait.
 */
export async function isPassword(password: string, phc: string | null, share: PasswordShare = 'own'): Promise<boolean> {
  const known = phc === null ? null : parsePhc(phc)
  const { tag, ...parameters } = known ?? { ...cost, nonce: Buffer.alloc(nonceBytes), tag: Buffer.alloc(tagBytes) }
  const actual = await inTurn(share, () =>
    derive('argon2id', { ...parameters, message: normalize(password), tagLength: tag.length }),
  )
  return timingSafeEqual(actual, tag) && known !== null
}

/** Whether a hash was made with other parameters than today's and should be made anew while the password is at hand. */
export function isOutdated(phc: string): boolean {
  const known = parsePhc(phc)
  return known?.memory !== cost.memory || known.passes !== cost.passes || known.parallelism !== cost.parallelism
}

/** A password for somebody who reads it once from a terminal: 20 characters without those that look alike, 99 bits. */
export function newPassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789'
  const group = (): string => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')
  return [group(), group(), group(), group()].join('-')
}

// Keyboards differ in how they write the same letter (NIST SP 800-63B-4 §3.1.1.2).
const normalize = (password: string): string => password.normalize('NFKC')

const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

function parsePhc(
  phc: string,
): { memory: number; passes: number; parallelism: number; nonce: Buffer; tag: Buffer } | null {
  const match = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(phc)
  if (!match) return null
  const [, memory, passes, parallelism, nonce = '', tag = ''] = match
  return {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    nonce: Buffer.from(nonce, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}

/** Runs at most two at a time; they use the thread pool that files and DNS use too. */
async function inTurn<T>(share: PasswordShare, work: () => Promise<T>): Promise<T> {
  try {
    return await shares.run(share, work)
  } catch (error) {
    if (!(error instanceof CrowdedError)) throw error
    throw new ApiError('unavailable', { detail: 'Too many logins at once.', retryAfterSeconds: 3 })
  }
}
