/** What the program can be asked for besides the service. */
import { describeConfig, type Config } from '../config.ts'
import type { Log } from '../db/log.ts'
import { makeOwnerCode } from './owner.ts'
import { rotateKey } from './rotate-key.ts'

/** What is run to its end, by its name; answers what to print then. */
export const commands: Partial<Record<string, (config: Config, log: Log) => Promise<string>>> = {
  'owner-code': makeOwnerCode,
  'rotate-key': rotateKey,
}

/** What can be asked for; all that is said to somebody who mistyped it, so that the sentence about that stays in sight. */
export const synopsis = `Usage: heliogram start        run the service (the default)
       heliogram owner-code   another one-time code for the first owner, who has no password yet
       heliogram rotate-key   a new master key, while the service runs or not
       heliogram --help       this, and the settings
       heliogram --version
`

/** The text of `--help`. */
export const usageOf = (version: string): string => `Heliogram ${version}: the SMS platform that people run themselves.

${synopsis}
Settings come from the environment:
${describeConfig()}
`
