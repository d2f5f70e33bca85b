/** Forms (application/x-www-form-urlencoded) as their octets. */
import { isUtf8 } from 'node:buffer'

/** Whether all that a form says is UTF-8, with what is written as %XX: a reader would put U+FFFD in the place of what is not. */
export function isFormOfUtf8(body: Buffer): boolean {
  return isUtf8(unescaped(body))
}

/** The fields of a form or of the query of an address as their octets, in their order. */
export function octetPairs(form: Buffer): [string, Buffer][] {
  const pairs: [string, Buffer][] = []
  for (const pair of form.toString('latin1').split('&')) {
    if (pair === '') continue
    const [name = Buffer.alloc(0), ...value] = pair
      .split('=')
      .map((text) => unescaped(Buffer.from(text.replaceAll('+', ' '), 'latin1')))
    // A value may have more signs of equality.
    pairs.push([name.toString('utf8'), Buffer.concat(value.flatMap((one, i) => (i === 0 ? [one] : [equality, one])))])
  }
  return pairs
}

const equality = Buffer.from('=')

/** The octets of a form's text, with those that are written as %XX. A blank that is written as a plus sign stays one. */
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
