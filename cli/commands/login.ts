import { createInterface } from 'node:readline/promises'
import { createClient, type Answer, type Client, type HeliogramError } from '@heliogram/sdk'
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { misused } from '../exit.ts'
import { readInput } from '../input/given.ts'
import { lookAtKey } from '../session/key.ts'
import { readProfile, removeProfile, saveProfile, defaultProfile, type Profile } from '../session/profiles.ts'
import { checkUrl, defaultUrl, profileOf } from '../session/session.ts'
import { note, say } from '../terminal/output.ts'
import { clean, safeJson } from '../terminal/text.ts'

interface LoginOptions {
  key?: true
  email?: string
  otp?: string
  recoveryCode?: string
  code?: true
}

export function build(cli: Cli): Command {
  return new Command('login')
    .argument('[url]', 'where the installation is')
    .option('--key', 'with an API key, which is asked for or read from standard input')
    .option('--code', 'with the one-time code of the first start, or of an invitation: you choose your password')
    .option('--email <address>', 'your e-mail address')
    .option('--otp <code>', 'the code of the second factor')
    .option('--recovery-code <code>', 'replaces a lost second factor')
    .addHelpText(
      'after',
      '\nWithout a terminal, the key or the password is read from standard input:\n  heliogram login https://sms.example.com --key < key.txt\nLogins are stored in the folder heliogram of $XDG_CONFIG_HOME (~/.config), readable only by you.',
    )
    .action(async (address: string | undefined, options: LoginOptions) => logIn(cli, address, options))
}

async function logIn(cli: Cli, address: string | undefined, options: LoginOptions): Promise<void> {
  if (options.key && (options.email ?? options.otp ?? options.code))
    throw misused('--key cannot be combined with these: a key has no address and no second factor.')
  const { folder } = cli.environment
  const name = cli.wanted.profile ?? cli.environment.profile ?? defaultProfile
  // An unreadable login is replaced.
  const before = await readProfile(folder, name).catch(() => null)
  const named = address ?? cli.wanted.url ?? cli.environment.url ?? before?.profile.url
  const { isTTY } = process.stdin
  const { askText } = await prompts()
  const url = checkUrl(named ?? (isTTY ? await askText('Address of the installation?', defaultUrl) : defaultUrl))
  warnOfPlainHttp(url)
  const client = createClient({ baseUrl: url })
  const profile = options.key
    ? await withKey(url)
    : profileOf(url, options.code ? await withCode(client, options) : await withPassword(client, options))
  await removeProfile(folder, name)
  while (!(await saveProfile(folder, name, profile, (await readProfile(folder, name))?.generation ?? 0)));
  await sayWelcome(cli, name, profile)
}

/** Loaded only for prompts, because it takes longest. */
const prompts = () => import('../terminal/ask.ts')

async function withKey(url: string): Promise<Profile> {
  const { askSecret } = await prompts()
  const key = process.stdin.isTTY ? await askSecret('API key') : (await readInput()).trim()
  if (!/^hg_(live|test)_\w+$/.test(key))
    throw misused(
      'This is not an API key.',
      'A key starts with hg_live_ or hg_test_. The first start prints one, and "heliogram keys create" creates more.',
    )
  return { url, account: (await lookAtKey(url, key)).account, email: null, key }
}

async function withPassword(client: Client, options: LoginOptions): Promise<Answer<'login'>> {
  const { isTTY } = process.stdin
  const { askText, askSecret } = await prompts()
  if (!isTTY && options.email === undefined)
    throw misused(
      'There is no terminal for questions.',
      'Pass --email and the password on standard input, or --key and a key.',
    )
  const email = options.email ?? (await askText('E-mail'))
  const password = isTTY ? await askSecret('Password') : await readLine()
  const body = { email, password, otp: options.otp, recovery_code: options.recoveryCode }
  try {
    return await client.call('login', { body })
  } catch (error) {
    if ((error as Partial<HeliogramError>).code !== 'otp_required' || !isTTY) throw error
    return client.call('login', { body: { ...body, otp: await askText('Code of the second factor') } })
  }
}

async function withCode(client: Client, options: LoginOptions): Promise<Answer<'acceptInvitation'>> {
  if (!process.stdin.isTTY) throw misused('--code asks for the code and a new password, and needs a terminal.')
  const { askText, askSecret } = await prompts()
  const code = await askSecret('One-time code (hg_iv_…)')
  // An invitation has an address; the first owner chooses one.
  const email = options.email ?? (await askText('E-mail, if the code came without one', ''))
  const password = await askSecret('New password, of 15 characters or more')
  return client.call('acceptInvitation', { body: { code, password, ...(email && { email }) } })
}

async function readLine(): Promise<string> {
  const lines = createInterface({ input: process.stdin })
  for await (const line of lines) {
    lines.close()
    return line
  }
  throw misused('There is no password on standard input.')
}

/** Anyone on the network could read the requests. */
function warnOfPlainHttp(url: string): void {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'http:' && !/^(localhost|127\.|\[::1\]|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.)/.test(hostname))
    note(`${url} is plain http: anybody on the network path can read your password.`)
}

async function sayWelcome(cli: Cli, name: string, { url, account, email }: Profile): Promise<void> {
  if (cli.isJson) return say(safeJson({ profile: name, url, account, email }))
  const who = email ?? 'a key'
  await say(`Logged in at ${url} as ${clean(who)}, account ${clean(account.name)}.`)
  note('\nTry: heliogram status, or heliogram send <your number> "Hello"')
}
