import { expect, test } from 'vitest'
import { newId, showId } from '../ground/base/ids.ts'
import { showSid } from '../post/twilio-words.ts'
import { WrongParameter } from './faults.ts'
import { readTwilioSend } from './send.ts'

const pool = newId()
const plain = { to: '+15551230001', message: 'Hello' }

test.each<[Record<string, string>, object]>([
  [{}, plain],
  [
    { To: ' 15551230001', From: ' 15557654321' },
    { ...plain, from: '+15557654321' },
  ],
  // Without a plus sign; as a national number far from its sender; and with a plus sign.
  [
    { To: '447911123456', From: '15557654321' },
    { ...plain, to: '447911123456', from: '15557654321' },
  ],
  [
    { To: '+2025550123', From: '+15557654321' },
    { ...plain, to: '+2025550123', from: '+15557654321' },
  ],
  [{ From: 'Shop 24' }, { ...plain, from: 'Shop 24' }],
  [{ MessagingServiceSid: showSid('MG', pool) }, { ...plain, sender_pool: showId('pol', pool) }],
  [
    { MessagingServiceSid: showSid('MG', pool), From: '+15557654321' },
    { ...plain, from: '+15557654321' },
  ],
  [
    { ScheduleType: 'fixed', SendAt: '2026-11-20T12:00:00+01:00' },
    { ...plain, send_at: '2026-11-20T11:00:00.000Z' },
  ],
  [{ ValidityPeriod: '1' }, { ...plain, validity_period: 1 }],
  [{ ValidityPeriod: '259200' }, { ...plain, validity_period: 259_200 }],
  [{ StatusCallback: 'https://example.com/a?b#c\nd' }, { ...plain, callback_url: 'https://example.com/a?b#twilio' }],
  [{ SmartEncoded: 'True' }, { ...plain, smart_encoding: true }],
  [{ ShortenUrls: 'false' }, { ...plain, shorten_urls: false }],
  // Like Twilio, ignores empty and unknown parameters.
  [{ From: '', SendAt: '', ScheduleType: '', ValidityPeriod: '', StatusCallback: '', MediaUrl: '' }, plain],
  [{ ProvideFeedback: 'true', Attempt: '1' }, plain],
  [{ Body: '😀'.repeat(1600) }, { ...plain, message: '😀'.repeat(1600) }],
])('%j is read', (parameters, body) => {
  expect(read(parameters)).toEqual(body)
})

test.each<[Record<string, string>, number, RegExp]>([
  [{ To: '' }, 21604, /'To'/],
  [{ Body: '' }, 21602, /body/],
  [{ Body: ' \u200b\n' }, 21602, /body/],
  [{ Body: 'x'.repeat(1601) }, 21617, /1600/],
  [{ From: 'a\0' }, 20001, /'From'.*NUL/],
  [{ MediaUrl: 'https://example.com/cat.png' }, 20001, /'MediaUrl'/],
  [{ ContentSid: 'HX1' }, 20001, /'ContentSid'/],
  [{ PersistentAction: 'x' }, 20001, /'PersistentAction'/],
  [{ ApplicationSid: 'AP1' }, 20001, /'ApplicationSid'/],
  [{ MessagingServiceSid: showSid('SM', pool) }, 21701, /'MessagingServiceSid'/],
  [{ SendAt: '2026-11-20T12:00:00Z' }, 35111, /'ScheduleType'/],
  [{ SendAt: '2026-11-20T12:00:00Z', ScheduleType: 'optimized' }, 35111, /'ScheduleType'/],
  [{ ScheduleType: 'fixed' }, 35113, /'SendAt'/],
  // A date has no time.
  [{ ScheduleType: 'fixed', SendAt: '2026-11-20' }, 35113, /'SendAt'/],
  [{ ScheduleType: 'fixed', SendAt: '2026-11-20T25:00:00Z' }, 35113, /'SendAt'/],
  [{ ValidityPeriod: '0' }, 20001, /'ValidityPeriod'/],
  [{ ValidityPeriod: '259201' }, 20001, /'ValidityPeriod'/],
  [{ ValidityPeriod: '1e3' }, 20001, /'ValidityPeriod'/],
  [{ SmartEncoded: 'yes' }, 20001, /'SmartEncoded'/],
  [{ ShortenUrls: '1' }, 20001, /'ShortenUrls'/],
  [{ StatusCallback: 'https://example.com/'.padEnd(2049, 'a') }, 21609, /2048/],
])('%j is refused with %i', (parameters, code, message) => {
  let thrown: unknown
  try {
    read(parameters)
  } catch (error) {
    thrown = error
  }
  if (!(thrown instanceof WrongParameter)) throw new Error('it was not refused')
  expect(thrown.fault).toMatchObject({ status: 400, code, message: expect.stringMatching(message) })
})

const read = (parameters: Record<string, string>): ReturnType<typeof readTwilioSend> =>
  readTwilioSend(new URLSearchParams({ To: '+15551230001', Body: 'Hello', ...parameters }))
