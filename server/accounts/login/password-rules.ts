/** Refuses short passwords and those that are guessed first (NIST SP 800-63B-4 §3.1.1.2). No rules of composition. */
import { invalid } from '../../ground/base/errors.ts'
import { passwordCharactersMin } from './password.ts'

const passwordBytesMax = 256

/** Personal words that are guessed first. */
export interface PasswordOwner {
  email: string
  accountName: string
}

// Pieces of the commonest passwords of this length in published leaks; a password of only these, digits and repetition is not a secret.
const pieces = `
  administrator password passwort passw0rd p@ssw0rd p@ssword motdepasse contrasena contraseña senha parola heslo secret geheim
  welcome willkommen bienvenue letmein changeme default qwertyuiop qwertzuiop azertyuiop qwerty qwertz azerty asdfghjkl asdfgh
  zxcvbnm yxcvbnm zxcvbn 1qaz2wsx3edc4rfv 1qaz2wsx zaq12wsx 1q2w3e4r5t6y7u8i9o0p 1q2w3e4r5t6y 1q2w3e4r5t 1q2w3e4r q1w2e3r4t5y6
  q1w2e3r4 qazwsxedc qazwsx abcdefghijklmnopqrstuvwxyz abcdefghijklmnop abcdefghij abcdefgh abcdef abc iloveyou ilove you love
  forever jesuschrist jesus christ lord myspace football baseball basketball superman batman pokemon starwars sunshine princess
  dragon monkey master shadow michael liverpool manchester united chelsea arsenal barcelona monday friday summer winter spring
  autumn january december newyork computer internet samsung google facebook linkedin whatsapp correct horse battery staple
  correcthorsebatterystaple thisismy this ismy my is the and user login access admin root test temp guest server system
  heliogram sms smpp !@#$%^&*() !"§$%&/()=`
  .trim()
  .split(/\s+/)

/** Minimum number of characters outside guessable pieces. */
const ownCharactersMin = 6

/** @throws ApiError `validation_failed` at `pointer`. */
export function requirePassword(password: string, owner: PasswordOwner, pointer = '#/password'): void {
  const fault = faultOf(password.normalize('NFKC'), owner)
  if (fault) throw invalid([{ pointer, ...fault }])
}

function faultOf(password: string, owner: PasswordOwner) {
  if (Array.from(password).length < passwordCharactersMin)
    return { code: 'too_short', detail: `must have at least ${passwordCharactersMin} characters` } as const
  if (Buffer.byteLength(password) > passwordBytesMax)
    return { code: 'too_long', detail: `must have at most ${passwordBytesMax} bytes` } as const
  if (isGuessable(password, owner))
    return {
      code: 'invalid_value',
      detail: 'is too common. Choose another',
    } as const
  return null
}

function isGuessable(password: string, { email, accountName }: PasswordOwner): boolean {
  const text = password.toLowerCase()
  const [name = '', domain = ''] = email.toLowerCase().split('@')
  const own = [email, name, domain, ...`${name} ${domain} ${accountName}`.toLowerCase().split(/[^\p{L}\p{N}]+/u)]
  const known = [...own.filter((piece) => piece.length > 2), ...pieces].toSorted((a, b) => b.length - a.length)
  let rest = text
  for (const piece of known) rest = rest.replaceAll(piece, '\0')
  // Years and separators add no secrecy.
  const signs = Array.from(rest.replace(/(?:19|20)\d\d|[\s\-_.]/g, '\0'))
  const left = signs.filter((sign, i) => sign !== '\0' && !isNext(signs[i - 1] ?? '', sign))
  return isRepeated(text) || left.length < ownCharactersMin
}

/** Whether a character repeats the previous one or is its neighbour (`aaa`, `12345`, `dcba`, `890`). */
function isNext(before: string, sign: string): boolean {
  const step = Math.abs((before.codePointAt(0) ?? -9) - (sign.codePointAt(0) ?? 0))
  return step < 2 || /^(?:90|09)$/.test(before + sign)
}

/** Whether a text repeats a short one (`abcabcabc`, the last perhaps cut). */
function isRepeated(text: string): boolean {
  for (let period = 1; period <= Math.min(8, text.length / 2); period++)
    if (text.slice(period) === text.slice(0, -period)) return true
  return false
}
