import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { codingOf, decodeText, type TextCoding } from './coding.ts'
import { joinParts, type MessagePart } from './concat.ts'
import { gsm7Length } from './alphabet.ts'
import { encodeGsm7 } from './gsm7.ts'
import { packGsm7 } from './packing.ts'
import { readOctets } from './reading.ts'

const utf8 = (text: string): Buffer => Buffer.from(text)
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')
const little = (text: string): Buffer => Buffer.from(text, 'utf16le')
const big = (text: string): Buffer => little(text).swap16()

describe('octets that contradict their declaration', () => {
  test.each<[string, TextCoding, Buffer, string]>([
    ['UTF-8 as GSM-7', 'gsm7', utf8('Price 12,50 € café'), 'Price 12,50 € café'],
    ['UTF-8 of one word as GSM-7', 'gsm7', utf8('ARRÊT'), 'ARRÊT'],
    ['UTF-8 of Cyrillic as GSM-7', 'gsm7', utf8('СТОП'), 'СТОП'],
    ['UTF-8 of Chinese as GSM-7', 'gsm7', utf8('退订'), '退订'],
    ['UTF-8 as ASCII', 'ascii', utf8('Grüße 😀'), 'Grüße 😀'],
    ['UTF-8 as Latin-1', 'latin1', utf8('ARRÊT café'), 'ARRÊT café'],
    ['UTF-8 as ISO 8859-5', 'iso-8859-5', utf8('СТОП'), 'СТОП'],
    ['UTF-8 as Shift_JIS', 'shift_jis', utf8('停止'), '停止'],
    ['UTF-8 as EUC-KR', 'euc-kr', utf8('수신거부'), '수신거부'],
    ['UTF-8 as UCS-2', 'ucs2', utf8('ARRÊT'), 'ARRÊT'],
    ['UTF-8 of Cyrillic as UCS-2', 'ucs2', utf8('СТОП'), 'СТОП'],
    ['ASCII as UCS-2', 'ucs2', latin1('STOP'), 'STOP'],
    ['ASCII of an odd length as UCS-2', 'ucs2', latin1('Stop!'), 'Stop!'],
    ['three octets as UCS-2', 'ucs2', latin1('abc'), 'abc'],
    ['UTF-16 in the other order as UCS-2', 'ucs2', little('STOP'), 'STOP'],
    ['Cyrillic in the other order as UCS-2', 'ucs2', little('Стоп, хватит'), 'Стоп, хватит'],
    [
      'letters with emoji and a quote in the other order as UCS-2',
      'ucs2',
      little('Don’t 🙏 ❤️ 5 €'),
      'Don’t 🙏 ❤️ 5 €',
    ],
    ['Vietnamese in the other order as UCS-2', 'ucs2', little('huỷ'), 'huỷ'],
    ['Thai in the other order as UCS-2', 'ucs2', little('หยุด'), 'หยุด'],
    ['ASCII with a NUL behind it as UCS-2', 'ucs2', latin1('STOP\0'), 'STOP'],
    ['ASCII of an odd length with a NUL behind it as UCS-2', 'ucs2', latin1('Stop!\0'), 'Stop!'],
    ['UTF-8 with a NUL behind it as UCS-2', 'ucs2', utf8('СТОП\0'), 'СТОП'],
    ['UCS-2 with a NUL of one octet behind it', 'ucs2', Buffer.concat([big('Да'), Buffer.alloc(1)]), 'Да'],
    ['Latin-1 as GSM-7', 'gsm7', latin1('Arrêt'), 'Arrêt'],
    ['Latin-1 as ASCII', 'ascii', latin1('Größe'), 'Größe'],
    ['Windows-1252 as Latin-1', 'latin1', Buffer.from('3520809394', 'hex'), '5 €“”'],
    ['GSM-7 as Latin-1', 'latin1', encodeGsm7('me@example.com'), 'me@example.com'],
    ['packed septets as GSM-7', 'gsm7', packGsm7(encodeGsm7('STOP')), 'STOP'],
    ['packed septets of a text as GSM-7', 'gsm7', packGsm7(encodeGsm7('Please stop it now')), 'Please stop it now'],
    ['packed septets as Latin-1', 'latin1', packGsm7(encodeGsm7('STOP')), 'STOP'],
    ['packed septets as binary', 'binary', packGsm7(encodeGsm7('Stop please')), 'Stop please'],
    ['ASCII as packed septets', 'gsm7-packed', latin1('STOP'), 'STOP'],
    ['UCS-2 as GSM-7', 'gsm7', big('Été à Paris'), 'Été à Paris'],
    ['UCS-2 of Latin letters as GSM-7', 'gsm7', big('STOP'), 'STOP'],
    ['UCS-2 of Cyrillic as GSM-7', 'gsm7', big('Стоп, хватит!'), 'Стоп, хватит!'],
    ['UCS-2 with emoji and a quote as GSM-7', 'gsm7', big('Don’t 🙏'), 'Don’t 🙏'],
    ['UCS-2 of two letters as ASCII', 'ascii', big('Да'), 'Да'],
    ['UCS-2 of Arabic as GSM-7', 'gsm7', big('توقف'), 'توقف'],
    ['UCS-2 in the other order as GSM-7', 'gsm7', little('Stop it'), 'Stop it'],
    ['UCS-2 of Chinese as GSM-7', 'gsm7', big('退订'), '退订'],
    ['UCS-2 of Korean as Latin-1', 'latin1', big('수신거부'), '수신거부'],
    ['UTF-16 with its mark as GSM-7', 'gsm7', Buffer.from('feff0053', 'hex'), 'S'],
    ['UTF-16 as Latin-1', 'latin1', big('Стоп'), 'Стоп'],
    ['a text as binary', 'binary', latin1('STOP'), 'STOP'],
    ['UTF-8 as binary', 'binary', utf8('Arrêt 👍'), 'Arrêt 👍'],
    ['Latin-1 as binary', 'binary', latin1('Arrêt maintenant'), 'Arrêt maintenant'],
    ['UCS-2 as binary', 'binary', big('Стоп'), 'Стоп'],
  ])('%s', (_name, declared, octets, text) => {
    expect(readOctets(octets, declared)).toMatchObject({ text, isExact: false, isReadable: true })
  })
})

