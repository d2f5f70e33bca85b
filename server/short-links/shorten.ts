/** Replaces the addresses in a text with short links on the installation's domain. */
import type { ShortLink } from '../message/draft.ts'
import { randomFillSync } from 'node:crypto'
import type { FieldError } from '../ground/base/errors.ts'
import { textMax } from '../message/send-schema.ts'
import { findUrls } from './urls.ts'

export interface Shortening {
  /** Base address without a trailing slash; none: they are off. */
  shortUrl?: string | null
  /** Campaigns, as bodies name them, that shorten by default. */
  shortensByDefault?: ReadonlySet<string>
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
// 8·10^17 codes: with a hundred million links alive, a guess hits one in eight thousand million.
const codeLength = 10
// Each is a row, and no reader needs more.
const linksMax = 20

const pool = Buffer.allocUnsafe(4096)
let poolUsed = pool.length

export function newCode(): string {
  let code = ''
  while (code.length < codeLength) {
    if (poolUsed === pool.length) {
      randomFillSync(pool)
      poolUsed = 0
    }
    // Six bits have two values more than the alphabet: rejected, because folding would bias the codes.
    code += alphabet[(pool[poolUsed++] ?? 0) & 63] ?? ''
  }
  return code
}

/** The code after the slash, or null. Phones include a full stop after the address. */
export function readCode(path: string): string | null {
  return /^([0-9A-Za-z]{10})[^0-9A-Za-z/]*$/.exec(path)?.[1] ?? null
}

/** Shortens each address that is not short yet; a repeated address gets one code. */
function shortenText(text: string, shortUrl: string): { text: string; links: ShortLink[] } {
  const codes = new Map<string, string>()
  let shortened = ''
  let at = 0
  for (const { url, start, end } of findUrls(text)) {
    if (url.toLowerCase().startsWith(`${shortUrl}/`)) continue
    let code = codes.get(url)
    if (code === undefined) codes.set(url, (code = newCode()))
    shortened += `${text.slice(at, start)}${shortUrl}/${code}`
    at = end
  }
  return { text: shortened + text.slice(at), links: [...codes].map(([url, code]) => ({ code, url })) }
}

/** Shortens the text of a body, if the body or its campaign asks for it. */
export function readShortLinks(
  body: { message: string; campaign?: string; shorten_urls?: boolean },
  { shortUrl, shortensByDefault }: Shortening,
  faults: FieldError[],
): { text: string; links: ShortLink[] } {
  const isDefault = body.campaign !== undefined && shortensByDefault?.has(body.campaign)
  const plain = { text: body.message, links: [] }
  if (!(body.shorten_urls ?? isDefault)) return plain
  if (!shortUrl) {
    faults.push(...refuseShortening(body, shortUrl))
    return plain
  }
  const shortened = shortenText(body.message, shortUrl)
  const length = Array.from(shortened.text).length
  if (shortened.links.length > linksMax) {
    const detail = `has ${shortened.links.length} addresses; with shorten_urls it can have ${linksMax}`
    faults.push({ pointer: '#/message', code: 'too_long', detail })
  } else if (length > textMax) {
    const detail = `has ${length} characters with short links; a message can have ${textMax}`
    faults.push({ pointer: '#/message', code: 'too_long', detail })
  }
  return shortened
}

export function refuseShortening(
  { shorten_urls }: { shorten_urls?: unknown },
  shortUrl: string | null | undefined,
): FieldError[] {
  if (shorten_urls !== true || shortUrl) return []
  const detail =
    'needs a domain for short links, which this installation does not have: its operator can set HELIOGRAM_SHORT_URL'
  return [{ pointer: '#/shorten_urls', code: 'invalid_value', detail }]
}
