import { describe, expect, it } from 'vitest'
import { findOverlaps } from './route-overlap.ts'
import type { Rule } from './route.ts'

const rule = (id: string, changes: Partial<Rule> = {}): Rule => ({
  id,
  enabled: true,
  accountId: null,
  campaignId: null,
  type: null,
  countries: [],
  prefixes: [],
  senders: [],
  carriers: [{ carrierId: 'a', weight: 1, cost: null }],
  maxCost: null,
  currency: null,
  ...changes,
})
const overlapsOf = (...rules: Rule[]): string[] =>
  findOverlaps(rules, rules.length - 1).map(({ code, ruleId }) => `${code} by ${ruleId}`)

describe('a route', () => {
  it('is shadowed by an earlier one that matches all it matches', () => {
    expect(overlapsOf(rule('all'), rule('us', { countries: ['US'] }))).toEqual(['shadowed by all'])
    expect(overlapsOf(rule('1'), rule('1555', { prefixes: ['1555'] }))).toEqual(['shadowed by 1'])
    expect(overlapsOf(rule('1', { prefixes: ['1'] }), rule('n', { prefixes: ['1555', '1666'], type: 'otp' }))).toEqual([
      'shadowed by 1',
    ])
  })

  it('is not bothered by a more special one before it, nor by one it never meets', () => {
    expect(overlapsOf(rule('us', { countries: ['US'] }), rule('all'))).toEqual([])
    expect(overlapsOf(rule('otp', { type: 'otp' }), rule('marketing', { type: 'marketing' }))).toEqual([])
    expect(overlapsOf(rule('44', { prefixes: ['44'] }), rule('1', { prefixes: ['1'] }))).toEqual([])
  })

  it('is overlapped by one that takes some, where neither is the more special', () => {
    expect(overlapsOf(rule('us', { countries: ['US', 'GB'] }), rule('otp', { type: 'otp' }))).toEqual([
      'overlapped by us',
    ])
  })

  it('is only overlapped by one that may pass its messages on', () => {
    const capped = rule('capped', { maxCost: 1 })
    const elsewhere = rule('b', { carriers: [{ carrierId: 'b', weight: 1, cost: null }] })
    const us = rule('us', { countries: ['US'] })
    expect(overlapsOf(capped, us)).toEqual(['overlapped by capped'])
    expect(overlapsOf(elsewhere, us)).toEqual(['overlapped by b'])
    expect(overlapsOf(rule('refuse', { carriers: [] }), us)).toEqual(['shadowed by refuse'])
  })

  it('that is disabled neither takes nor loses', () => {
    expect(overlapsOf(rule('all', { enabled: false }), rule('us', { countries: ['US'] }))).toEqual([])
    expect(overlapsOf(rule('all'), rule('us', { countries: ['US'], enabled: false }))).toEqual([])
  })
})
