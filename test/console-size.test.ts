/** The size of what a browser loads, compressed: a page must be there within seconds on a slow network. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const dist = join(import.meta.dirname, '../console/dist')

interface Chunk {
  file: string
  imports?: string[]
  dynamicImports?: string[]
  css?: string[]
}

const manifest = JSON.parse(readFileSync(join(dist, '.vite/manifest.json'), 'utf8')) as Record<string, Chunk>

/** Scripts and style sheets that a chunk needs, with those that it imports. */
function filesOf(name: string, known = new Set<string>()): Set<string> {
  const { file, css = [], imports = [] } = manifest[name] ?? { file: name }
  if (known.has(file)) return known
  for (const one of [file, ...css]) known.add(one)
  for (const one of imports) filesOf(one, known)
  return known
}

const kilobytesOf = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + readFileSync(join(dist, `${file}.gz`)).length, 0) / 1024

const first = filesOf('index.html')
const home = filesOf('screens/overview/routes.tsx')
const parts = Object.values(manifest).flatMap(({ dynamicImports = [] }) => dynamicImports)

test('the first page has at most 180 KB', () => {
  const size = kilobytesOf([...first, ...[...home].filter((file) => !first.has(file))])
  expect(size).toBeGreaterThan(60)
  expect(size).toBeLessThanOrEqual(180)
})

test('each area adds at most 60 KB', () => {
  const sizes = [...new Set(parts)].map(
    (part) => [part, kilobytesOf([...filesOf(part)].filter((file) => !first.has(file)))] as const,
  )
  expect(sizes.length).toBeGreaterThan(6)
  expect(sizes.filter(([, size]) => size > 60)).toEqual([])
})
