import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lookAtSender, nextStep, patience, type AlertType, type Episode, type Sight } from './alert-step.ts'

const types = ['link.down', 'link.throttled', 'sender.degraded'] as const

describe('an alert', () => {
  it('is reported when trouble has lasted, and again when it has been over for a while', () => {
    expect(watch('link.down', [...repeat('bad', 30), ...repeat('good', 30)])).toEqual(['open 10', 'close 40'])
    expect(watch('link.throttled', [...repeat('bad', 60), ...repeat('good', 60)])).toEqual(['open 30', 'close 90'])
    expect(watch('sender.degraded', ['bad', 'bad', 'good', 'good'])).toEqual(['open 0', 'close 2'])
  })

  it('is not reported for brief trouble', () => {
    expect(watch('link.down', [...repeat('bad', 9), ...repeat('good', 60)])).toEqual([])
  })

  it('is one episode if a link comes and goes', () => {
    const flapping = Array.from({ length: 20 }, () => [...repeat('bad', 12), ...repeat('good', 5)]).flat()
    expect(watch('link.down', flapping)).toEqual(['open 10'])
  })

  it('ends without an all-clear if its subject is no longer watched', () => {
    expect(watch('link.down', [...repeat('bad', 20), 'gone', 'gone'])).toEqual(['open 10', 'drop 20'])
    expect(nextStep('link.down', seen(), 'gone')).toBe('forget')
  })

  it('opens and closes in turn, whatever is observed', () => {
    const sights = fc.array(fc.constantFrom<Sight>('bad', 'between', 'good', 'gone'), { maxLength: 300 })
    fc.assert(
      fc.property(fc.constantFrom(...types), sights, (type, seenOnes) => {
        const told = watch(type, seenOnes).map((one) => one.split(' ')[0])
        told.forEach((one, i) => expect(one === 'open').toBe(i % 2 === 0))
      }),
    )
  })

  it('stays while nothing can be recorded', () => {
    for (const type of types) {
      expect(nextStep(type, seen({ isOpen: true }), 'between')).toBeNull()
      expect(nextStep(type, null, 'between')).toBeNull()
      expect(patience[type].openMs).toBeGreaterThanOrEqual(0)
    }
  })
})

describe('a sender', () => {
  it.each([
    [{ delivered: 0, failed: 49 }, 'between'],
    [{ delivered: 0, failed: 50 }, 'bad'],
    [{ delivered: 69, failed: 31 }, 'bad'],
    [{ delivered: 70, failed: 30 }, 'between'],
    [{ delivered: 79, failed: 21 }, 'between'],
    [{ delivered: 80, failed: 20 }, 'good'],
  ])('with %o looks %s', (count, sight) => {
    expect(lookAtSender(count)).toBe(sight)
  })
})

const seconds = (n: number): number => n * 1000
const seen = (changes: Partial<Episode> = {}): Episode => ({ seenMs: 0, isOpen: false, clearMs: null, ...changes })

function watch(type: AlertType, sights: readonly Sight[]): string[] {
  const told: string[] = []
  let episode: { seenAt: number; isOpen: boolean; clearAt: number | null } | null = null
  for (const [now, sight] of sights.entries()) {
    const known: Episode | null = episode && {
      seenMs: seconds(now - episode.seenAt),
      isOpen: episode.isOpen,
      clearMs: episode.clearAt === null ? null : seconds(now - episode.clearAt),
    }
    const step = nextStep(type, known, sight)
    if (step === 'open' || step === 'close' || step === 'drop') told.push(`${step} ${now}`)
    if (step === 'forget' || step === 'close' || step === 'drop') episode = null
    else if (step === 'begin' || (step === 'open' && !episode))
      episode = { seenAt: now, isOpen: step === 'open', clearAt: null }
    else if (episode && step === 'open') episode.isOpen = true
    else if (episode && step === 'clear') episode.clearAt = now
    else if (episode && step === 'reopen') episode.clearAt = null
  }
  return told
}

const repeat = (sight: Sight, times: number): Sight[] => Array.from({ length: times }, () => sight)
