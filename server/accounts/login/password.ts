/** Passwords: argon2id (RFC 9106) from Node itself, as PHC strings, a few at a time because each takes 19 MiB and a tenth of a second. */
import { argon2, randomBytes, randomInt, timingSafeEqual, type Argon2Parameters } from 'node:crypto'
import { promisify } from 'node:util'
import { CrowdedError, Shares } from '../../ground/db/shares.ts'
import { ApiError } from '../../ground/base/errors.ts'
import type { Vault } from '../../ground/sealing/vault.ts'
import { foldLogin } from './throttle.ts'

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

/** The salt of all users with an address, so that one hash is compared with those of all of them (decision 0052). */
export const saltOf = (vault: Vault, email: string): Buffer =>
  vault.mac('password salt', foldLogin(email)).subarray(0, nonceBytes)

/** Hashes a password. @throws ApiError `unavailable` when too many of its share wait. */
export async function hashPassword(password: string, nonce: Buffer = randomBytes(nonceBytes)): Promise<string> {
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
  const isOf = await matchPassword(password, phc === null ? [] : [phc], share)
  return phc !== null && isOf(phc)
}

/**
 * Hashes a password as these hashes were made, and answers what tells whether it is the one behind one of them. Hashes with one salt cost one
 * hash, as long as none does. @throws ApiError `unavailable` when too many of its share wait.
 */
export async function matchPassword(
  password: string,
  phcs: readonly string[],
  share: PasswordShare,
): Promise<(phc: string) => boolean> {
  const known = phcs.flatMap((phc) => parsePhc(phc) ?? [])
  const made = new Map(known.map((one) => [one.made, one]))
  const nobody = { ...cost, made: '', nonce: Buffer.alloc(nonceBytes), tag: Buffer.alloc(tagBytes) }
  const tags = new Map<string, Buffer>()
  for (const one of made.size > 0 ? made.values() : [nobody]) {
    const { memory, passes, parallelism, nonce, tag } = one
    const parameters = { memory, passes, parallelism, nonce, message: normalize(password), tagLength: tag.length }
    tags.set(one.made, await inTurn(share, () => derive('argon2id', parameters)))
  }
  return (phc) => {
    const one = parsePhc(phc)
    const tag = one && tags.get(one.made)
    return one !== null && tag?.length === one.tag.length && timingSafeEqual(tag, one.tag)
  }
}

/** Whether a hash was made with another cost or salt than a new one would be, and should be replaced while the password is known. */
export function isOutdated(phc: string, salt?: Buffer): boolean {
  const known = parsePhc(phc)
  if (known?.memory !== cost.memory || known.passes !== cost.passes || known.parallelism !== cost.parallelism)
    return true
  return salt !== undefined && !salt.equals(known.nonce)
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

interface Phc {
  /** All before the tag: how the hash was made. */
  made: string
  memory: number
  passes: number
  parallelism: number
  nonce: Buffer
  tag: Buffer
}

function parsePhc(phc: string): Phc | null {
  const match = /^(\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$)([A-Za-z0-9+/]+)$/.exec(phc)
  if (!match) return null
  const [, made = '', memory, passes, parallelism, nonce = '', tag = ''] = match
  return {
    made,
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
