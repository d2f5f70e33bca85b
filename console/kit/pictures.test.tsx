import type { ReactElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { Router } from 'wouter'
import { expect, test } from 'vitest'
import { Histogram } from './histogram.tsx'
import { Funnel, Gauge, PartsBar, RankedBars, StateStrip } from './pictures.tsx'
import { Sparkline } from './sparkline.tsx'

const render = (picture: ReactElement): string => renderToStaticMarkup(<Router ssrPath="/">{picture}</Router>)
const widthsIn = (html: string): string[] =>
  [...html.matchAll(/(?:width|height):(max\([^)]*\))/g)].map(([, width = '']) => width)

test('a gauge shows its part of the whole, and warns from nine tenths on', () => {
  const [some, full] = [90, 950].map((value) => render(<Gauge label="Window" value={value} max={1000} />))
  expect(some).toContain('aria-valuetext="90 / 1,000"')
  expect(widthsIn(some ?? '')).toEqual(['max(2px, 9%)'])
  expect(some).toContain('fill-good')
  expect(full).toContain('fill-warning')
})

test('a gauge of nothing is empty, and one above its end is full', () => {
  expect(widthsIn(render(<Gauge label="Rate" value={0} max={0} />))).toEqual([])
  expect(widthsIn(render(<Gauge label="Rate" value={12} max={10} />))).toEqual(['max(2px, 100%)'])
})

test('ranked bars are relative to the longest, and rows may be links', () => {
  const rows = [
    { key: 'us', name: 'United States', value: 400, note: '98%', to: '/messages?country=US' },
    { key: 'de', name: 'Germany', value: 100 },
  ]
  const html = render(<RankedBars label="Countries" rows={rows} />)
  expect(widthsIn(html)).toEqual(['max(2px, 100%)', 'max(2px, 25%)'])
  expect(html).toContain('href="/messages?country=US"')
})

test('a funnel tells what part of the first step each one is', () => {
  const steps = [
    { name: 'Recipients', value: 200 },
    { name: 'Delivered', value: 190 },
    { name: 'Replied', value: 0 },
  ]
  const html = render(<Funnel label="Autumn menu" steps={steps} />)
  expect([...html.matchAll(/[\d.]+%<\/span>/g)].map(String)).toEqual(['95%</span>', '0%</span>'])
})

test('pictures without text have their values for screen readers', () => {
  expect(
    render(<StateStrip summary="Bound for 29 of 30 minutes" cells={[{ colour: 'good', title: '16:03 bound' }]} />),
  ).toContain('aria-label="Bound for 29 of 30 minutes"')
  expect(render(<Sparkline label="Delivered, last hour" values={[1, 4, 2]} />)).toContain(
    'aria-label="Delivered, last hour"',
  )
  expect(render(<Histogram label="Response time" buckets={[{ title: '0–50 ms', count: 1200 }]} />)).toContain(
    'aria-label="Response time: 0–50 ms: 1,200"',
  )
  const parts = [
    { name: 'new', value: 3, tone: 'good' as const },
    { name: 'bad', value: 0, tone: 'bad' as const },
  ]
  expect(render(<PartsBar label="3 rows" parts={parts} />)).toContain('aria-label="3 rows: 3 new"')
})
