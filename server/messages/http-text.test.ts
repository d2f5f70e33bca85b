import { describe, expect, it } from 'vitest'
import { SegmentedMessage } from 'sms-segments-calculator'
import { createTestAccount } from '../accounts/testing.ts'
import { newId } from '../ground/base/ids.ts'
import { messageRoutes } from './http.ts'
import type { MessageType, Warning } from '../message/message.ts'
import { ledgerWorld } from './testing.ts'

const { db, sql, account, test, app } = await ledgerWorld([messageRoutes])

const curly = '“It’s ready” – see you soon…'
const plain = '"It\'s ready" - see you soon...'
const replaced = [
  { character: '“', code_point: 'U+201C', replacement: '"', count: 1 },
  { character: '’', code_point: 'U+2019', replacement: "'", count: 1 },
  { character: '”', code_point: 'U+201D', replacement: '"', count: 1 },
  { character: '–', code_point: 'U+2013', replacement: '-', count: 1 },
  { character: '…', code_point: 'U+2026', replacement: '...', count: 1 },
]

describe('smart encoding', () => {
  it('is off by default', async () => {
    for (const changes of [{}, { smart_encoding: false }]) {
      const answer = await send({ message: curly, ...changes })
      expect([answer.status, answer.message, answer.encoding]).toEqual([202, curly, 'UCS-2'])
      expect(codesOf(answer)).toEqual(['ucs2_due_to_character'])
    }
  })

  it('sends, stores and shows the text with its replacements, and lists them', async () => {
    const answer = await send({ message: curly, smart_encoding: true })
    expect(answer).toMatchObject({ status: 202, message: plain, encoding: 'GSM-7', segments: 1, characters: 30 })
    expect(codesOf(answer)).toEqual(['smart_encoded'])
    const warning = answer.warnings.find(({ code }) => code === 'smart_encoded')
    expect(warning).toEqual({
      code: 'smart_encoded',
      detail: 'Replaced, so that the text fits into GSM-7: “ ’ ” – …',
      replaced,
    })
    expect(await test.count('messages', `body = $1 and encoding = 'GSM-7'`, [plain])).toBe(1)
  })

  it('is shown by the preview as it would be sent', async () => {
    const answer = await preview({ message: `${curly}\u200b${' x'.repeat(70)}`, smart_encoding: true })
    expect(answer).toMatchObject({ encoding: 'GSM-7', segments: 2, message: `${plain}${' x'.repeat(70)}` })
    expect(answer.parts.map(({ text }) => text).join('')).toBe(answer.message)
    expect(answer.replaced).toEqual([
      ...replaced,
      { character: '\u200b', code_point: 'U+200B', replacement: '', count: 1 },
    ])
    expect(codesOf(answer)).toEqual(['smart_encoded', 'multi_segment'])
    expect(new SegmentedMessage(answer.message).segmentsCount).toBe(answer.segments)
    expect(await preview({ message: curly })).toMatchObject({ message: curly, replaced: [] })
  })

  it('leaves a text unchanged if it needs UCS-2 anyway, or UCS-2 was requested', async () => {
    expect(await send({ message: '“Привет”', smart_encoding: true })).toMatchObject({
      message: '“Привет”',
      encoding: 'UCS-2',
    })
    expect(await send({ message: curly, smart_encoding: true, encoding: 'ucs2' })).toMatchObject({ message: curly })
    const refused = await send({ message: '“Привет”', smart_encoding: true, encoding: 'gsm7' })
    expect([refused.status, refused.errors]).toMatchObject([422, [{ pointer: '#/message', code: 'not_encodable' }]])
  })

  it('makes texts fit gsm7 and max_segments', async () => {
    const message = `${curly}${'x'.repeat(100)}`
    expect((await send({ message, max_segments: 1 })).status).toBe(422)
    expect(await send({ message, max_segments: 1, smart_encoding: true, encoding: 'gsm7' })).toMatchObject({
      segments: 1,
    })
  })

  it('applies to each message of a batch', async () => {
    const messages = [true, false].map((smart_encoding) => ({ to: '15551230001', message: curly, smart_encoding }))
    const { results } = await post('/v1/messages/batch', { messages }, { 'idempotency-key': 'smart-batch' })
    expect(results.map(({ message }) => message.message)).toEqual([plain, curly])
  })

  it('never applies to codes, and says so', async () => {
    for (const answer of [
      await send({ message: curly, smart_encoding: true, type: 'otp' }),
      await preview({ message: curly, smart_encoding: true, type: 'otp' }),
    ]) {
      expect(answer).toMatchObject({ message: curly, encoding: 'UCS-2' })
      expect(codesOf(answer)).toEqual(['ucs2_due_to_character', 'smart_encoding_off'])
    }
  })

  it('never applies to codes even if the campaign makes them that', async () => {
    const [codes, offers] = [await insertCampaign('codes', 'otp'), await insertCampaign('offers', 'marketing')]
    const code = await send({ message: curly, smart_encoding: true, campaign: codes })
    expect(code).toMatchObject({ message: curly, encoding: 'UCS-2', characters: 28, segments: 1 })
    expect(codesOf(code)).toEqual(['ucs2_due_to_character', 'smart_encoding_off'])
    expect(await send({ message: curly, smart_encoding: true, campaign: offers })).toMatchObject({ message: plain })
    const fits = { message: `${curly}${'x'.repeat(100)}`, smart_encoding: true, max_segments: 1, campaign: offers }
    const refused = await send(fits)
    expect([refused.status, refused.errors]).toMatchObject([422, [{ pointer: '#/type', code: 'required' }]])
    expect((await send({ ...fits, type: 'marketing' })).status).toBe(202)
  })
})

