import { expect, it } from 'vitest'
import type { Reply } from './adapter.ts'
import { generic } from './generic.ts'
import { checkGeneric, type GenericSettings } from './generic-settings.ts'
import { sinch } from './sinch.ts'
import { configure, recordedMessage } from './testing.ts'
import { vonage } from './vonage.ts'

const settings = configure('generic', 'https://api.carrier.test').settings as unknown as GenericSettings
const reply = { from: '/from', to: '/to', text: '/text' }

const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16()

it.each([
  ['UTF-16BE', utf16('Привет 👋'), 'Привет 👋'],
  ['ISO-8859-1', Buffer.from('Grüße + 3', 'latin1'), 'Grüße + 3'],
  ['windows-1251', Buffer.from('cff0e8e2e5f2', 'hex'), 'Привет'],
  ['UTF-8', Buffer.from('漢字 = 5&6'), '漢字 = 5&6'],
])('a reply in %s is read by the setting, and by its own declaration', (charset, octets, text) => {
  expect(read(escape(octets), { charset })).toEqual([text, text])
  expect(read(escape(octets), { charset_at: '/cs' }, `&cs=${charset}`)).toEqual([text, text])
  expect(read(escape(octets), { charset_at: '/cs', charsets: { 2: charset } }, '&cs=2')).toEqual([text, text])
})

it('a reply without a charset is UTF-8, or what its octets show', () => {
  expect(read(escape(Buffer.from('Grüße 👋')), {})).toEqual(['Grüße 👋', 'Grüße 👋'])
  expect(read('Gr%FC%DFe', {})).toEqual(['Grüße', 'Grüße'])
  expect(read('two+words%2B', { charset_at: '/cs' }, '&cs=nonsense')).toEqual(['two words+', 'two words+'])
})

it.each([
  ['windows-1252 under UTF-8', { charset: 'UTF-8' }, Buffer.from('Arrêt', 'latin1'), 'Arrêt', true],
  ['windows-1252 that nobody names', {}, Buffer.from('Arrêt', 'latin1'), 'Arrêt', true],
  ['half a pair under UTF-16BE', { charset: 'UTF-16BE' }, Buffer.from('STOP!'), 'STOP!', true],
  ['UTF-16BE that is named', { charset: 'UTF-16BE' }, utf16('Arrêt'), 'Arrêt', false],
  ['UTF-8 that nobody names', {}, Buffer.from('Arrêt'), 'Arrêt', false],
])('a reply in %s is read, and keeps octets that do not fit', (_, settings, octets, text, isKept) => {
  const read = readReplies(escape(octets), settings)
  expect(read).toMatchObject([{ text }, { text }])
  for (const one of read) expect(one.octets).toEqual(isKept ? octets : null)
})

it.each([
  [Buffer.from('STOP'), 'STOP'],
  [Buffer.from('Привет'), 'Привет'],
  [utf16('Привет'), 'Привет'],
  [Buffer.from('0102fe00ff', 'hex'), '[5 octets of binary data]'],
])('a binary reply %# is a text if its octets are, and keeps them', (octets, text) => {
  const place = { from: '15551230001', to: '15557654321' }
  const request = { method: 'POST', url: 'https://sms.example.com/replies', headers: {}, at: new Date() }
  const posted = (body: object) => ({ ...request, body: Buffer.from(JSON.stringify(body)) })
  const { settings: ofSinch } = configure('sinch', 'https://api.carrier.test')
  const { settings: ofVonage } = configure('vonage', 'https://api.carrier.test')
  expect(
    sinch.parseReply(posted({ ...place, type: 'mo_binary', body: octets.toString('base64') }), ofSinch as never),
  ).toMatchObject([{ text, octets }])
  expect(
    vonage.parseReply(posted({ to: place.to, msisdn: place.from, data: octets.toString('hex') }), ofVonage as never),
  ).toMatchObject([{ text, octets }])
})

it('an unknown charset is refused, with its place', () => {
  const wrong = { ...settings, reply: { ...reply, charset: 'UTF-99', charsets: { a: 'utf-8', b: 'no' } } }
  expect(checkGeneric(wrong, { key: 'k', signature: 's' }).map(({ pointer }) => pointer)).toEqual([
    '#/settings/reply/charset',
    '#/settings/reply/charsets/b',
  ])
})

it.each([
  ['GSM-7', { 'GSM-7': '0', 'UCS-2': '2' }, '0'],
  ['UCS-2', { 'GSM-7': '0', 'UCS-2': '2' }, '2'],
  ['UCS-2', { 'UCS-2': '' }, ''],
  ['GSM-7', undefined, 'GSM-7'],
] as const)('%s is written in the carrier’s word: %j', (encoding, encodings, word) => {
  const request = { ...settings.request, url: 'https://c.test/?coding={{encoding}}', ...(encodings && { encodings }) }
  const { url } = generic.send({ ...recordedMessage, encoding }, { ...settings, request }, { key: 'k', signature: 's' })
  expect(new URL(url).searchParams.get('coding')).toBe(word)
})

const escape = (octets: Buffer): string => octets.toString('hex').replaceAll(/../g, '%$&')

const read = (...reply: Parameters<typeof readReplies>): string[] => readReplies(...reply).map((one) => one.text)

function readReplies(text: string, changes: Partial<NonNullable<GenericSettings['reply']>>, more = ''): Reply[] {
  const fields = `from=15551230001&to=15557654321&text=${text}${more}`
  const url = 'https://sms.example.com/replies'
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const own = { ...settings, reply: { ...reply, ...changes } }
  return [
    { method: 'GET', url: `${url}?${fields}`, headers: {}, body: Buffer.alloc(0), at: new Date() },
    { method: 'POST', url, headers: form, body: Buffer.from(fields), at: new Date() },
  ].flatMap((request) => generic.parseReply(request, own))
}
