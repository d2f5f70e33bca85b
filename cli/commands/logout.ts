import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { defaultProfile, readProfile, removeProfile } from '../session/profiles.ts'
import { note } from '../terminal/output.ts'

export function build(cli: Cli): Command {
  return new Command('logout')
    .description(
      'End the login, and delete it here. An API key is only deleted here and still works: "heliogram keys revoke" revokes it.',
    )
    .action(async () => {
      const { environment, wanted } = cli
      const name = wanted.profile ?? environment.profile ?? defaultProfile
      const stored = await readProfile(environment.folder, name).catch(() => null)
      if (stored?.profile.login) {
        const { createClient } = await import('@heliogram/sdk')
        const { url, login } = stored.profile
        await createClient({ baseUrl: url, token: login.accessToken, retries: 0 })
          .call('logout')
          .catch(() => note(`${url} could not be reached: the login there ends by itself within 30 days.`))
      }
      await removeProfile(environment.folder, name)
      note(stored ? `Logged out of ${stored.profile.url}.` : 'You were not logged in.')
    })
}
