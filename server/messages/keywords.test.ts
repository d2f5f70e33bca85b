import fc from 'fast-check'
import { expect, it } from 'vitest'
import { confirmations, keywords, readKeyword } from './keywords.ts'

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
  ['ＳＴＯＰ', null],
  ['STOP PLEASE', null],
  ['STOP 12345', null],
  ['please stop', null],
  ["don't stop", null],
  ['STOPP', null],
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
  expect(readKeyword(text)).toBe(keyword)
})

it('reads every keyword whatever its case, with quotes and blanks around it', () => {
  const all = Object.entries(keywords).flatMap(([keyword, words]) => words.map((word) => ({ keyword, word })))
  const around = fc.string({ unit: fc.constantFrom(' ', '"', "'", '!', '.', '\n', '…'), maxLength: 5 })
  fc.assert(
    fc.property(fc.constantFrom(...all), around, around, fc.boolean(), ({ keyword, word }, before, after, isLower) => {
      expect(readKeyword(before + (isLower ? word.toLowerCase() : word) + after)).toBe(keyword)
    }),
  )
})

it('never fails, however strange the text', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => void readKeyword(text)))
})

it('confirms with the account’s name, and says how to change one’s mind', () => {
  expect(confirmations.stop('Acme')).toMatch(/^Acme: .*START/)
  expect(confirmations.start('Acme')).toMatch(/^Acme: .*STOP/)
  expect(confirmations.help('Acme')).toMatch(/^Acme: .*STOP/)
})
