/** The contents of a release: the sources that run, the built console, the manual; no tests or development tools. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const folders = ['bin', 'cli', 'console/dist', 'deploy', 'docs', 'mcp', 'sdk', 'server', 'simulator', 'smpp']
/** Single files; `npm run repl` is for the incidents in docs/runbooks.md. */
const singles = ['LICENSE', 'scripts/options.ts', 'scripts/reach.ts', 'scripts/repl.ts']

/** Tests and their helpers, generators of committed tables, and files left by installing and type checking. */
const isLeftOut = (path: string): boolean =>
  /\.test\.tsx?$|(^|[-/])testing\.ts$|(^|[-/])compile\.ts$|(^|\/)tsconfig\.json$|\.tsbuildinfo$/.test(path) ||
  path.split('/').some((name) => ['node_modules', 'fixtures'].includes(name))

/** Paths from the repository's root. @throws if the console is not built */
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

/** Copies them, and writes the release's package.json, which has nothing to install, build or check. */
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

export function readPackage(folder: string): Package {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Package
}
