'use strict'
// Run before `npm start` and `npm test`: installs what is missing, checks Node.js and builds the console, saying what it does and why.
// Plain JavaScript of 2018, because any Node.js from 12 on must be able to read it far enough to give a clear answer.

const crypto = require('crypto')
const { spawn, spawnSync } = require('child_process')
const fs = require('fs')
const os = require('os')
const path = require('path')
const zlib = require('zlib')

const root = path.resolve(__dirname, '..')
const modules = path.join(root, 'node_modules')
// Says for which lock file and machine everything was found in order; goes with node_modules.
const stamp = path.join(modules, '.heliogram-setup')
const packagedNode = path.join(modules, '.bin', 'node')
// Says from which sources the console was built; goes with what was built.
const builtFrom = path.join(root, 'console', 'dist', '.sources')
const oldestNode = [24, 12]

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
      // Another one may have done it while we waited.
      if (readText(stamp) !== wanted) await setUp(JSON.parse(lockText.toString()), wanted)
      if (!fs.existsSync(packagedNode)) requireOwnNode()
      if (readText(builtFrom) !== sources) buildConsole(sources)
    } finally {
      unlock()
    }
  }
  if (!fs.existsSync(packagedNode)) requireOwnNode()
}

async function setUp(lock, wanted) {
  const reason = whyStale(lock)
  if (reason) await install(reason)
  if (fs.existsSync(packagedNode)) requirePackagedNode()
  useGitHooks()
  fs.writeFileSync(stamp, wanted)
}

/** Compares what npm says it installed with the lock file; returns a sentence, or undefined when they agree. */
function whyStale(lock) {
  const text = readText(path.join(modules, '.package-lock.json'))
  if (text === undefined) return 'nothing is installed yet'
  const installed = JSON.parse(text).packages
  for (const name of Object.keys(lock.packages).filter((key) => key !== '' && !lock.packages[key].link)) {
    const want = lock.packages[name]
    const have = installed[name]
    if (!have && name.includes('node_modules/') && isForThisMachine(want)) return `${label(name)} is missing`
    if (have && have.version !== want.version) return `${label(name)} must be ${want.version}, not ${have.version}`
  }
  return undefined
}

/** Packages with binaries name the machines that they are for; npm leaves out the others, and optional peers. */
function isForThisMachine(entry) {
  // As in package.json: one name or a list, and `!name` for all but that one.
  const fits = (names, value) => {
    const list = [].concat(names || value)
    return list.includes(value) || (list[0][0] === '!' && !list.includes(`!${value}`))
  }
  if (entry.peer || entry.devOptional) return false
  if (entry.optional && !entry.os && !entry.cpu) return false
  const isGlibc = fits(entry.libc, 'glibc')
  return isGlibc && fits(entry.os, process.platform) && fits(entry.cpu, process.arch)
}

function install(reason) {
  const what = `Installing dependencies (npm ci), because ${reason}; this takes a minute or so`
  const startedAt = Date.now()
  const isTerminal = process.stderr.isTTY
  const tell = () => process.stderr.write(`\r${what} … ${Math.round((Date.now() - startedAt) / 1000)} s `)
  process.stderr.write(isTerminal ? '' : `${what} …\n`)
  const timer = setInterval(isTerminal ? tell : () => process.stderr.write('.'), isTerminal ? 1000 : 5000)
  // No install scripts run: nothing here needs one. What npm warns about (engines of packages that it does not run) helps
  // nobody while all goes well.
  const options = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--include=dev', '--include=optional']
  return runNpm(options).then(
    () => {
      clearInterval(timer)
      process.stderr.write(
        `${isTerminal ? '\r' : '\n'}Installed dependencies in ${Math.round((Date.now() - startedAt) / 1000)} s.${' '.repeat(80)}\n`,
      )
    },
    (error) => {
      clearInterval(timer)
      throw error
    },
  )
}

