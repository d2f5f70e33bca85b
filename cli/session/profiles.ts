/**
 * Logins by name, in the user's own folder. Each state is an immutable file (`default.3.json`): the next state is linked under the next number,
 * which only one of two processes can do, and the other detects. So neither a crash nor a race loses a refresh token.
 */
import { chmod, link, mkdir, readdir, readFile, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exits, Failure, misused } from '../exit.ts'

export interface Profile {
  url: string
  account: { id: string; name: string }
  /** Null for a key. */
  email: string | null
  key?: string
  login?: Login
}

export interface Login {
  accessToken: string
  refreshToken: string
  /** By the local clock, in Unix milliseconds. */
  expiresAt: number
}

export interface Stored {
  profile: Profile
  /** Number of changes. */
  generation: number
}

export const defaultProfile = 'default'

/** The newest state; null if there is none. */
export async function readProfile(folder: string, name: string): Promise<Stored | null> {
  for (let tries = 0; ; tries++) {
    const generation = Math.max(0, ...(await listGenerations(folder, checkName(name))))
    if (generation === 0) return null
    const file = join(folder, fileOf(name, generation))
    const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
      // The writer of the next state deleted this one meanwhile.
      if (error.code === 'ENOENT' && tries < 10) return null
      throw new Failure(exits.loggedOut, `The login in ${file} cannot be read: ${error.message}`)
    })
    if (text !== null) return { profile: parse(text, file), generation }
  }
}

/** Saves a state after generation `after` (0 for none). False if another process was faster: read its state. Deletes the superseded one. */
export async function saveProfile(folder: string, name: string, profile: Profile, after: number): Promise<boolean> {
  checkName(name)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700)
  const draft = join(folder, `.${name}.${process.pid}.${Math.random().toString(36).slice(2)}`)
  await writeFile(draft, `${JSON.stringify(profile, null, 2)}\n`, { mode: 0o600, flag: 'wx', flush: true })
  try {
    await link(draft, join(folder, fileOf(name, after + 1)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    await unlink(draft)
  }
  const older = (await listGenerations(folder, name)).filter((generation) => generation <= after)
  await Promise.all(older.map((generation) => removeFile(join(folder, fileOf(name, generation)))))
  return true
}

/** Also deletes half-written files of killed processes. */
export async function removeProfile(folder: string, name: string): Promise<void> {
  const generations = await listGenerations(folder, checkName(name))
  const drafts = (await listFiles(folder)).filter((file) => file.startsWith(`.${name}.`))
  const files = [...generations.map((generation) => fileOf(name, generation)), ...drafts]
  await Promise.all(files.map((file) => removeFile(join(folder, file))))
}

export async function listProfiles(folder: string): Promise<string[]> {
  const names = (await listFiles(folder)).flatMap((file) => /^([\w-]+)\.\d+\.json$/.exec(file)?.[1] ?? [])
  return [...new Set(names)].sort()
}

const fileOf = (name: string, generation: number): string => `${name}.${generation}.json`

/** @throws Failure for a name that could be a path */
function checkName(name: string): string {
  if (!/^[\w-]{1,40}$/.test(name))
    throw misused(`"${name}" is not a valid profile name.`, 'Use letters, digits, "-" and "_", 40 at most.')
  return name
}

async function listGenerations(folder: string, name: string): Promise<number[]> {
  return (await listFiles(folder)).flatMap((file) => {
    const [, profile, generation] = /^([\w-]+)\.(\d+)\.json$/.exec(file) ?? []
    return profile === name ? [Number(generation)] : []
  })
}

async function listFiles(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new Failure(exits.loggedOut, `The folder of logins cannot be read: ${error.message}`)
  })
}

async function removeFile(file: string): Promise<void> {
  await unlink(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}

function parse(text: string, file: string): Profile {
  try {
    const profile = JSON.parse(text) as Profile
    if (typeof profile.url === 'string' && (profile.key ?? profile.login?.accessToken)) return profile
  } catch {
    // Reported below.
  }
  throw new Failure(exits.loggedOut, `${file} is damaged.`, 'Delete it and run "heliogram login".')
}
