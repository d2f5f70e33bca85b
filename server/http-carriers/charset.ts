/** Texts of carriers that come as octets. */
import { readOctets } from '@heliogram/smpp'

/** Whether a name is a charset of the Encoding Standard. */
export function isCharset(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== 'replacement'
  } catch {
    return false
  }
}

/** A text, with the octets that it was read from where they are not what the carrier declared of them, as for replies over SMPP. */
export interface ReadText {
  text: string
  octets: Buffer | null
}

/** Reads octets in a charset; where none is named or they are not in it, as UTF-8 or as what they show. */
export function readText(octets: Buffer, charset: string | null): ReadText {
  const isNamed = charset !== null && isCharset(charset)
  const text = isNamed ? decode(octets, charset) : null
  if (text !== null) return keepBeside(octets, text, true)
  const read = readOctets(octets, 'utf8')
  return keepBeside(octets, read.text ?? octets.toString('latin1'), read.isExact && read.isReadable && !isNamed)
}

/** Reads what a carrier calls binary: it is a text where the octets are a printable one. */
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
