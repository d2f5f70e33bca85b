/** Forms (application/x-www-form-urlencoded) as octets. */
import { isUtf8 } from 'node:buffer'

/** Whether a form, with its %XX escapes, is UTF-8: a reader would replace other octets with U+FFFD. */
export function isFormOfUtf8(body: Buffer): boolean {
  return isUtf8(unescaped(body))
}

/** The fields of a form or query as octets, in order. */
export function octetPairs(form: Buffer): [string, Buffer][] {
  const pairs: [string, Buffer][] = []
  for (const pair of form.toString('latin1').split('&')) {
    if (pair === '') continue
    const [name = Buffer.alloc(0), ...value] = pair
      .split('=')
      .map((text) => unescaped(Buffer.from(text.replaceAll('+', ' '), 'latin1')))
    // A value may contain equals signs.
    pairs.push([name.toString('utf8'), Buffer.concat(value.flatMap((one, i) => (i === 0 ? [one] : [equality, one])))])
  }
  return pairs
}

const equality = Buffer.from('=')

/** Decodes %XX. A plus sign stays. */
function unescaped(body: Buffer): Buffer {
  if (!body.includes(percent)) return body
  const octets = Buffer.allocUnsafe(body.length)
  let length = 0
  for (let at = 0; at < body.length; at++) {
    const digits = body[at] === percent ? body.toString('latin1', at + 1, at + 3) : ''
    const isEscape = /^[0-9a-f]{2}$/i.test(digits)
    octets[length++] = isEscape ? Number.parseInt(digits, 16) : (body[at] ?? 0)
    if (isEscape) at += 2
  }
  return octets.subarray(0, length)
}

const percent = 0x25
