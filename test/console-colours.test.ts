/** Contrast of the colours of the console, the start page and the manual by WCAG 2.2 (1.4.3, 1.4.11). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const read = (path: string): string => readFileSync(join(import.meta.dirname, '..', path), 'utf8')
const variablesIn = (block: string): Record<string, string> =>
  Object.fromEntries([...block.matchAll(/--([\w-]+): ([^;]+);/g)].map(([, name, value]) => [name, value]))

const site = [...read('server/program/site/colours.css').matchAll(/:root \{([^}]*)\}/g)].map(([, block = '']) =>
  variablesIn(block),
)
const tokens = variablesIn(/:root \{([^}]*)\}/.exec(read('console/style/tokens.css'))?.[1] ?? '')

/** The colour of a variable, which may name others and have one value for each theme. */
function resolve(variables: Record<string, string>, name: string, theme: 0 | 1): string {
  const value = variables[name] ?? ''
  const chosen = /^light-dark\((.+), (.+)\)$/.exec(value)?.[theme + 1] ?? value
  const other = /^var\(--([\w-]+)\)$/.exec(chosen)?.[1]
  return other === undefined ? chosen : resolve(variables, other, theme)
}
type Colours = (name: string) => string
const themes: [string, Colours][] = [
  ['the site, light', (name) => resolve({ ...site[0] }, name, 0)],
  ['the site, dark', (name) => resolve({ ...site[0], ...site[1] }, name, 0)],
  ['the console, light', (name) => resolve(tokens, name, 0)],
  ['the console, dark', (name) => resolve(tokens, name, 1)],
]

// Pairs of colours; a badge and a link may be on any background of boxes.
const grounds = ['bg', 'panel', 'wash', 'bad-wash', 'warn-wash']
const letters = ['text', 'text-soft', 'accent'].flatMap((letter) => grounds.map((ground) => [letter, ground] as const))
const badges = ['ok', 'bad', 'warn', 'info'].map((tone) => [tone, `${tone}-wash`] as const)

test.each(themes)('text and field borders have enough contrast: %s', (_, colours) => {
  const faint = [
    ...[...letters, ...badges].filter((pair) => contrast(colours, pair) < 4.5),
    ...[['edge', 'panel'] as const, ['edge', 'bg'] as const].filter((pair) => contrast(colours, pair) < 3),
  ]
  expect(faint).toEqual([])
})

test.each(themes.slice(0, 2))('the text of a button is legible: %s', (_, colours) => {
  expect(contrast(colours, ['on-accent', 'accent'])).toBeGreaterThanOrEqual(4.5)
})

test.each(themes.slice(2))('white is legible on solid colours, and lines of charts are visible: %s', (_, colours) => {
  const lines = ['accepted', 'sent', 'delivered', 'failed'].map((line) => [`chart-${line}`, 'panel'] as const)
  expect([
    ...['accent-9', 'accent-10'].filter((solid) => contrast(colours, ['on-accent', solid]) < 4.5),
    ...lines.filter((pair) => contrast(colours, pair) < 3),
  ]).toEqual([])
})

test.each(themes.slice(2))('who confuses red and green tells delivered from failed: %s', (_, colours) => {
  const [delivered, failed, ok, bad] = ['chart-delivered', 'chart-failed', 'ok', 'bad'].map((name) =>
    seen(colours(name)),
  )
  const apart = distance(delivered, failed)
  expect(apart).toBeGreaterThan(0.5)
  expect(apart).toBeGreaterThan(2 * distance(ok, bad))
})

/** Linear red, green and blue of a colour as deuteranopes see it (Machado, Oliveira and Fernandes 2009). */
function seen(colour: string): number[] {
  const [red = 0, green = 0, blue = 0] = linear(colour)
  return [
    0.367322 * red + 0.860646 * green - 0.227968 * blue,
    0.280085 * red + 0.672501 * green + 0.047413 * blue,
    -0.01182 * red + 0.04294 * green + 0.968881 * blue,
  ]
}

const distance = (one: number[] = [], other: number[] = []): number =>
  Math.hypot(...one.map((part, at) => part - (other[at] ?? 0)))

function contrast(colours: Colours, [one, other]: readonly [string, string]): number {
  const [dark = 0, bright = 0] = [one, other].map((name) => luminance(colours(name))).sort((a, b) => a - b)
  return (bright + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = linear(colour)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function linear(colour: string): number[] {
  expect(colour).toMatch(/^#[0-9a-f]{6}$/)
  return [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
}
