import { expect, test } from 'vitest'
import { createWindow } from './window.ts'

test('grows with quick successes while more posts wait', () => {
  const window = createWindow(64)
  expect(window.size).toBe(4)
  for (let i = 0; i < 10; i++) window.note(true, 5, false)
  expect(window.size).toBe(14)
  for (let i = 0; i < 100; i++) window.note(true, 5, false)
  expect(window.size).toBe(64)
})

test('does not grow with slow responses, or without waiting posts', () => {
  const window = createWindow(64)
  window.note(true, 5000, false)
  window.note(true, 5, true)
  expect(window.size).toBe(4)
})

test('halves once for all posts that were pending together, down to one', () => {
  const window = createWindow(64)
  for (let i = 0; i < 60; i++) window.note(true, 5, false)
  for (let i = 0; i < 64; i++) window.note(false, 15_000, false)
  expect(window.size).toBe(32)
  expect(window.isHealthy).toBe(false)
  for (let i = 0; i < 32; i++) window.note(false, 15_000, false)
  expect(window.size).toBe(16)
  for (let i = 0; i < 100; i++) window.note(false, 15_000, false)
  expect(window.size).toBe(1)
  window.note(true, 5, false)
  expect(window.isHealthy).toBe(true)
})
