/** Debian's etcd, Patroni and PostgreSQL: installed, or unpacked into a folder. */
import { execFile } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

export interface Programs {
  etcd: string
  patroni: string
  patronictl: string
  postgres: string
  env: Record<string, string>
}

/** The message says what to do. */
export class MissingPackagesError extends Error {}

const wanted = ['etcd-server', 'patroni', 'python3-etcd']

/** @throws MissingPackagesError */
export function findInstalled(): Programs {
  const found = findIn('/')
  if (found) return found
  throw new MissingPackagesError(
    `etcd, Patroni or PostgreSQL is not installed. On Debian either install them (they need not run):\n` +
      `  apt-get install --no-install-recommends ${packages().join(' ')}\n` +
      `or let this run download and unpack them into its own folder, and remove them again:\n` +
      `  npm run test:ha -- --fetch`,
  )
}

/** Downloads and unpacks what is not installed. @throws MissingPackagesError */
export async function fetchInto(folder: string): Promise<Programs> {
  await mkdir(folder, { recursive: true })
  try {
    // An older installed version will do: its line has that version in brackets.
    const { stdout } = await run('apt-get', ['install', '-s', '-qq', '--no-install-recommends', ...packages()])
    const names = [...stdout.matchAll(/^Inst (\S+) \(/gm)].map(([, name = '']) => name)
    if (names.length > 0) await run('apt-get', ['download', '-qq', ...names], { cwd: folder })
    for (const file of globSync('*.deb', { cwd: folder })) await run('dpkg', ['-x', join(folder, file), folder])
  } catch (error) {
    throw new MissingPackagesError(
      `Debian's packages could not be downloaded (is this Debian, and was "apt-get update" run?): ${String(error)}`,
      { cause: error },
    )
  }
  const found = findIn(folder)
  if (!found)
    throw new MissingPackagesError(`etcd, Patroni or PostgreSQL is not in the packages ${packages().join(', ')}`)
  return found
}

const serverFolder = (root: string): string | undefined =>
  globSync('usr/lib/postgresql/*/bin', { cwd: root })
    .map((path) => join(root, path))
    .filter((path) => existsSync(join(path, 'postgres')))
    .toSorted()
    .at(-1)

const packages = (): string[] => [...wanted, ...(serverFolder('/') === undefined ? ['postgresql'] : [])]

function findIn(root: string): Programs | null {
  const postgres = serverFolder(root) ?? serverFolder('/')
  const [etcd = '', patroni = '', patronictl = ''] = ['etcd', 'patroni', 'patronictl'].map((name) =>
    [root, '/'].map((at) => join(at, 'usr/bin', name)).find(existsSync),
  )
  if (!etcd || !patroni || !patronictl || postgres === undefined) return null
  const libraries = globSync('usr/lib/*-linux-gnu*', { cwd: root }).map((path) => join(root, path))
  const env = {
    PATH: `${postgres}:/usr/sbin:/usr/bin:/sbin:/bin`,
    LC_ALL: 'C.UTF-8',
    ...(root !== '/' && {
      PYTHONPATH: join(root, 'usr/lib/python3/dist-packages'),
      LD_LIBRARY_PATH: libraries.join(':'),
    }),
  }
  return { etcd, patroni, patronictl, postgres, env }
}
