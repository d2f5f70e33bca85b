import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { lookAtKey } from '../session/key.ts'
import { say } from '../terminal/output.ts'
import { sayFacts } from '../terminal/table.ts'
import { safeJson } from '../terminal/text.ts'

export function build(cli: Cli): Command {
  return new Command('whoami').action(async () => {
    const { client, url, key, profile } = await cli.session()
    const name = profile?.name ?? null
    if (key !== null) {
      const { account, scopes } = await lookAtKey(url, key)
      const prefix = key.split('_').slice(0, 3).join('_')
      if (cli.isJson) return say(safeJson({ url, profile: name, account, user: null, key: prefix, scopes }))
      return sayFacts([
        ['at', url],
        ['account', `${account.name} (${account.id})`],
        ['with', `the key ${prefix}_…`],
        ['from', name === null ? 'HELIOGRAM_API_KEY' : `the profile ${name}`],
        ['may', scopes.join(', ')],
      ])
    }
    const user = await client.call('getMe')
    const account = profile?.stored.profile.account
    if (cli.isJson) return say(safeJson({ url, profile: name, account, user, key: null }))
    await sayFacts([
      ['at', url],
      ['account', account && `${account.name} (${account.id})`],
      ['as', `${user.email}, ${user.role}`],
      ['from', `the profile ${name}`],
      ['second factor', user.totp ? 'on' : 'off'],
    ])
  })
}
