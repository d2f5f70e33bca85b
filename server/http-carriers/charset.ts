/** Texts that carriers send as octets. */
import { readOctets } from '@heliogram/smpp'

/** Whether the Encoding Standard has a charset of this name. */
export function isCharset(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== 'replacement'
  } catch {
    return false
  }
}

export interface ReadText {
  text: string
  octets: Buffer | null
}

/** Decodes octets by charset; without a valid one, as UTF-8 or by their content. */
export function readText(octets: Buffer, charset: string | null): ReadText {
  const isNamed = charset !== null && isCharset(charset)
  const text = isNamed ? decode(octets, charset) : null
  if (text !== null) return keepBeside(octets, text, true)
  const read = readOctets(octets, 'utf8')
  return keepBeside(octets, read.text ?? octets.toString('latin1'), read.isExact && read.isReadable && !isNamed)
}

/** Decodes what a carrier calls binary: printable octets are a text. */
export function readBinary(octets: Buffer): ReadText {
  return keepBeside(octets, readOctets(octets, 'binary').text ?? `[${octets.length} octets of binary data]`, false)
}

const keepBeside = (octets: Buffer, text: string, isExact: boolean): ReadText => ({
  text: text.replaceAll('\0', '\uFFFD'),
  octets: isExact ? null : octets,
})

function decode(octets: Buffer, charset: string): string | null {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(octets)
  } catch {
    return null
  }
}