describe('octets that may fit their declaration', () => {
  test.each<[string, TextCoding, Buffer, string]>([
    ['GSM-7', 'gsm7', encodeGsm7('1 @ 2 € [x]'), '1 @ 2 € [x]'],
    ['GSM-7 with an @ and many è', 'gsm7', encodeGsm7('è @ èèèè, è vero'), 'è @ èèèè, è vero'],
    ['Latin-1', 'latin1', latin1('Ça va été'), 'Ça va été'],
    ['Latin-1 of one letter', 'latin1', latin1('Ã'), 'Ã'],
    ['Chinese that looks like ASCII', 'ucs2', big('你好'), '你好'],
    ['one character of Chinese', 'ucs2', big('一'), '一'],
    ['Korean', 'ucs2', big('수신거부'), '수신거부'],
    ['Hindi', 'ucs2', big('बंद करो'), 'बंद करो'],
    ['UCS-2 with its mark', 'ucs2', Buffer.from('fffe4800', 'hex'), 'H'],
    ['packed septets', 'gsm7-packed', packGsm7(encodeGsm7('hello there')), 'hello there'],
    ['nothing', 'gsm7', Buffer.alloc(0), ''],
  ])('%s', (_name, declared, octets, text) => {
    expect(readOctets(octets, declared)).toEqual({ text, coding: declared, isExact: true, isReadable: true })
  })
})

describe('octets that cannot be read', () => {
  test.each<[string, TextCoding, string, string | null]>([
    ['half a pair at the end of UCS-2', 'ucs2', '041f0440d83d', 'Пр\ufffd'],
    ['half a unit of UCS-2', 'ucs2', '041f044004', 'Пр\ufffd'],
    ['what is no text', 'binary', '0001ff80', null],
  ])('%s', (_name, declared, hex, text) => {
    expect(readOctets(Buffer.from(hex, 'hex'), declared)).toMatchObject({ text, isReadable: false })
  })
})

it('reads what was written as declared', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 80 }).filter((one) => !/[\p{Cc}\p{Cn}\ufeff\ufffe]/u.test(one))
  fc.assert(
    fc.property(text, (one) => {
      if (gsm7Length(one) >= 0) expect(readOctets(encodeGsm7(one), 'gsm7').text).toBe(one)
      expect(readOctets(utf8(one), 'utf8').text).toBe(one)
    }),
  )
})

it('reads UTF-8 under any declaration of single octets, if it has a letter beyond ASCII', () => {
  const letters = fc.constantFrom(...Array.from('aeiou stop éèêüñçßøžščřабвгαβγ退订停止👍€“”'))
  const text = fc.array(letters, { minLength: 1, maxLength: 60 }).map((all) => `${all.join('')}é`)
  fc.assert(
    fc.property(text, fc.constantFrom<TextCoding>('gsm7', 'ascii', 'latin1', 'binary'), (one, declared) => {
      expect(readOctets(utf8(one), declared)).toMatchObject({ text: one, coding: 'utf8', isReadable: true })
    }),
  )
})

it('never fails; reports exactness only if nothing is lost, and never yields NUL or half a pair', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(255), (octets, data_coding) => {
      const { text, isExact, isReadable } = readOctets(octets, codingOf(data_coding))
      if (text === null) {
        expect(decodeText(octets, codingOf(data_coding))).toBeInstanceOf(Buffer)
        return
      }
      expect([text.isWellFormed(), text.includes('\0')]).toEqual([true, false])
      if (isExact || isReadable) expect(text).not.toContain('\ufffd')
    }),
    { numRuns: 10_000 },
  )
})

describe('parts with different codings', () => {
  const part = (number: number, data_coding: number, body: Buffer): MessagePart => ({
    concatenation: { kind: 'udh8', reference: 1, total: 3, part: number },
    data_coding,
    shift: {},
    udhLength: 6,
    body,
  })

  it('are each read as they are', () => {
    const parts = [part(1, 0, latin1('One ')), part(2, 8, big('два ')), part(3, 4, utf8('três'))]
    expect(joinParts(parts)).toMatchObject({ text: 'One два três', isExact: false, isReadable: true })
  })

  it('are read together if they have one coding, so that a character cut in two is whole', () => {
    const octets = utf8('12 € cafés!')
    const parts = [part(1, 0, octets.subarray(0, 4)), part(2, 0, octets.subarray(4, 9)), part(3, 0, octets.subarray(9))]
    expect(joinParts(parts)).toMatchObject({ text: '12 € cafés!', isExact: false, isReadable: true })
  })
})
