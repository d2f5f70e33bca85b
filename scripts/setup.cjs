'use strict'
// Run by scripts/run: installs what is missing, checks Node.js, writes the SDK's types and builds the console, with messages. Plain JavaScript of
// 2019: it must run on every Node.js from 14 on, because distributions ship old ones with npm.

const crypto = require('crypto')
const { spawn, spawnSync } = require('child_process')
const fs = require('fs')
const path = require('path')
const zlib = require('zlib')
const { requireFreePorts } = require('./ports.cjs')

const root = path.resolve(__dirname, '..')
const modules = path.join(root, 'node_modules')
// The lock file and machine of the last complete check; deleted with node_modules.
const stamp = path.join(modules, '.heliogram-setup')
// Only for this step: its lock, and packages in transit.
const workshop = path.join(root, '.setup')
// Chooses Heliogram's Node.js; the one that runs this file may be too old.
const chosenNode = path.join(root, 'bin', 'node')
// The program that runs next, as scripts/run names it; these two listen on the service's ports.
const isService = ['bin/heliogram', 'scripts/dev.ts'].includes(process.argv[2])
// The sources of the built console; deleted with it.
const builtFrom = path.join(root, 'console', 'dist', '.sources')

main().catch((error) => {
  process.stderr.write(`\nsetup: ${error.message}\n`)
  process.exit(1)
})

async function main() {
  const lockText = fs.readFileSync(path.join(root, 'package-lock.json'))
  const wanted = `${hashOf(lockText)} ${process.platform}-${process.arch}`
  const sources = hashOfSources()
  if (readText(stamp) !== wanted || readText(builtFrom) !== sources) {
    const unlock = lockRoot()
    try {
      // Another process may have done it while we waited.
      if (readText(stamp) !== wanted) await setUp(JSON.parse(lockText.toString()), wanted)
      if (readText(builtFrom) !== sources) buildConsole(sources)
    } finally {
      unlock()
    }
  }
}

async function setUp(lock, wanted) {
  const reason = whyStale(lock)
  if (reason && isService) await requireFreePorts(process.env)
  if (reason) await install(reason, lock)
  requireNode()
  useGitHooks()
  fs.writeFileSync(stamp, wanted)
}

/** Compares the installed packages with the lock file; returns a sentence if they differ. */
function whyStale(lock) {
  const text = readText(path.join(modules, '.package-lock.json'))
  if (text === undefined) return 'nothing is installed yet'
  const installed = JSON.parse(text).packages
  const names = Object.keys(lock.packages).filter((key) => installed[key] && !lock.packages[key].link)
  const other = names.find((name) => installed[name].version !== lock.packages[name].version)
  if (other) return `${label(other)} must be ${lock.packages[other].version}, not ${installed[other].version}`
  const missing = listMissing(lock)[0]
  return missing && `${label(missing)} is missing`
}

/** Packages of the lock file for this machine that are missing or have another version. */
function listMissing(lock) {
  return Object.keys(lock.packages).filter((name) => {
    const want = lock.packages[name]
    if (want.link || !name.includes('node_modules/') || !isForThisMachine(want)) return false
    const manifest = readText(path.join(root, name, 'package.json'))
    return manifest === undefined || JSON.parse(manifest).version !== want.version
  })
}

/** Packages with binaries name their machines; npm skips the others, and optional peers. */
function isForThisMachine(entry) {
  const fits = (names, value) => {
    const list = [].concat(names || value)
    return list.includes(value) || (list[0][0] === '!' && !list.includes(`!${value}`))
  }
  if (entry.peer || entry.devOptional) return false
  if (entry.optional && !entry.os && !entry.cpu) return false
  const isGlibc = fits(entry.libc, 'glibc')
  return isGlibc && fits(entry.os, process.platform) && fits(entry.cpu, process.arch)
}

