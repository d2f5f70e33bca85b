/** The environment of the command line; no other module reads it. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Missing settings are null. */
export interface Environment {
  url: string | null
  key: string | null
  profile: string | null
  /** Holds logins; private to the user. */
  folder: string
}

/** A relative folder is ignored, as the XDG Base Directory Specification says. */
export function readEnvironment(): Environment {
  const read = (name: string): string | null => process.env[name]?.trim() || null
  const config = read('XDG_CONFIG_HOME')
  return {
    url: read('HELIOGRAM_URL'),
    key: read('HELIOGRAM_API_KEY'),
    profile: read('HELIOGRAM_PROFILE'),
    folder: join(config !== null && isAbsolute(config) ? config : join(homedir(), '.config'), 'heliogram'),
  }
}
