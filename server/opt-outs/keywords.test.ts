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
  ['STOP PLEASE', 'stop'],
  ['STOP 12345', null],
  ['please stop', 'stop'],
  ["don't stop", null],
  ['STOPP', 'stop'],
  ['STOPPP', 'stop'],
  ['STOOP', null],
  ['退订', 'stop'],
  ['\u0090\ua28b', 'stop'],
  ['屐扫', 'stop'],
  ['停止', 'stop'],
  ['Стоп!', 'stop'],
  ['στοπ', 'stop'],
  ['توقف', 'stop'],
  ['หยุด', 'stop'],
  ['arrêtez', 'stop'],
  ['إلغاء', 'stop'],
  ['수신거부', 'stop'],
  ['\u200Fהסר\u200F', 'stop'],
  ['\u2067إيقاف\u2069', 'stop'],
  ['\uFEFFSTOP\u200B', 'stop'],
  ['STOP\0', 'stop'],
  ['Stop 🤷🏽‍♀️', 'stop'],
  ['S T O P', 'stop'],
  ['s.t.o.p.', 'stop'],
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
  'STOP STOP STOP',
  'STOPSTOP',
  'stop!!! stop!!!',
  'STOP UNSUBSCRIBE',
  'Please stop.',
  'pls STOP, thanks',
  'OK stop',
  'STOP texting me',
  'Stop sending me these messages!',
  'stop the texts now',
  'Stop it',
  'STOP ALL MESSAGES',
  'UNSUBSCRIBE ME',
  'Please remove me from your list',
  'unsubscribe from all',
  'opt me out',
  'Cancel, thank you',
  'STOP svp',
  "Arrêt s'il vous plaît",
  'STOP SMS',
  'désabonner moi',
  'Bitte abmelden, danke',
  'STOPP bitte sofort',
  'Afmelden a.u.b.',
  'Stopp, tack!',
  'Baja por favor, gracias',
  'darme de baja',
  'PARAR por favor',
  'Sair, obrigada',
  'Annulla, grazie',
  'lopeta kiitos',
  'Proszę wypisz mnie',
  'Odhlásit prosím',
  'dezabonare vă rog',
  'İptal lütfen',
  'tolong berhenti',
  'HỦY, cảm ơn',
  'Стоп, пожалуйста!',
  'Отписаться от рассылки',
  'Відписатися, будь ласка',
  'Διαγραφή παρακαλώ',
  'إلغاء من فضلك',
  'הסר אותי בבקשה',
  'कृपया बंद करें',
  '请退订，谢谢',
  'หยุดส่งครับ',
  'Hủy đăng ký',
  '수신거부 부탁',
  'Stop, thank you very much',
  '退订退订',
  'TD TD',
  '配信停止お願いします',
  '停止してください。',
  '수신거부 부탁드립니다',
  'STOP 60606',
  `STOP${' '.repeat(200)}`,
  'STOP '.repeat(60),
])('opts out on %j, which says nothing else', (text) => {
  expect(readKeyword(text, undefined, '60606')).toEqual({ keyword: 'stop', isSuspect: false })
})

it('opts out on every stop word with courtesies of its language or another around it, and repeated', () => {
  const around = fc.constantFrom('', 'please', 'bitte', 'svp', 'merci', 'por favor', 'пожалуйста', '谢谢', '!')
  fc.assert(
    fc.property(
      fc.constantFrom(...keywordDefaults.words.stop),
      around,
      around,
      fc.integer({ min: 1, max: 3 }),
      (word, a, b, times) => {
        expect(readKeyword(`${a} ${`${word} `.repeat(times)}${b}`).keyword).toBe('stop')
      },
    ),
  )
})

it.each([
  'STOP 12345',
  "don't stop",
  'Never stop!',
  'stop the car',
  'STOP ACME',
  'bus stop',
  'the bus stop please',
  'Stop by at noon',
  'STOP or START?',
  'cancel it',
  'Please cancel my appointment',
  'I want to cancel',
  'yes stop',
  'no stop',
  'sotp',
  'STOOP',
  'Please remove me from this list, I never signed up for it',
  'no more texts!!',
  'take me off',
  'STOP. I do not know who you are and you have the wrong person, so leave my family alone and call the office instead.',
  'Hello Ann\nSTOP\nSent from my new phone, which corrects all of my spelling whether I like it or not',
])('recognizes %j as a suspicion, not a keyword', (text) => {
  expect(readKeyword(text)).toEqual({ keyword: null, isSuspect: true })
})

it.each(['start please', 'START START', 'help me please'])('reads START and HELP only as whole replies: %j', (text) => {
  expect(readKeyword(text).keyword).toBeNull()
})

it.each([
  'yes',
  'Thanks, see you',
  'We will stop by the shop tomorrow at noon',
  'shop',
  'the end',
  'Thanks',
  'please',
  'me',
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
