/**
 * Our reference of a try, which the carrier returns in receipts: they find their message even if the answer to the send, with the carrier's id, was
 * lost.
 */

export interface Reference {
  accountId: string
  messageId: string
  try: number
  segments: number
}

/** `<account and message in base64url>.<try>.<segments>`: at most 50 characters of letters, digits, `.`, `_` and `-`. */
export function writeReference({ accountId, messageId, try: ofTry, segments }: Reference): string {
  const ids = Buffer.from((accountId + messageId).replaceAll('-', ''), 'hex')
  return `${ids.toString('base64url')}.${ofTry}.${segments}`
}

/** Null if it is not one of ours. */
export function readReference(text: string | null): Reference | null {
  const [, ids = '', ofTry, segments] = /^([\w-]{43})\.(\d{1,6})\.(\d{1,3})$/.exec(text ?? '') ?? []
  const hex = Buffer.from(ids, 'base64url').toString('hex')
  if (hex.length !== 64) return null
  return {
    accountId: hyphenate(hex.slice(0, 32)),
    messageId: hyphenate(hex.slice(32)),
    try: Number(ofTry),
    segments: Number(segments),
  }
}

const hyphenate = (hex: string): string => hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
