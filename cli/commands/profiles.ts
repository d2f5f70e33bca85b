import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { defaultProfile, listProfiles, readProfile } from '../session/profiles.ts'
import { sayRows } from '../terminal/list.ts'
import { note } from '../terminal/output.ts'
import type { Column } from '../terminal/table.ts'

export function build(cli: Cli): Command {
  return new Command('profiles')
    .description(
      'Your logins. --profile, or HELIOGRAM_PROFILE, selects one; "heliogram login --profile staging" adds another.',
    )
    .action(async () => {
      const { environment, wanted } = cli
      const current = wanted.profile ?? environment.profile ?? defaultProfile
      const names = await listProfiles(environment.folder)
      const rows = await Promise.all(
        names.map(async (name) => {
          const stored = await readProfile(environment.folder, name).catch(() => null)
          const { url = null, account = null, email = null } = stored?.profile ?? {}
          return {
            name,
            is_current: name === current,
            url,
            account: account?.name ?? null,
            as: stored ? (email ?? 'a key') : 'damaged',
          }
        }),
      )
      const columns: Column<(typeof rows)[number]>[] = [
        { title: '', of: ({ is_current: isCurrent }) => (isCurrent ? '*' : ' ') },
        { title: 'NAME', of: ({ name }) => name },
        { title: 'AT', of: ({ url }) => url },
        { title: 'ACCOUNT', of: ({ account }) => account },
        { title: 'AS', of: (row) => row.as },
      ]
      await sayRows(cli, rows, columns, 'You are not logged in anywhere. Run "heliogram login".')
      if (cli.isJson || rows.length === 0) return
      if (environment.key !== null)
        note('HELIOGRAM_API_KEY is set, and takes precedence over them unless you use --profile.')
    })
}
