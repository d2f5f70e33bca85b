import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { isIP } from 'node:net'

export interface Certificate {
  readonly cert: string
  readonly key: string
}

const YEAR_MS = 365 * 24 * 3_600_000

/** DER of object identifiers: X.509 (RFC 5280) and ECDSA with SHA-256 (RFC 5758 §3.2). */
const ECDSA_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')
const BASIC_CONSTRAINTS = Buffer.from('0603551d13', 'hex')
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex')
const TRUE = Buffer.from('0101ff', 'hex')
const VERSION_3 = Buffer.from('a003020102', 'hex')

/** ASN.1 tags. X.690 §8. */
const INTEGER = 0x02
const BITS = 0x03
const OCTETS = 0x04
const UTF8 = 0x0c
const UTC_TIME = 0x17
const SEQUENCE = 0x30
const SET = 0x31
const DNS_NAME = 0x82
const IP_ADDRESS = 0x87
const EXTENSIONS = 0xa3

/**
 * A self-signed certificate for localhost, its addresses and one more host, valid from a day ago for a year. Clients trust it as their authority.
 */
export function makeCertificate(host: string): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const subjectKey = publicKey.export({ type: 'spki', format: 'der' })
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, 'heliogram simulator'))))
  const names = [...new Set(['localhost', '127.0.0.1', host])].filter((one) => isIP(one) !== 6).map(nameOf)
  const body = der(
    SEQUENCE,
    VERSION_3,
    // Derived from the key, so that serial numbers are unique; the first octet keeps it positive.
    der(INTEGER, Buffer.concat([Buffer.from([1]), createHash('sha256').update(subjectKey).digest().subarray(0, 15)])),
    der(SEQUENCE, ECDSA_SHA256),
    name,
    der(SEQUENCE, der(UTC_TIME, utcTime(Date.now() - YEAR_MS / 365)), der(UTC_TIME, utcTime(Date.now() + YEAR_MS))),
    name,
    subjectKey,
    der(
      EXTENSIONS,
      der(
        SEQUENCE,
        der(SEQUENCE, BASIC_CONSTRAINTS, TRUE, der(OCTETS, der(SEQUENCE, TRUE))),
        der(SEQUENCE, SUBJECT_ALT_NAME, der(OCTETS, der(SEQUENCE, ...names))),
      ),
    ),
  )
  const signature = der(BITS, Buffer.from([0]), sign('sha256', body, privateKey))
  return {
    cert: toPem(der(SEQUENCE, body, der(SEQUENCE, ECDSA_SHA256), signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

function nameOf(host: string): Buffer {
  return isIP(host) === 4 ? der(IP_ADDRESS, Buffer.from(host.split('.').map(Number))) : der(DNS_NAME, host)
}

/** One ASN.1 value with its tag and length. X.690 §8.1. */
function der(tag: number, ...parts: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part)))
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

/** YYMMDDhhmmssZ */
function utcTime(atMs: number): string {
  return `${new Date(atMs).toISOString().replaceAll(/\D/g, '').slice(2, 14)}Z`
}

function toPem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}
