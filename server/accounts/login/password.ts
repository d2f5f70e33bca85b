/** Passwords: argon2id (RFC 9106) from Node.js as PHC strings. Few at a time, because each takes 19 MiB and a tenth of a second. */
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

/** The minimum of NIST SP 800-63B-4 (§3.1.1.2) for a password alone. */
export const passwordCharactersMin = 15

/** Stored until a password is chosen; no password matches it. */
export const noPassword = ''

const atOnceMax = 2
const waitingMax = 32

const derive = promisify(argon2) as (algorithm: 'argon2id', parameters: Argon2Parameters) => Promise<Buffer>

/** Shares take turns, so that strangers who try passwords delay only each other. `own` is for users who are already logged in. */
export type PasswordShare = 'own' | 'known' | 'stranger' | 'smpp known' | 'smpp stranger'

const shares = new Shares(atOnceMax, atOnceMax, waitingMax)

/** One salt for all users of an address, so that a single hash is compared with all of theirs (decision 0052). */
export const saltOf = (vault: Vault, email: string): Buffer =>
  vault.mac('password salt', foldLogin(email)).subarray(0, nonceBytes)

/** @throws ApiError `unavailable` if too many of its share wait. */
export async function hashPassword(password: string, nonce: Buffer = randomBytes(nonceBytes)): Promise<string> {
  const tag = await inTurn('own', () =>
    derive('argon2id', { ...cost, nonce, message: normalize(password), tagLength: tagBytes }),
  )
  const { memory, passes, parallelism } = cost
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(nonce)}$${encode(tag)}`
}

/** A null hash (no such user) takes the same time and never matches. @throws ApiError `unavailable` if too many of its share wait. */
export async function isPassword(password: string, phc: string | null, share: PasswordShare = 'own'): Promise<boolean> {
  const isOf = await matchPassword(password, phc === null ? [] : [phc], share)
  return phc !== null && isOf(phc)
}

/** Returns a test for these hashes; all with one salt, or none, cost one hash. @throws ApiError `unavailable` if too many of its share wait. */
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

/** Whether a hash has another cost or salt than a new one, and should be replaced while the password is known. */
export function isOutdated(phc: string, salt?: Buffer): boolean {
  const known = parsePhc(phc)
  if (known?.memory !== cost.memory || known.passes !== cost.passes || known.parallelism !== cost.parallelism)
    return true
  return salt !== undefined && !salt.equals(known.nonce)
}

/** For a person who reads it once from a terminal: 20 characters without look-alikes, 99 bits. */
export function newPassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789'
  const group = (): string => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')
  return [group(), group(), group(), group()].join('-')
}

// Keyboards encode the same letter differently (NIST SP 800-63B-4 §3.1.1.2).
const normalize = (password: string): string => password.normalize('NFKC')

const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '')

interface Phc {
  /** Everything before the tag: the parameters. */
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

/** Runs at most two at a time: they use the thread pool of files and DNS. */
async function inTurn<T>(share: PasswordShare, work: () => Promise<T>): Promise<T> {
  try {
    return await shares.run(share, work)
  } catch (error) {
    if (!(error instanceof CrowdedError)) throw error
    throw new ApiError('unavailable', { detail: 'Too many logins at once.', retryAfterSeconds: 3 })
  }
}
