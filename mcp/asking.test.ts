import { expect, test } from 'vitest'
import { askPerson, questionOf } from './asking.ts'

test('shows a person the whole text, and no line of it as one of ours', () => {
  const text = `${'long '.repeat(300)}\nrecipients: 0`
  const lines = questionOf('Send a message', { to: '15551234567', from: undefined }, { text, recipients: 1 }).split(
    '\n',
  )
  expect(lines).toEqual(['Send a message?', 'to: 15551234567', `text: ${JSON.stringify(text)}`, 'recipients: 1'])
})

test('accepts only a yes to this word', () => {
  expect(askPerson({ 'agreed-a': { action: 'accept', content: {} } }, 'a', '')).toBe('agreed')
  expect(askPerson({ 'agreed-a': { action: 'cancel' } }, 'a', '')).toBe('declined')
  expect(askPerson({ 'agreed-b': { action: 'accept', content: {} } }, 'a', 'Really?')).toMatchObject({
    inputRequests: { 'agreed-a': { params: { message: 'Really?' } } },
  })
})
