import fc from 'fast-check'
import { expect, it } from 'vitest'
import { keywordDefaults, readKeyword, writeReply } from './keywords.ts'

it.each([
  ['STOP', 'stop'],
  ['stop', 'stop'],
  [' Stop ', 'stop'],
  ['Stop!', 'stop'],
  ['"stop"', 'stop'],
  ['“Stop.”', 'stop'],
  ['STOP.\r\n', 'stop'],
  ['stop all', 'stop'],
  ['STOP   ALL', 'stop'],
  ['opt-out', 'stop'],
  ['Opt out', 'stop'],
  ['arrêt', 'stop'],
  ['ARRE\u0302T', 'stop'],
  ['arret', 'stop'],
  ['td', 'stop'],
  ['Unsubscribe', 'stop'],
  ['*STOP*', 'stop'],
  ['ＳＴＯＰ', 'stop'],
  ['STOP PLEASE', null],
  ['STOP 12345', null],
  ['please stop', null],
  ["don't stop", null],
  ['STOPP', 'stop'],
  ['STOPPP', null],
  ['退订', 'stop'],
  ['Стоп!', 'stop'],
  ['إلغاء', 'stop'],
  ['수신거부', 'stop'],
  ['\u200Fהסר\u200F', 'stop'],
  ['\u2067إيقاف\u2069', 'stop'],
  ['\uFEFFSTOP\u200B', 'stop'],
  ['STOP\0', 'stop'],
  ['Stop 🤷🏽‍♀️', 'stop'],
  ['S T O P', null],
  ['start', 'start'],
  ['UNSTOP', 'start'],
  ['yes', null],
  ['Help?', 'help'],
  ['info', 'help'],
  ['', null],
  ['!!!', null],
  ['👍', null],
])('reads %j as %s', (text, keyword) => {
  expect(readKeyword(text).keyword).toBe(keyword)
})

it('reads every keyword whatever its case, with quotes and blanks around it', () => {
  const all = Object.entries(keywordDefaults.words).flatMap(([keyword, words]) =>
    words.map((word) => ({ keyword, word })),
  )
  const around = fc.string({ unit: fc.constantFrom(' ', '"', "'", '!', '.', '\n', '…'), maxLength: 5 })
  fc.assert(
    fc.property(fc.constantFrom(...all), around, around, fc.boolean(), ({ keyword, word }, before, after, isLower) => {
      expect(readKeyword(before + (isLower ? word.toLowerCase() : word) + after).keyword).toBe(keyword)
    }),
  )
})

it.each([
  'stop please',
  'pls stop',
  'STOP 12345',
  "don't stop",
  'S T O P',
  's.t.o.p',
  'STOPPP',
  'sotp',
  'Please remove me from this list, I never signed up for it',
  'no more texts!!',
  'opt me out',
  'Bitte abmelden, danke',
])('recognizes %j as a suspicion, not a keyword', (text) => {
  expect(readKeyword(text)).toEqual({ keyword: null, isSuspect: true })
})

it.each([
  'yes',
  'Thanks, see you',
  'We will stop by the shop tomorrow at noon',
  'shop',
  'the end',
  'TD bank',
  '👍',
  'A B',
])('recognizes %j as an ordinary reply', (text) => {
  expect(readKeyword(text)).toEqual({ keyword: null, isSuspect: false })
})

it('follows the account’s words', () => {
  const words = { ...keywordDefaults.words, stop: ['STOP', 'Genug'], start: ['YES'] }
  expect(readKeyword('genug!', { words }).keyword).toBe('stop')
  expect(readKeyword('yes', { words }).keyword).toBe('start')
  expect(readKeyword('cancel', { words })).toEqual({ keyword: null, isSuspect: false })
})

it('never fails, for any text', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => void readKeyword(text)))
})

it('confirms with the account’s name, and says how to opt in again', () => {
  expect(writeReply(keywordDefaults, 'stop', 'Acme')).toMatch(/^Acme: .*START/)
  expect(writeReply(keywordDefaults, 'start', 'Acme')).toMatch(/^Acme: .*STOP/)
  expect(writeReply(keywordDefaults, 'help', 'Acme')).toMatch(/^Acme: .*STOP/)
})

it('writes an account’s name unchanged', () => {
  const replies = { stop: '{{ account_name }}: done. {{account_name}}', start: null, help: 'x' }
  expect(writeReply({ replies }, 'stop', '$& Co')).toBe('$& Co: done. $& Co')
  expect(writeReply({ replies }, 'start', 'Acme')).toBeNull()
})