describe('the default country of the account', () => {
  it('recognizes national numbers in sends, batches and previews', async () => {
    const { accountId, headers } = await createTestAccount(db)
    await sql`update accounts set settings = '{"default_country":"US"}' where id = ${accountId}`
    const message = 'x'
    const written = { to: '(415) 555-2671', message }
    const fault = { pointer: '#/to', code: 'invalid_phone_number', suggestion: '14155552671' }
    for (const url of ['/v1/messages/send', '/v1/messages/preview'])
      expect((await post(url, written, headers)).errors).toMatchObject([fault])
    const batch = await post('/v1/messages/batch', { messages: [written] }, { ...headers, 'idempotency-key': 'c' })
    expect(batch.results).toMatchObject([{ status: 422, error: { errors: [fault] } }])
    const digits = await post('/v1/messages/preview', { to: '4582345678', message }, headers)
    expect(digits.errors).toMatchObject([{ ...fault, suggestion: '14582345678' }])
    // Without one, the sender's country decides.
    const other = await post('/v1/messages/preview', { to: '4582345678', message })
    expect(other.errors).toMatchObject([{ ...fault, suggestion: '14582345678' }])
    const plus = await post('/v1/messages/preview', { to: '+4582345678', message })
    expect(plus).toMatchObject({ to: '4582345678' })
  })
})

interface Answer {
  status: number
  message: string
  encoding: string
  segments: number
  characters: number
  warnings: Warning[]
  replaced: NonNullable<Warning['replaced']>
  parts: { text: string }[]
  errors: { pointer: string; code: string }[]
  results: { message: Answer }[]
}

async function post(url: string, payload: object, headers: Record<string, string> = {}): Promise<Answer> {
  const answer = await app.inject({ method: 'POST', url, headers: { ...account.headers, ...headers }, payload })
  return { ...answer.json<Answer>(), status: answer.statusCode }
}
const send = (changes: object): Promise<Answer> => post('/v1/messages', { to: '15551230001', ...changes })
const preview = (changes: object): Promise<Answer> => post('/v1/messages/preview', changes)
const codesOf = ({ warnings }: Answer): string[] =>
  warnings.map(({ code }) => code).filter((code) => code !== 'unassigned_range')

async function insertCampaign(key: string, type: MessageType): Promise<string> {
  await test.sql`insert into campaigns (account_id, id, name, key, type)
    values (${account.accountId}, ${newId()}, ${key}, ${key}, ${type})`
  return key
}
