import { expect, test } from 'vitest'
import { isInTheClear, readConnection } from './connection.ts'
import { readOptions } from './options.ts'

test('reports all faults of the options at once', () => {
  const asked = readOptions(['now', '--max-recipients=0', '--confirm-within', '9999', '--read-only=yes', '--loud'])
  expect(asked.kind === 'refused' && asked.faults).toEqual([
    'There is no argument "now".',
    '--read-only takes no value.',
    'There is no option --loud.',
    '--max-recipients must be a whole number from 1 to 1000000.',
    '--confirm-within must be a whole number from 1 to 3600.',
  ])
  expect(readOptions(['--max-recipients']).kind).toBe('refused')
  const options = {
    isReadOnly: true,
    asksPerson: false,
    showsNumbers: false,
    recipientsMax: 5,
    confirmWithinSeconds: 300,
  }
  expect(readOptions(['--read-only', '--max-recipients', '5'])).toEqual({ kind: 'serve', options })
})

test('takes the connection from the environment, with all its faults', () => {
  expect(readConnection({ HELIOGRAM_API_KEY: ' hg_live_a_b\n' })).toEqual({
    baseUrl: 'http://127.0.0.1:8080',
    token: 'hg_live_a_b',
  })
  expect(readConnection({})).toMatchObject({ isKeyMissing: true })
  const wrong = readConnection({ HELIOGRAM_API_KEY: 'two words', HELIOGRAM_URL: 'https://me:secret@sms.example.com' })
  expect('faults' in wrong && wrong.faults.length).toBe(2)
  expect(JSON.stringify(wrong)).not.toMatch(/two words|secret/)
})

test('warns about a key that is sent to another machine without TLS', () => {
  expect(['http://10.0.0.5:8080', 'http://sms.example.com', 'http://127.0.0.1.example.com'].map(isInTheClear)).toEqual([
    true,
    true,
    true,
  ])
  expect(
    ['http://127.0.0.1:8080', 'http://[::1]:8080', 'http://localhost', 'https://sms.example.com'].some(isInTheClear),
  ).toBe(false)
})
