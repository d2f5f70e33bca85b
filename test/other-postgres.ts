import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { chown, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Disposable } from '../server/ground/db/embedded/disposable.ts'
import { findPackaged } from '../server/ground/db/embedded/binaries.ts'
import { serverEnvironment } from '../server/ground/db/embedded/cluster.ts'
import { choosePlace } from '../server/ground/db/embedded/place.ts'
import { launchPostmaster, stopPostmaster } from '../server/ground/db/embedded/postmaster.ts'
import { makeDataFolder } from './harness.ts'

const versions = '/usr/lib/postgresql'
const quiet = { info: () => {}, warn: () => {}, error: () => {} }

export async function findOtherVersion(): Promise<number | null> {
  const { major } = await findPackaged()
  const found = readFolder(versions).map(Number)
  return found.filter((version) => version >= 15 && version !== major).sort((one, other) => one - other)[0] ?? null
}

function readFolder(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

export async function startOther(version: number): Promise<Disposable> {
  const native = join(versions, String(version))
  const folder = await makeDataFolder()
  const { path, socketDir, account } = await choosePlace(folder, `pg${version}`)
  const data = join(path, `pg${version}`)
  await mkdir(data, { mode: 0o700 })
  if (account) await chown(data, account.uid, account.gid)
  await promisify(execFile)(
    join(native, 'bin/initdb'),
    [`--pgdata=${data}`, '--username=heliogram', '--auth=trust', '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync'],
    { ...account, cwd: '/', env: serverEnvironment },
  )
  const cluster = { data, log: `${data}.log`, socketDir, account, password: '' }
  const server = await launchPostmaster(cluster, native, {}, quiet)
  const url = new URL('postgres://heliogram@localhost/heliogram')
  url.searchParams.set('host', server.connection.host ?? '')
  const close = async (): Promise<void> => {
    await stopPostmaster(server, quiet)
    await rm(folder, { recursive: true, force: true })
  }
  return { url: url.href, close }
}
