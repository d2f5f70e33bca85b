import { expect, it } from 'vitest'
import { Histogram } from './histogram.ts'
import { Counter, Exposition } from './metrics.ts'

it('are written as text format 0.0.4', () => {
  const out = new Exposition()
  const counter = new Counter(['ok', 'timeout', 'other'])
  counter.add('ok')
  counter.add('ok', 2)
  counter.add('what is this')
  out.words('posts_total', 'Posts,\nby \\outcome.', 'outcome', counter)
  out.gauge('up', 'Up.', [
    [{}, 1],
    [{ carrier: 'a "quoted" \\ name\nof two lines' }, Infinity],
  ])
  expect(out.text).toBe(
    [
      '# HELP posts_total Posts,\\nby \\\\outcome.',
      '# TYPE posts_total counter',
      'posts_total{outcome="ok"} 3',
      'posts_total{outcome="timeout"} 0',
      'posts_total{outcome="other"} 1',
      '# HELP up Up.',
      '# TYPE up gauge',
      'up 1',
      'up{carrier="a \\"quoted\\" \\\\ name\\nof two lines"} +Inf',
      '',
    ].join('\n'),
  )
})

it('have times as cumulative buckets in seconds that end with the total', () => {
  const [one, two] = [new Histogram(), new Histogram()]
  for (const ms of [1, 3, 300]) one.observe(ms)
  two.observe(4)
  const out = new Exposition()
  out.times('response_seconds', 'Times.', [4, 256], [[{ country: 'US' }, [one, two]]])
  expect(out.text.split('\n').slice(1)).toEqual([
    '# TYPE response_seconds histogram',
    'response_seconds_bucket{country="US",le="0.004"} 3',
    'response_seconds_bucket{country="US",le="0.256"} 3',
    'response_seconds_bucket{country="US",le="+Inf"} 4',
    'response_seconds_sum{country="US"} 0.308',
    'response_seconds_count{country="US"} 4',
    '',
  ])
})

it('refuse a family that is defined twice, because its samples would be separate', () => {
  const out = new Exposition()
  out.gauge('up', 'Up.', [])
  expect(() => out.gauge('up', 'Up.', [])).toThrow('defined twice')
})
