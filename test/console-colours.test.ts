/** Contrast of the console's and the manual's colours by WCAG 2.2 (1.4.3, 1.4.11). */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const css = readFileSync(join(import.meta.dirname, '../server/program/site/colours.css'), 'utf8')
const blocks = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block = '']) => block)
const coloursIn = (block: string): Record<string, string> =>
  Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, colour]) => [name, colour]))
const light = coloursIn(blocks[0] ?? '')
const themes = [
  ['light', light],
  ['dark', { ...light, ...coloursIn(blocks[1] ?? '') }],
] as const

// Pairs of colours; a badge and a link may be on any background of boxes.
const grounds = ['ground', 'card', 'wash', 'bad-wash', 'warning-wash']
const letters = ['text', 'soft', 'accent'].flatMap((letter) => grounds.map((ground) => [letter, ground] as const))
const badges = ['good', 'bad', 'warning', 'busy'].map((tone) => [tone, `${tone}-wash`] as const)

test.each(themes)('text and field borders have enough contrast: %s', (_, colours) => {
  const faint = [
    ...[...letters, ...badges, ['on-accent', 'accent'] as const].filter((pair) => contrast(colours, pair) < 4.5),
    ...[['edge', 'card'] as const, ['edge', 'ground'] as const].filter((pair) => contrast(colours, pair) < 3),
  ]
  expect(faint).toEqual([])
})

function contrast(colours: Record<string, string>, [one, other]: readonly [string, string]): number {
  const [dark = 0, bright = 0] = [one, other].map((name) => luminance(colours[name] ?? '')).sort((a, b) => a - b)
  return (bright + 0.05) / (dark + 0.05)
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
