/** What the environment says to the command line: the only place that reads it. */
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** The settings of a shell, each null where it is not there. */
export interface Environment {
  url: string | null
  key: string | null
  profile: string | null
  /** Where logins are kept; nobody else may read it. */
  folder: string
}

/** Reads it again. A folder that is no whole path is passed over, as the XDG Base Directory Specification says. */
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