/** With the npm that runs us, on its own Node.js: `npm ci` deletes the one in node_modules. */
function runNpm(options) {
  const script = process.env.npm_execpath
  const isNpm = script !== undefined && /npm-cli\.c?js$/.test(script)
  const command = isNpm ? process.env.npm_node_execpath || process.execPath : 'npm'
  return new Promise((resolve, reject) => {
    const child = spawn(command, (isNpm ? [script] : []).concat(options), {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    const keep = (data) => {
      output += data
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    // What ends this step ends npm, too: the next start would find one that still writes.
    let ended = null
    const end = (signal) => {
      child.kill(ended ? 'SIGKILL' : signal)
      if (ended) return
      ended = signal
      process.stderr.write(`\n${signal}: npm has five seconds to end what it is at; once more ends it at once.\n`)
      // It would go on for a minute, and what it leaves the next start replaces.
      setTimeout(() => child.kill('SIGKILL'), 5000).unref()
    }
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
    signals.forEach((signal) => process.on(signal, end))
    child.on('error', (error) => reject(new Error(`cannot run npm: ${error.message}`)))
    child.on('close', (code) => {
      signals.forEach((signal) => process.removeListener(signal, end))
      if (ended) reject(new Error(`interrupted by ${ended}; the next start begins anew`))
      else if (code === 0) resolve()
      else reject(new Error(`"npm ${options.join(' ')}" failed with exit code ${code}:\n\n${output}`))
    })
  })
}

/** The one in node_modules is built for glibc; npm cannot tell, and would let it hide a Node.js that works. */
function requirePackagedNode() {
  const run = spawnSync(packagedNode, ['--version'], { encoding: 'utf8' })
  if (run.status === 0 && isNewEnough(run.stdout)) return
  const found =
    run.status === 0 ? run.stdout.trim() : `it does not run (${run.error ? run.error.message : run.stderr.trim()})`
  throw new Error(
    `the Node.js in node_modules is of no use here: ${found}. Heliogram needs a Linux with glibc (Debian, Ubuntu, RHEL; not ` +
      `Alpine: use an image like node:24-slim), or macOS.`,
  )
}

/** Where npm brings no Node.js (macOS), the one in PATH must do. */
function requireOwnNode() {
  if (isNewEnough(process.version)) return
  const hint =
    process.platform === 'darwin' ? 'Install it with: brew install node@24' : 'Install it from https://nodejs.org'
  throw new Error(`needs Node.js ${oldestNode.join('.')} or newer, and this is ${process.version}. ${hint}`)
}

function isNewEnough(version) {
  const [major, minor] = version.replace('v', '').split('.').map(Number)
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1])
}

/** The console is built anew whenever something that it is made of has changed: it is a second's work. */
function buildConsole(sources) {
  process.stderr.write('Building the console …\n')
  const vite = path.join(modules, 'vite', 'bin', 'vite.js')
  const node = fs.existsSync(packagedNode) ? packagedNode : process.execPath
  // Beside its place, and then there at once: whoever reads it meanwhile has the old one whole.
  const draft = `${path.dirname(builtFrom)}.draft`
  const run = spawnSync(node, [vite, 'build', 'console', '--outDir', draft, '--emptyOutDir', '--logLevel', 'error'], {
    cwd: root,
    encoding: 'utf8',
  })
  if (run.status !== 0) throw new Error(`the console cannot be built:\n\n${run.stdout}${run.stderr}`)
  // As browsers are sent them (server/site/console.ts).
  for (const file of sourcesOf(path.relative(root, draft)).map((name) => path.join(root, name)))
    fs.writeFileSync(`${file}.gz`, zlib.gzipSync(fs.readFileSync(file)))
  fs.writeFileSync(path.join(draft, path.basename(builtFrom)), sources)
  fs.rmSync(path.dirname(builtFrom), { recursive: true, force: true })
  fs.renameSync(draft, path.dirname(builtFrom))
}

function hashOfSources() {
  return hashOf(
    sourcesOf('console')
      .concat(sourcesOf('sdk'), 'server/site/colours.css', 'package-lock.json')
      .map(readHash)
      .sort(byText)
      .join(),
  )
}

/** Files below a folder of ours, from the root, but what was built of it. */
function sourcesOf(name) {
  const entries = fs.readdirSync(path.join(root, name), { withFileTypes: true })
  const files = entries
    .filter((entry) => !/^dist(\.draft)?$|^node_modules$|\.test\.tsx?$/.test(entry.name))
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

/** Commits are checked for format and lint; a path that somebody chose already stays. */
function useGitHooks() {
  if (!fs.existsSync(path.join(root, '.git'))) return
  const git = (...words) => spawnSync('git', ['config'].concat(words), { cwd: root, encoding: 'utf8' })
  if (git('--get', 'core.hooksPath').status === 1) git('core.hooksPath', '.githooks')
}

/** Keeps a second setup of this folder waiting; returns what ends that. */
function lockRoot() {
  const lock = path.join(os.tmpdir(), `heliogram-setup-${hashOf(root).slice(0, 12)}`)
  for (let waited = 0; ; waited++) {
    try {
      // Linking a file that already says who we are is atomic: nobody sees a lock without a process.
      const draft = `${lock}.${process.pid}`
      fs.writeFileSync(draft, String(process.pid))
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
    if (holder !== undefined && !isAlive(Number(holder))) {
      removeStale(lock, holder)
      continue
    }
    if (waited === 0) process.stderr.write(`Waiting for another setup of ${root} (process ${holder}) …\n`)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
  }
}

/** Moves the lock of a dead process away; one that somebody took in the meantime goes back. */
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

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
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
