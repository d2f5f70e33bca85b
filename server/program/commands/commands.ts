/** Commands of the program, besides the service. Each is loaded when it runs. */
import { setPriority } from 'node:os'
import { describeConfig } from '../config.ts'
import { backupHelp, restoreHelp } from './backup/help.ts'
import { readWords, requireNoWords, type Command } from './command.ts'

// Sends and requests have priority: PostgreSQL slows down with its reader.
const niceness = 10

export const commands: Partial<Record<string, Command>> = {
  backup: {
    help: backupHelp,
    heedsStop: true,
    run: async (context, words) => {
      const { file, flags } = readWords(words, ['check'])
      setPriority(niceness)
      if (flags.has('check')) return await (await import('./backup/check.ts')).checkBackup(context, file)
      return await (await import('./backup/backup.ts')).backUp(context, file)
    },
  },
  restore: {
    help: restoreHelp,
    heedsStop: true,
    run: async (context, words) => {
      const { file, flags } = readWords(words, ['keep-carriers', 'without-key'])
      const { restore } = await import('./backup/restore.ts')
      return await restore(context, file, {
        keepsCarriers: flags.has('keep-carriers'),
        isWithoutKey: flags.has('without-key'),
      })
    },
  },
  'owner-code': {
    run: async ({ config, log }, words) => {
      requireNoWords(words)
      const { makeOwnerCode } = await import('./owner.ts')
      return await makeOwnerCode(config, log)
    },
  },
  'rotate-key': {
    run: async ({ config, log }, words) => {
      requireNoWords(words)
      const { rotateKey } = await import('./rotate-key.ts')
      return await rotateKey(config, log)
    },
  },
}

/** The short list of commands; all that follows a mistyped one, so that the error stays visible. */
export const synopsis =
  'Usage: heliogram start           run the service\n       heliogram backup FILE     back up the whole database; the service can keep running; --check FILE: verify a backup\n       heliogram restore FILE    restore a backup into an empty database\n       heliogram owner-code      print a new one-time code for the first owner, who has no password yet\n       heliogram rotate-key      replace the master key; the service can keep running\n       heliogram start --help    this, and the settings; also heliogram backup --help, heliogram restore --help\n       heliogram --help          all commands, including those that use the API\n'

/** The text of `heliogram help settings` (`start --help`), and of `--help` after a command of the installation. */
export const usageOf = (version: string): string => `Heliogram ${version}: the SMS platform that you run yourself.

${synopsis}
Settings come from the environment:
${describeConfig()}
`
