/** A reaction's quote is not the person's own text; a real STOP is never ignored because of a quote. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldWord } from '../../server/opt-outs/fold.ts'
import { keywordDefaults, readKeyword } from '../../server/opt-outs/keywords.ts'

const lines = readFileSync(new URL('inputs/reactions.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n')

describe('reported reactions', () => {
  it.each(lines.slice(0, 3))('%s is not a keyword', (line) => {
    expect(readKeyword(line)).toEqual({ keyword: null, isSuspect: false })
  })
  it('a stop sign is suspect', () => {
    expect(readKeyword(lines[3] ?? '')).toEqual({ keyword: null, isSuspect: true })
  })
  it('a word beside a sign is the person’s', () => {
    const { keyword, isSuspect } = readKeyword(lines[4] ?? '')
    expect(keyword === 'stop' || isSuspect).toBe(true)
  })
})

describe('other reactions', () => {
  it.each([
    'Loved “Reply STOP to end”',
    'Laughed at “STOP to end”',
    'Emphasized “Text STOP to quit”',
    'Emphasised "Text STOP to quit"',
    'Questioned “Reply STOP to end”',
    'Liked "STOP"',
    'Removed a like from “Reply STOP to end”',
    'Removed a heart from “STOP”',
    'Reacted 🛑 to “Reply STOP to end”',
    '👍 to “Reply STOP to end”',
    '\u200a❤️\u200a to “\u200aReply STOP to end\u200a”',
    '😂 to "STOP"',
    '„Antworte STOP“ mit „Gefällt mir“ markiert',
    'Hat „STOP zum Abmelden“ mit „Gefällt mir nicht“ markiert',
    'Reagierte mit 👍 auf „STOP“',
    'A aimé « Répondez STOP »',
    'N’a pas aimé « STOP au 36180 »',
    'Le gusta “Responde STOP”',
    'Le encantó «BAJA»',
    'Gostou de “Responda SAIR”',
    'Curtiu “PARAR”',
    'Ha messo mi piace a “Rispondi STOP”',
    'Vond “Stuur STOP”',
    'Gillade ”Svara STOPP”',
    '> Reply STOP to end\nYes please',
  ])('%s says nothing', (text) => {
    expect(readKeyword(text)).toEqual({ keyword: null, isSuspect: false })
  })

  it.each(['STOP\n> Reply STOP to end', '> See you at six\nSTOP', 'STOP', '“STOP”', '«stop»', '"stop"'])(
    '%s opts out',
    (text) => {
      expect(readKeyword(text).keyword).toBe('stop')
    },
  )

  it.each([
    'Liked it. STOP',
    'STOP “Sale today”',
    'Liked “Sale” STOP “now”',
    'Liked “Sale” stop',
    '⛔️',
    'I liked “it” but stop',
  ])('%s is at least suspect', (text) => {
    const { keyword, isSuspect } = readKeyword(text)
    expect(keyword === 'stop' || isSuspect).toBe(true)
  })
})

it('a person’s own STOP is never missed because of a quote beside it', () => {
  const stop = fc.constantFrom(...keywordDefaults.words.stop.filter((word) => foldWord(word).length > 3))
  const verb = fc.constantFrom('Liked', 'Loved', 'Disliked', 'Reacted 👍 to', 'A aimé', 'Le gusta', '👍 to')
  const quoted = fc.constantFrom('Sale today', 'Hi', 'See you', 'Your code')
  fc.assert(
    fc.property(
      stop,
      verb,
      quoted,
      fc.constantFrom('“”', '""', '«»', '„“'),
      fc.nat(2),
      (word, how, what, marks, place) => {
        const reaction = `${how} ${marks.slice(0, 1)}${what}${marks.slice(1)}`
        const text = [`${word} ${reaction}`, `${reaction} ${word}`, `> ${what}\n${word}`][place] ?? word
        const { keyword, isSuspect } = readKeyword(text)
        expect([text, keyword === 'stop' || isSuspect]).toEqual([text, true])
      },
    ),
  )
})
