import { once } from 'node:events'
import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { showId, type IdPrefix } from '../ground/base/ids.ts'
import { describeError, openLog } from './log.ts'
import { maskNumber, maskNumbers } from '../ground/base/mask.ts'

it('hides at least three digits of a number of any length', () => {
  expect(['15551230100', '4930123456', '12345678', '1234567', '123'].map(maskNumber)).toEqual([
    '1555***0100',
    '493***456',
    '12***78',
    '12***67',
    '***',
  ])
})

it('masks numbers in a text, but not addresses, times and ids', () => {
  expect(maskNumbers('to 15551230100, +1 (555) 123-0100 or (555) 123-0100')).toBe(
    'to 1555***0100, 1555***0100 or 555***100',
  )
  const others = [
    'connect ECONNREFUSED 192.168.100.200:2775',
    '2026-11-20 12:00:00.123',
    '2026-11-20T12:00:00.123Z',
    '0193b1c2-1234-7123-8123-123456789012',
    'req_01kbh2v0jzf3tr8d5w4ncq6m7x took 123456 ms',
  ]
  expect(others.map(maskNumbers)).toEqual(others)
})

it('describes an error without the row, the value or the text', () => {
  const unique = Object.assign(new Error('duplicate key value violates unique constraint "contacts_pkey"'), {
    code: '23505',
    constraint: 'contacts_pkey',
    detail: 'Key (phone_number)=(15551230100) already exists.',
    where: 'COPY contacts, line 1: "secret"',
  })
  const data = Object.assign(new Error('invalid input syntax for type uuid: "a secret text"'), { code: '22P02' })
  let syntax: unknown
  try {
    JSON.parse('{"message":"a secret text"')
    JSON.parse('a secret "text"')
  } catch (error) {
    syntax = error
  }
  const wrapped = new Error('for 15551230100', { cause: data })
  const described = JSON.stringify([unique, data, syntax, wrapped].map((error) => describeError(error)))
  expect(described).not.toMatch(/secret|15551230100|already exists/)
  expect(describeError(unique)).toMatchObject({ type: 'Error', code: '23505', constraint: 'contacts_pkey' })
  expect(describeError(wrapped)).toMatchObject({ message: 'for 1555***0100', cause: { code: '22P02' } })
  expect(describeError('a word')).toBe('a word')
})

it('shows ids as the API does, so that a reader can look them up', () => {
  let text = ''
  const sink = new Writable({ write: (chunk: Buffer, _, done) => done(void (text += chunk.toString())) })
  const id = '0193b1c2-1234-7123-8123-123456789012'
  openLog('info', sink).info({ link: id, account: id, import: id, message: id, contact: id, node: id }, 'many ids')
  openLog('info', sink).info({ account: null, link: 'none' }, 'no ids')
  const shown = (prefix: IdPrefix): string => showId(prefix, id)
  const lines = text.trim().split('\n')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    link: shown('lnk'),
    account: shown('acc'),
    import: shown('imp'),
    message: shown('msg'),
    contact: shown('ctc'),
    // Unknown to all routes.
    node: id,
  })
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ account: null, link: 'none' })
})

it('writes errors so under both of their names', () => {
  let text = ''
  const sink = new Writable({ write: (chunk: Buffer, _, done) => done(void (text += chunk.toString())) })
  const log = openLog('info', sink)
  const error = Object.assign(new Error('no'), { detail: 'a secret text' })
  log.error({ error }, 'sweep failed')
  log.error({ err: error }, 'request failed')
  expect(
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { msg: string }).msg),
  ).toEqual(['sweep failed', 'request failed'])
  expect(text.match(/"message":"no"/g)).toHaveLength(2)
  expect(text).not.toContain('secret')
})

it('holds a megabyte for a stalled reader, drops the rest, and reports its size', async () => {
  let text = ''
  let isRead = false
  const waiting: (() => void)[] = []
  const sink = new Writable({
    write: (chunk: Buffer, _, done) => {
      text += chunk.toString()
      if (isRead) done()
      else waiting.push(done)
    },
  })
  const log = openLog('info', sink)
  const lines = 10_000
  for (let i = 0; i < lines; i++) log.info({ i, filler: 'x'.repeat(1000) }, 'written')
  expect(sink.writableLength).toBeLessThan(1_060_000)
  isRead = true
  const drained = once(sink, 'drain')
  waiting.forEach((done) => done())
  await drained
  log.info('goes on')
  const told = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string; i?: number; lines?: number })
  const written = told.filter(({ msg }) => msg === 'written')
  expect(written.map(({ i }) => i)).toEqual(written.map((_, i) => i))
  expect(told.slice(written.length)).toMatchObject([
    { level: 40, msg: 'log lines were dropped', lines: lines - written.length },
    { msg: 'goes on' },
  ])
})
