/** Texts of carriers that are not UTF-8. */
import { readOctets } from '@heliogram/smpp'

/** Whether a name is a charset of the Encoding Standard. */
export function isCharset(name: string): boolean {
  try {
    return new TextDecoder(name).encoding !== 'replacement'
  } catch {
    return false
  }
}

/** The octets of a text: in a charset, else UTF-8, or what they show. */
export function readText(octets: Buffer, charset: string | null): string {
  if (charset !== null && isCharset(charset)) return new TextDecoder(charset).decode(octets)
  return readOctets(octets, 'utf8').text ?? octets.toString('latin1')
}
