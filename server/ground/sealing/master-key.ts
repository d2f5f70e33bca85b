/**
 * The file of the master key. Its first line is the key that seals, base64 of 32 bytes; while it is being replaced there are more, each with a word:
 *
 *   next <key>   is known, and seals when every process knows it         old <key>   opens what it sealed, until nothing is
 *   mac <key>    what keyed hashes and tokens are derived from, since the first rotation: they outlive the key that they once came from
 */
import { hkdfSync, randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { codeOf } from '../db/failure.ts'

export interface MasterKeys {
  current: Buffer
  next: Buffer | null
  old: readonly Buffer[]
  /** Null: keyed hashes come from `current`, which was never replaced. */
  mac: Buffer | null
}

const keyLength = 32
// How long a process may still seal with a replaced key. Reading a file's time takes 3 µs.
const staleMs = 1000

/** A key for one use, from a master key (HKDF, RFC 5869). */
export const derive = (masterKey: Buffer, info: string, length = keyLength): Buffer =>
  Buffer.from(hkdfSync('sha256', masterKey, '', `heliogram ${info}`, length))

/** The source of keyed hashes and tokens. */
export const macSecretOf = ({ current, mac }: Pick<MasterKeys, 'current' | 'mac'>): Buffer =>
  mac ?? derive(current, 'mac')

/** @throws if a line is invalid. */
export function parseKeys(text: string, path: string): MasterKeys {
  const read = (encoded: string): Buffer => {
    const key = Buffer.from(encoded, 'base64')
    if (key.length === keyLength) return key
    throw new Error(`The key file ${path} is not base64 of 32 bytes. Restore it from your copy.`)
  }
  if (text.trim() === '')
    throw new Error(
      `The key file ${path} is empty and not base64 of 32 bytes. Restore it from your copy; if nothing was ever started with it, remove it, and a new one is created.`,
    )
  const [first = '', ...more] = text.trim().split('\n')
  let next: Buffer | null = null
  let mac: Buffer | null = null
  const old: Buffer[] = []
  for (const line of more) {
    const [word, encoded = ''] = line.trim().split(' ')
    if (word === 'next') next = read(encoded)
    else if (word === 'old') old.push(read(encoded))
    else if (word === 'mac') mac = read(encoded)
    else throw new Error(`The key file ${path} has an invalid line. Restore it from your copy.`)
  }
  return { current: read(first.trim()), next, old, mac }
}

function formatKeys({ current, next, old, mac }: MasterKeys): string {
  const lines = [
    current.toString('base64'),
    ...(next ? [`next ${next.toString('base64')}`] : []),
    ...old.map((key) => `old ${key.toString('base64')}`),
    ...(mac ? [`mac ${mac.toString('base64')}`] : []),
  ]
  return `${lines.join('\n')}\n`
}

/**
 * Replaces a key file atomically, also behind a link: readers, and a crash, see the old one or the new one, mode 0600. Keeps its owner:
 * root may replace the file of a service with another account.
 */
export function writeKeys(path: string, keys: MasterKeys): void {
  const file = realpathSync(path)
  const { uid, gid } = statSync(file)
  const draft = `${file}.new`
  writeFileSync(draft, formatKeys(keys), { mode: 0o600, flush: true })
  chmodSync(draft, 0o600)
  if (process.getuid?.() === 0) lchownSync(draft, uid, gid)
  renameSync(draft, file)
  flushName(file)
}

/** A rename is durable after its folder is synced. */
function flushName(path: string): void {
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}

/**
 * Creates a key file on the first start: complete, or not at all if the disk is full. Of two concurrent processes the second uses the first
 * one's; returns whether it is ours.
 */
function createKeys(path: string): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}.new`
  try {
    writeFileSync(draft, `${randomBytes(keyLength).toString('base64')}\n`, { mode: 0o600, flush: true })
    chmodSync(draft, 0o600)
    const isOurs = giveName(draft, path)
    flushName(path)
    return isOurs
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Unlike a rename, a link replaces nothing; but not every file system has links. */
function giveName(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    renameSync(draft, path)
  }
  return true
}

function readKeys(path: string): MasterKeys {
  const stats = statSync(path)
  // A container creates a folder if the file to mount is missing.
  if (stats.isDirectory()) throw new Error(`The key file ${path} is a folder: name a file.`)
  // A group may read a file of root, as in PostgreSQL's own rule: systemd and Kubernetes hand over secrets this way, to us alone.
  if (stats.mode & (stats.uid === 0 ? 0o037 : 0o077))
    throw new Error(`The key file ${path} can be read by others. Run: chmod 600 ${path}`)
  return parseKeys(readFileSync(path, 'utf8'), path)
}

/** The key file of a process, which notices a rotation within a second. */
export class KeyFile {
  readonly path: string
  /** It was just created: nothing is sealed with it. */
  readonly isNew: boolean
  /** Called once for each replacement that does not come from a rotation, and is not used. */
  onOther: () => void = () => {}
  #keys: MasterKeys
  /** Keys that sealed before a rotation. */
  readonly #replaced: Buffer[] = []
  #state = ''
  #otherState = ''
  #checkedAtMs = 0

  /**
   * Creates a missing file. `known`: the lines read by another thread of this process. @throws if it has no key, or others than its owner
   * can read it.
   */
  constructor(path: string, known?: string) {
    this.path = path
    this.isNew = known === undefined && !existsSync(path) && createKeys(path)
    this.#state = (known === undefined ? stateOf(path) : null) ?? ''
    this.#keys = known === undefined ? readKeys(path) : parseKeys(known, path)
    this.#checkedAtMs = performance.now()
  }

  /** For another thread of this process. */
  get lines(): string {
    return formatKeys(this.read())
  }

  /** Removes a file that was just created, before anything is sealed with it. */
  discard(): void {
    if (this.isNew && stateOf(this.path) === this.#state) rmSync(this.path)
  }

  /** The keys, at most a second old; the same object while they are unchanged. A file that became invalid is not read again. */
  read(): MasterKeys {
    const now = performance.now()
    if (now - this.#checkedAtMs < staleMs) return this.#keys
    return this.reread()
  }

  reread(): MasterKeys {
    this.#checkedAtMs = performance.now()
    const state = stateOf(this.path)
    if (state === null || state === this.#state || state === this.#otherState) return this.#keys
    try {
      const keys = readKeys(this.path)
      if (!this.#follows(keys)) {
        this.#otherState = state
        this.onOther()
        return this.#keys
      }
      if (!keys.current.equals(this.#keys.current)) this.#replaced.push(this.#keys.current)
      this.#keys = keys
      this.#state = state
      this.#otherState = ''
    } catch {
      // A manual copy may be incomplete: it is read again in a second. A start would refuse it.
    }
    return this.#keys
  }

  /** Whether rotations lead from this process's keys to others: they never change the source of hashes, nor return to an earlier key. */
  #follows(keys: MasterKeys): boolean {
    const isBack = this.#replaced.some((key) => key.equals(keys.current))
    return !isBack && macSecretOf(keys).equals(macSecretOf(this.#keys))
  }
}

/** Changes when a file is replaced or written; null if it is missing. */
function stateOf(path: string): string | null {
  try {
    const { ino, mtimeMs, size } = statSync(path)
    return `${ino} ${mtimeMs} ${size}`
  } catch {
    return null
  }
}
