import { describe, expect, it } from 'vitest'
import { findOverlaps } from './overlap.ts'
import type { Rule } from './route.ts'
import { testRule } from '../carriers/testing.ts'

describe('a route', () => {
  it('is shadowed by an earlier one that matches everything it matches', () => {
    expect(overlapsOf(testRule('all'), testRule('us', { countries: ['US'] }))).toEqual(['shadowed by all'])
    expect(overlapsOf(testRule('1'), testRule('1555', { prefixes: ['1555'] }))).toEqual(['shadowed by 1'])
    expect(
      overlapsOf(testRule('1', { prefixes: ['1'] }), testRule('n', { prefixes: ['1555', '1666'], type: 'otp' })),
    ).toEqual(['shadowed by 1'])
  })

  it('is not affected by a more specific one before it, nor by a disjoint one', () => {
    expect(overlapsOf(testRule('us', { countries: ['US'] }), testRule('all'))).toEqual([])
    expect(overlapsOf(testRule('otp', { type: 'otp' }), testRule('marketing', { type: 'marketing' }))).toEqual([])
    expect(overlapsOf(testRule('44', { prefixes: ['44'] }), testRule('1', { prefixes: ['1'] }))).toEqual([])
  })

  it('is overlapped by one that takes some, if neither is more specific', () => {
    expect(overlapsOf(testRule('us', { countries: ['US', 'GB'] }), testRule('otp', { type: 'otp' }))).toEqual([
      'overlapped by us',
    ])
  })

  it('is only overlapped by one that may pass its messages on', () => {
    const capped = testRule('capped', { maxCost: 1 })
    const elsewhere = testRule('b', { carriers: [{ carrierId: 'b', weight: 1, cost: null }] })
    const us = testRule('us', { countries: ['US'] })
    expect(overlapsOf(capped, us)).toEqual(['overlapped by capped'])
    expect(overlapsOf(elsewhere, us)).toEqual(['overlapped by b'])
    expect(overlapsOf(testRule('refuse', { carriers: [] }), us)).toEqual(['shadowed by refuse'])
  })

  it('that is disabled neither shadows nor is shadowed', () => {
    expect(overlapsOf(testRule('all', { enabled: false }), testRule('us', { countries: ['US'] }))).toEqual([])
    expect(overlapsOf(testRule('all'), testRule('us', { countries: ['US'], enabled: false }))).toEqual([])
  })
})

const overlapsOf = (...rules: Rule[]): string[] =>
  findOverlaps(rules, rules.length - 1).map(({ code, ruleId }) => `${code} by ${ruleId}`)
