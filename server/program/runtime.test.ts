import { expect, test } from 'vitest'
import { findFixedNode } from './runtime.ts'

test.each([
  ['v24.12.0', '24.22.1'],
  ['v24.22.0', '24.22.1'],
  ['v24.22.1', null],
  ['v24.23.0', null],
  ['v25.9.0', '26.12.1'],
  ['v26.9.3', '26.12.1'],
  ['v26.12.1', null],
  ['v27.0.0', null],
])('for Node.js %s it names %s', (version, fixed) => {
  expect(findFixedNode(version)).toBe(fixed)
})
