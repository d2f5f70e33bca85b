import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodingOf, EncodingProbe } from './encoding.ts'

describe('a file without a mark', () => {
  it('is UTF-8 even if its pieces cut its letters', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', 'é', '€', '🙂', '\u07ff', '\uffff', '\u{10ffff}') })
    fc.assert(
      fc.property(text, fc.array(fc.nat(80), { maxLength: 5 }), (some, cuts) => {
        const all = Buffer.from(some)
        const ends = [...cuts, all.length].toSorted((a, b) => a - b)
        expect(find(ends.map((end, at) => all.subarray(ends[at - 1] ?? 0, end)))).toBe('utf-8')
      }),
    )
    for (const letter of ['ë', '€', '🙂']) {
      const one = Buffer.from(letter)
      for (let cut = 1; cut < one.length; cut++)
        expect(find([Buffer.concat([bytes('name\n'), one.subarray(0, cut)]), one.subarray(cut)])).toBe('utf-8')
    }
  })

  it('is Windows-1252 if most of its letters are not UTF-8, even by the very last', () => {
    expect(of('name\nJos\xe9\n')).toBe('windows-1252')
    expect(of('name\nJos\xe9')).toBe('windows-1252')
    expect(of('name\n\x80 5')).toBe('windows-1252')
    expect(find([bytes('name\nJos'), bytes('\xe9'), bytes('\nAda')])).toBe('windows-1252')
    for (const letter of ['\xc3\xab', '\xe2\x82\xac', '\xf0\x9f\x99\x82']) {
      expect(of(`${letter}\nJ\xf6rg\n`)).toBe('utf-8')
      expect(of(`${letter}\nJ\xf6rg\nJ\xf6rg\n`)).toBe('windows-1252')
    }
    // In such a text, the required signs are bytes of Windows-1252.
    for (const wrong of ['\xc1\xa1', '\xed\xa0\x80', '\xf5\x80\x80\x80', '\xf4\x90\x80\x80'])
      expect(of(wrong)).not.toMatch(/^utf/)
  })

  it('is UTF-16 if every second byte is zero, in one position', () => {
    const utf16 = Buffer.from('phone;name\n15551230001;Zoë Łukasz', 'utf16le')
    expect(find([utf16])).toBe('utf-16le')
    expect(find([Buffer.from(utf16).swap16()])).toBe('utf-16be')
    expect(of('phone\n1\0\n2\0\n')).toBe('utf-8')
    expect(find([Buffer.alloc(200)])).toBe('utf-8')
  })
})

it('follows a mark before the caller, and the caller before the bytes', () => {
  expect(of('Zo\xc3\xab', 'windows-1252')).toBe('windows-1252')
  expect(of('\xef\xbb\xbfJos\xe9', 'windows-1252')).toBe('utf-8')
  expect(of('\xff\xfea\0', 'windows-1252')).toBe('utf-16le')
  expect(of('\xfe\xff\0a')).toBe('utf-16be')
  // Lines in both encodings.
  for (const half of ['\xffa', 'a\xfe', '\xfea', 'a\xff', '\xef\xbba', 'a\xbb\xbf', '\xefa\xbf'])
    expect(of(half)).not.toMatch(/^utf/)
  expect(find([bytes('name\n'), bytes('\xff\xfe')])).not.toMatch(/^utf/)
  expect(['UTF-8', 'us-ascii', 'ISO-8859-1', 'latin1', 'UTF-16', 'utf-16BE', 'big5'].map(encodingOf)).toEqual([
    'utf-8',
    'utf-8',
    'windows-1252',
    'windows-1252',
    'utf-16le',
    'utf-16be',
    'big5',
  ])
})

/** Overlong, a surrogate, beyond Unicode. */
function find(pieces: Buffer[], declared: string | null = null): string {
  const probe = new EncodingProbe(declared)
  for (const piece of pieces) probe.add(piece)
  probe.end()
  return probe.undecided ? 'undecided' : probe.encoding
}
/** Half a mark, or one after the beginning, is letters. */
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
const of = (text: string, declared?: string): string => find([bytes(text)], declared)
