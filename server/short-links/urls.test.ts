import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findUrls } from './urls.ts'

describe('addresses in a text', () => {
  it.each([
    ['See https://example.com.', ['https://example.com']],
    ['See https://example.com/a?b=c&d=%20#e, please!', ['https://example.com/a?b=c&d=%20#e']],
    ['Really (https://example.com/a)?!', ['https://example.com/a']],
    ['https://en.wikipedia.org/wiki/Mercury_(planet)', ['https://en.wikipedia.org/wiki/Mercury_(planet)']],
    ['(see https://en.wikipedia.org/wiki/Mercury_(planet)).', ['https://en.wikipedia.org/wiki/Mercury_(planet)']],
    ['[https://example.com/a] {https://example.com/b}', ['https://example.com/a', 'https://example.com/b']],
    [
      '<https://example.com> "https://example.org" ‘https://example.net’',
      ['https://example.com', 'https://example.org', 'https://example.net'],
    ],
    ["It's 'https://example.com/it's'", ["https://example.com/it's"]],
    [
      'https://a.example,https://b.example/x;http://c.example',
      ['https://a.example', 'https://b.example/x', 'http://c.example'],
    ],
    [
      'https://web.archive.org/web/2020/https://example.com/',
      ['https://web.archive.org/web/2020/https://example.com/'],
    ],
    ['HTTPS://Example.COM/Path', ['HTTPS://Example.COM/Path']],
    ['http://localhost:3000/x http://192.0.2.1/y', ['http://localhost:3000/x', 'http://192.0.2.1/y']],
    ['https://bücher.example/straße', ['https://bücher.example/straße']],
    ['https://пример.рф/путь и http://例え.テスト/あ', ['https://пример.рф/путь', 'http://例え.テスト/あ']],
    ['请看https://example.com，谢谢', ['https://example.com']],
    ['https://example.comを見て', ['https://example.com']],
    ['🎉https://example.com/sale🎉 https://example.org❤️', ['https://example.com/sale', 'https://example.org']],
    ['1️⃣ https://example.com…', ['https://example.com']],
    ['line\nhttps://example.com/a\r\nline', ['https://example.com/a']],
    [
      'token https://example.com/t/abc_ and https://example.com/t/x-',
      ['https://example.com/t/abc_', 'https://example.com/t/x-'],
    ],
    ['https://example.com/a/', ['https://example.com/a/']],
    ['https://example.com.', ['https://example.com']],
    ['https://example.com:8443.', ['https://example.com:8443']],
  ])('%s', (text, urls) => expect(urlsOf(text)).toEqual(urls))

  it.each([
    'ann@example.com, https.example.com, www.example.com',
    'mailto:ann@http.example.com',
    'https://user@example.com and https://user:secret@example.com/x',
    'https://bank.example@evil.example/',
    'https:// http://. https://- ftp://example.com xhttps://example.com git+https://example.com',
    'https://example.com:99999999/',
    'javascript:alert(1) data:text/html,x',
  ])('no address in %s', (text) => expect(urlsOf(text)).toEqual([]))

  it('are found whole whatever surrounds them', () => {
    const label = fc.stringMatching(/^[a-z0-9]{1,10}$/)
    const host = fc.oneof(
      fc.tuple(label, fc.constantFrom('example', 'com', 'co.uk', 'xn--p1ai')).map((parts) => parts.join('.')),
      fc.constantFrom('bücher.example', 'пример.рф', '例え.テスト'),
    )
    const path = fc.stringMatching(/^(\/[A-Za-z0-9_~%=&+-]{0,10}(\([a-z]{1,3}\))?){0,3}(\?[a-z]=[A-Za-z0-9_-]{1,8})?$/)
    const url = fc
      .tuple(fc.constantFrom('http', 'https'), host, fc.constantFrom('', ':8080'), path)
      .map(([scheme, name, port, rest]) => `${scheme}://${name}${port}${rest}`)
      .filter((one) => URL.canParse(one))
    const before = fc.constantFrom('', ' ', '(', '"', '“', 'look:', '\n', '🎉', '[', '- ', 'mail ann@example.com ')
    const after = fc.constantFrom(
      ' ',
      '. ',
      ', ',
      '! ',
      '?! ',
      ') ',
      ')." ',
      '”',
      '…',
      '🎉 ',
      '👍🏽 ',
      '\n',
      '> ',
      '’ ',
      '。',
    )
    fc.assert(
      fc.property(fc.array(fc.tuple(before, url, after), { maxLength: 5 }), (pieces) => {
        const text = pieces.map((piece) => piece.join('')).join('')
        expect(urlsOf(text)).toEqual(pieces.map(([, one]) => one))
      }),
      { numRuns: 2000 },
    )
  })

  it('are where they are reported, and can be parsed, in any text', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('https://', 'http://a', '.b', '@', ')', '(', ',', ':'),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        let last = 0
        for (const { url, start, end } of findUrls(text)) {
          expect(start).toBeGreaterThanOrEqual(last)
          expect(text.slice(start, end)).toBe(url)
          expect(new URL(url).protocol).toMatch(/^https?:$/)
          expect(new URL(url).username).toBe('')
          expect(new URL(url).href).toMatch(/^[!-~]+$/)
          last = end
        }
      }),
      { numRuns: 2000 },
    )
  })

  it('take as long each in a run of characters with many of them as in one with few', () => {
    const cost = (count: number): number => {
      const text = 'http://a.bb中'.repeat(count)
      expect(findUrls(text).length).toBe(count)
      // CPU time, because the machine may be busy; its clock has steps of some milliseconds.
      const before = process.threadCpuUsage()
      for (let i = 0; i < 64_000; i += count) findUrls(text)
      const { user, system } = process.threadCpuUsage(before)
      return user + system
    }
    expect(cost(1600) / cost(20)).toBeLessThan(10)
  })

  it('take time linear in the text', () => {
    const text = `${'https://a'.repeat(170)}${'https://a/'.repeat(1)}${')'.repeat(1600)}`
    const startedAt = performance.now()
    for (let i = 0; i < 100; i++) findUrls(text)
    // Quadratic time would take minutes.
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })
})

const urlsOf = (text: string): string[] => findUrls(text).map(({ url }) => url)
