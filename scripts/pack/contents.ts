/** What a release is made of: the sources that run, the built console, the manual. Neither tests nor what only developing needs. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Folders that go in whole, but for what `isLeftOut` names. */
const folders = ['bin', 'cli', 'console/dist', 'deploy', 'docs', 'mcp', 'sdk', 'server', 'simulator', 'smpp']
/** Single files; `npm run repl` is for the incidents in docs/runbooks.md. */
const singles = ['LICENSE', 'scripts/options.ts', 'scripts/reach.ts', 'scripts/repl.ts']

/** Tests, what only they use, what writes tables that are in the repository as they are written, and what installing and checking types leave. */
const isLeftOut = (path: string): boolean =>
  /\.test\.tsx?$|(^|[-/])testing\.ts$|(^|[-/])compile\.ts$|(^|\/)tsconfig\.json$|\.tsbuildinfo$/.test(path) ||
  path.split('/').some((name) => ['node_modules', 'fixtures'].includes(name))

/** The files of a release that come from the repository, as paths from its root. @throws where the console is not built. */
export function listContents(root: string): string[] {
  const walk = (folder: string): string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (isLeftOut(path)) return []
      return entry.isDirectory() ? walk(path) : [path]
    })
  const manual = readdirSync(root).filter((name) => name.endsWith('.md'))
  return [...folders.flatMap(walk), ...singles, ...manual].sort()
}

/** Copies them to a folder, and writes the release's own package.json: there is nothing left in it to be installed, built or checked. */
export function copyContents(root: string, target: string): void {
  for (const file of listContents(root)) {
    mkdirSync(dirname(join(target, file)), { recursive: true })
    cpSync(join(root, file), join(target, file))
  }
  const { name, version, private: isPrivate, description, license, bin, type, engines } = readPackage(root)
  const scripts = {
    start: './bin/heliogram start',
    simulator: 'exec bin/node simulator/main.ts',
    repl: 'exec bin/node scripts/repl.ts',
  }
  const own = { name, version, private: isPrivate, description, license, bin, type, scripts, engines }
  writeFileSync(join(target, 'package.json'), `${JSON.stringify(own, null, 2)}\n`)
}

/** What of package.json a release repeats, and what its dependencies are told by. */
export interface Package {
  name: string
  version: string
  private?: boolean
  description?: string
  license?: string
  bin?: Record<string, string>
  type?: string
  engines?: Record<string, string>
  workspaces?: string[]
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

/** The package.json of a folder. */
export function readPackage(folder: string): Package {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package
}
