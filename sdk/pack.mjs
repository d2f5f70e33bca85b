/**
 * Hooks of `npm pack` and `npm publish`. In this repository the package is its TypeScript sources, but Node.js runs no TypeScript of a
 * dependency. So the first hook writes JavaScript and declarations to `dist/` and points package.json there; the second points it back to the
 * sources.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const pathOf = (name) => fileURLToPath(new URL(name, import.meta.url))
const own = pathOf('package.json')
// In a folder that Git ignores. One left by an interrupted run is the right one.
const kept = pathOf('dist/package.json')

if (process.argv[2] === 'after') {
  restore()
  rmSync(pathOf('dist'), { recursive: true, force: true })
} else {
  restore()
  build()
  publish()
}

function restore() {
  if (existsSync(kept)) renameSync(kept, own)
}

function build() {
  rmSync(pathOf('dist'), { recursive: true, force: true })
  const compiler = pathOf('../node_modules/typescript/bin/tsc')
  if (!existsSync(compiler)) throw new Error('The compiler is not installed: run "npm install" in the folder above.')
  const writer = pathOf('../scripts/sdk.ts')
  if (existsSync(writer) && spawnSync(pathOf('../bin/node'), [writer], { stdio: 'inherit' }).status !== 0)
    throw new Error('The types of the operations cannot be written.')
  const args = [
    compiler,
    '-p',
    pathOf('tsconfig.json'),
    '--noEmit',
    'false',
    '--declaration',
    '--outDir',
    pathOf('dist'),
  ]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) throw new Error('The sources cannot be compiled.')
  // The compiler rewrites the extensions of imports only in JavaScript.
  for (const name of readdirSync(pathOf('dist')).filter((file) => file.endsWith('.d.ts'))) {
    const path = pathOf(`dist/${name}`)
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/ from '(\.\/\w+)\.ts'/g, " from '$1.js'"))
  }
}

function publish() {
  const text = readFileSync(own, 'utf8')
  const { private: _, ...rest } = JSON.parse(text)
  const entry = { types: './dist/index.d.ts', default: './dist/index.js' }
  copyFileSync(pathOf('../LICENSE'), pathOf('dist/LICENSE'))
  writeFileSync(kept, text)
  writeFileSync(
    own,
    `${JSON.stringify({ ...rest, main: entry.default, types: entry.types, exports: { '.': entry } }, null, 2)}\n`,
  )
}
