/** Commands of the program, besides the service. */
import { setPriority } from 'node:os'
import { describeConfig } from '../config.ts'
import { backUp } from './backup/backup.ts'
import { checkBackup } from './backup/check.ts'
import { backupHelp, restoreHelp } from './backup/help.ts'
import { restore } from './backup/restore.ts'
import { readWords, requireNoWords, type Command } from './command.ts'
import { makeOwnerCode } from './owner.ts'
import { rotateKey } from './rotate-key.ts'

// Sends and requests have priority: PostgreSQL slows down with its reader.
const niceness = 10

export const commands: Partial<Record<string, Command>> = {
  backup: {
    help: backupHelp,
    heedsStop: true,
    run: async (context, words) => {
      const { file, flags } = readWords(words, ['check'])
      setPriority(niceness)
      return flags.has('check') ? await checkBackup(context, file) : await backUp(context, file)
    },
  },
  restore: {
    help: restoreHelp,
    heedsStop: true,
    run: async (context, words) => {
      const { file, flags } = readWords(words, ['keep-carriers', 'without-key'])
      return await restore(context, file, {
        keepsCarriers: flags.has('keep-carriers'),
        isWithoutKey: flags.has('without-key'),
      })
    },
  },
  'owner-code': {
    run: async ({ config, log }, words) => {
      requireNoWords(words)
      return await makeOwnerCode(config, log)
    },
  },
  'rotate-key': {
    run: async ({ config, log }, words) => {
      requireNoWords(words)
      return await rotateKey(config, log)
    },
  },
}

/** The short list of commands; all that follows a mistyped one, so that the error stays visible. */
export const synopsis =
  'Usage: heliogram start           run the service\n       heliogram backup FILE     back up the whole database, while the service runs or not; --check FILE: verify a backup\n       heliogram restore FILE    restore a backup into an empty database\n       heliogram owner-code      print a new one-time code for the first owner, who has no password yet\n       heliogram rotate-key      replace the master key, while the service runs or not\n       heliogram start --help    this, and the settings; also heliogram backup --help, heliogram restore --help\n       heliogram --help          all commands, including those that use the API\n'

/** The text of `heliogram help settings` (`start --help`), and of `--help` after a command of the installation. */
export const usageOf = (version: string): string => `Heliogram ${version}: the SMS platform that people run themselves.

${synopsis}
Settings come from the environment:
${describeConfig()}
`