function install(reason, lock) {
  const startedAt = Date.now()
  const isTerminal = process.stderr.isTTY
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`
  // Overwritten in place, so it must fit on one line.
  const tell = () => process.stderr.write(`\rThis takes a minute or so … ${seconds()} `)
  process.stderr.write(`Installing dependencies (npm ci), because ${reason}.\n`)
  if (isTerminal) tell()
  const timer = setInterval(isTerminal ? tell : () => process.stderr.write('.'), isTerminal ? 1000 : 5000)
  // Nothing needs install scripts. npm's engine check is off because it runs on another Node.js than we do, and its warnings do not help.
  const how = ['--ignore-scripts', '--no-audit', '--no-fund', '--engine-strict=false']
  const options = ['ci', ...how, '--include=dev', '--include=optional']
  return runNpm(options, root)
    .then(() => installLeftOut(options, lock))
    .then(() => {
      clearInterval(timer)
      process.stderr.write(`${isTerminal ? '\r' : '\n'}${`Installed dependencies in ${seconds()}.`.padEnd(40)}\n`)
    })
    .catch((error) => {
      clearInterval(timer)
      throw error
    })
}

/**
 * npm skips optional packages that do not fit its own Node.js, but they run on ours: a second npm ci, in another folder, installs them by the
 * same lock file as required packages.
 */
function installLeftOut(options, lock) {
  const missing = listMissing(lock)
  if (missing.length === 0) return undefined
  const folder = path.join(workshop, 'packages')
  const dependencies = {}
  const packages = { '': { dependencies } }
  // Aliased: the lock file may have several versions of a package, in different places.
  missing.forEach((name, i) => {
    const { version, resolved, integrity } = lock.packages[name]
    dependencies[`left-out-${i}`] = `npm:${label(name)}@${version}`
    packages[`node_modules/left-out-${i}`] = { name: label(name), version, resolved, integrity }
  })
  // Left by an interrupted process; we hold the lock.
  fs.rmSync(folder, { recursive: true, force: true })
  fs.mkdirSync(folder)
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  fs.writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }))
  return runNpm(options, folder).then(() => {
    missing.forEach((name, i) => {
      fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
      fs.renameSync(path.join(folder, 'node_modules', `left-out-${i}`), path.join(root, name))
    })
    fs.rmSync(folder, { recursive: true, force: true })
  })
}

/** The npm that runs us, on its own Node.js: `npm ci` deletes the one in node_modules. */
function runNpm(options, folder) {
  const script = process.env.npm_execpath
  const isNpm = script !== undefined && /npm-cli\.c?js$/.test(script)
  const command = isNpm ? process.env.npm_node_execpath || process.execPath : 'npm'
  return new Promise((resolve, reject) => {
    const child = spawn(command, (isNpm ? [script] : []).concat(options), {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const keep = (data) => {
      output += data
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    // Signals must end npm too: otherwise the next start would meet one that still writes.
    let ended = null
    const end = (signal) => {
      child.kill(ended ? 'SIGKILL' : signal)
      if (ended) return
      ended = signal
      process.stderr.write(`\n${signal}: npm has five seconds to end what it is at; once more ends it at once.\n`)
      // npm would go on for a minute, and the next start replaces what it leaves.
      setTimeout(() => child.kill('SIGKILL'), 5000).unref()
    }
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    signals.forEach((signal) => process.on(signal, end))
    child.on('error', (error) => reject(new Error(`cannot run npm: ${error.message}`)))
    child.on('close', (code) => {
      signals.forEach((signal) => process.removeListener(signal, end))
      if (ended) reject(new Error(`interrupted by ${ended}; the next start installs again`))
      else if (code === 0) resolve()
      else reject(new Error(`"npm ${options.join(' ')}" failed with exit code ${code}:\n\n${output}`))
    })
  })
}

/** npm's Node.js is built for glibc, which npm cannot check. */
function requireNode() {
  const run = spawnSync(chosenNode, ['--version'], { encoding: 'utf8' })
  if (run.status === 0) return
  throw new Error(
    `no Node.js runs here: ${run.error ? run.error.message : run.stderr.trim()}\n\nHeliogram needs a Linux with glibc (Debian, Ubuntu, RHEL; not Alpine: use an image like node:24-slim), or macOS.`,
  )
}

/** Builds the console, and the SDK in it, if a source has changed, in about a second. */
function buildConsole(sources) {
  process.stderr.write('Building the console …\n')
  const types = spawnSync(chosenNode, [path.join(root, 'scripts', 'sdk.ts')], { encoding: 'utf8' })
  if (types.status !== 0) throw new Error(`the types of the SDK cannot be written:\n\n${types.stderr}`)
  const vite = path.join(modules, 'vite', 'bin', 'vite.js')
  // Built elsewhere and then moved, so that readers always find a whole one.
  const draft = `${path.dirname(builtFrom)}.draft`
  const run = spawnSync(
    chosenNode,
    [vite, 'build', 'console', '--outDir', draft, '--emptyOutDir', '--logLevel', 'error'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  )
  if (run.status !== 0) throw new Error(`the console cannot be built:\n\n${run.stdout}${run.stderr}`)
  // Precompressed, as browsers get them (server/program/site/console.ts).
  for (const file of sourcesOf(path.relative(root, draft)).map((name) => path.join(root, name)))
    if (!file.endsWith('.woff2')) fs.writeFileSync(`${file}.gz`, zlib.gzipSync(fs.readFileSync(file)))
  fs.writeFileSync(path.join(draft, path.basename(builtFrom)), sources)
  fs.rmSync(path.dirname(builtFrom), { recursive: true, force: true })
  fs.renameSync(draft, path.dirname(builtFrom))
}

function hashOfSources() {
  return hashOf(
    sourcesOf('console')
      .concat(sourcesOf('sdk'), 'docs/openapi.json', 'scripts/sdk.ts', 'package-lock.json')
      .map(readHash)
      .sort(byText)
      .join(),
  )
}

function sourcesOf(name) {
  const entries = fs.readdirSync(path.join(root, name), { withFileTypes: true })
  const files = entries
    .filter((entry) => !/^dist(\.draft)?$|^node_modules$|^operations\.ts$|\.test\.tsx?$/.test(entry.name))
    .map((entry) => {
      const file = path.join(name, entry.name)
      return entry.isDirectory() ? sourcesOf(file) : [file]
    })
  return [].concat(...files)
}

function byText(a, b) {
  return a < b ? -1 : 1
}

function readHash(file) {
  return `${file} ${hashOf(fs.readFileSync(path.join(root, file)))}`
}

/** Checks format and lint of commits; an existing hooks path stays. */
function useGitHooks() {
  if (!fs.existsSync(path.join(root, '.git'))) return
  const git = (...words) => spawnSync('git', ['config'].concat(words), { cwd: root, encoding: 'utf8' })
  if (git('--get', 'core.hooksPath').status === 1) git('core.hooksPath', '.githooks')
}

/**
 * Makes a second setup of this folder wait; returns the release function. The lock is in the folder itself: in the shared /tmp another user could
 * take it, or replace it with a link.
 */
function lockRoot() {
  const lock = path.join(workshop, 'lock')
  fs.mkdirSync(workshop, { recursive: true })
  for (let waited = 0; ; waited++) {
    try {
      // Linking a file that already names us is atomic: a lock always names a process.
      const draft = `${lock}.${process.pid}`
      fs.writeFileSync(draft, describeProcess(process.pid))
      try {
        fs.linkSync(draft, lock)
      } finally {
        fs.unlinkSync(draft)
      }
      return () => fs.unlinkSync(lock)
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const holder = readText(lock)
    if (holder !== undefined && !isAlive(holder)) {
      removeStale(lock, holder)
      continue
    }
    if (waited === 0) process.stderr.write(`Waiting for another setup of ${root} (process ${parseInt(holder, 10)}) …\n`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  }
}

/** Moves a dead process's lock away; one taken in the meantime is put back. */
function removeStale(lock, holder) {
  const aside = `${lock}.stale.${process.pid}`
  try {
    fs.renameSync(lock, aside)
  } catch (error) {
    if (error.code === 'ENOENT') return
    throw error
  }
  if (readText(aside) !== holder) fs.linkSync(aside, lock)
  fs.unlinkSync(aside)
}

/** Its id, and on Linux its start time, because the lock outlives a reboot and ids repeat. */
function describeProcess(pid) {
  try {
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Field 22 is the start time; the name before it is in parentheses and may have any character.
    return `${pid} ${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]} ${boot}`
  } catch {
    return String(pid)
  }
}

function isAlive(holder) {
  const pid = parseInt(holder, 10)
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (error.code !== 'EPERM') return false
  }
  // For another user's process only the id is visible.
  return [holder, String(pid)].includes(describeProcess(pid))
}

function hashOf(data) {
  return crypto.createHash('sha256').update(data).digest('hex')
}

function label(name) {
  return name.replace(/^.*node_modules\//, '')
}

function readText(file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}
