/** The caller's URL and credential: from options, the environment, and the profile, in this order. */
import { createClient, type Answer, type Client, type HeliogramError } from '@heliogram/sdk'
import type { Environment } from '../environment.ts'
import { exits, Failure, misused } from '../exit.ts'
import { defaultProfile, readProfile, saveProfile, type Login, type Profile, type Stored } from './profiles.ts'

/** The default of `npm start`. */
export const defaultUrl = 'http://127.0.0.1:8080'

export interface Wanted {
  profile: string | undefined
  url: string | undefined
}

export interface Session {
  client: Client
  url: string
  /** Null for a key from the environment. */
  profile: { name: string; stored: Stored } | null
  /** Null for a person's login. */
  key: string | null
}

// A token that expires during a request would be refused.
const reserveMs = 60_000

/** @throws Failure without a login */
export async function openSession(environment: Environment, wanted: Wanted): Promise<Session> {
  const named = wanted.url ?? environment.url
  const url = named === null ? null : checkUrl(named)
  const name = wanted.profile ?? environment.profile ?? defaultProfile
  // An explicit profile takes precedence; otherwise the environment's key precedes the stored login.
  const key = wanted.profile === undefined ? environment.key : null
  const stored = await readProfile(environment.folder, name)
  if (key !== null) {
    const at = url ?? stored?.profile.url ?? defaultUrl
    return { client: createClient({ baseUrl: at, token: key }), url: at, profile: null, key }
  }
  const suffix = name === defaultProfile ? '' : ` --profile ${name}`
  if (stored === null)
    throw new Failure(
      exits.loggedOut,
      name === defaultProfile ? 'You are not logged in.' : `There is no profile "${name}".`,
      `Run "heliogram login${suffix}", or set HELIOGRAM_API_KEY.`,
    )
  // A secret is only sent to the installation that issued it.
  if (url !== null && url !== stored.profile.url)
    throw new Failure(
      exits.loggedOut,
      `You are logged in at ${stored.profile.url}, not at ${url}.`,
      `Run "heliogram login --url ${url} --profile <name>", or set HELIOGRAM_API_KEY.`,
    )
  const { profile } = stored
  const token = profile.key ?? (async () => freshToken(environment.folder, name))
  return {
    client: createClient({ baseUrl: profile.url, token }),
    url: profile.url,
    profile: { name, stored },
    key: profile.key ?? null,
  }
}

/** Removes the final slash. @throws Failure if it is invalid */
export function checkUrl(text: string): string {
  const url = text.includes('://') ? text : `http://${text}`
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || parsed.search || parsed.hash || parsed.username)
    throw misused(
      `"${text}" is not the address of an installation.`,
      `Use one such as https://sms.example.com, or ${defaultUrl}.`,
    )
  return `${parsed.origin}${parsed.pathname}`.replace(/\/+$/, '')
}

export function profileOf(url: string, { account, user, ...answer }: Answer<'login'>): Profile {
  return { url, account, email: user?.email ?? null, login: loginOf(answer) }
}

const loginOf = (answer: Pick<Answer<'login'>, 'access_token' | 'refresh_token' | 'expires_in'>): Login => ({
  accessToken: answer.access_token,
  refreshToken: answer.refresh_token,
  expiresAt: Date.now() + answer.expires_in * 1000,
})

/** An access token with enough time left. A new pair is stored before it is used. */
async function freshToken(folder: string, name: string): Promise<string> {
  for (;;) {
    const stored = await readProfile(folder, name)
    const login = stored?.profile.login
    if (!stored || !login) throw ended(name)
    if (login.expiresAt - Date.now() > reserveMs) return login.accessToken
    const answer = await refresh(stored.profile.url, login.refreshToken).catch(async (error: unknown) => {
      if ((error as Partial<HeliogramError>).status !== 401) throw error
      // Another process exchanged it while this one was suspended.
      const now = await readProfile(folder, name)
      if (now === null || now.generation === stored.generation) throw ended(name)
      return null
    })
    if (answer === null) continue
    const next = { ...stored.profile, login: loginOf(answer) }
    if (await saveProfile(folder, name, next, stored.generation)) return next.login.accessToken
  }
}

/** Exchanges a refresh token, again if the response was lost: for a minute it returns the same pair. */
async function refresh(url: string, token: string): Promise<Answer<'refreshToken'>> {
  const client = createClient({ baseUrl: url, timeoutMs: 20_000 })
  const ask = (): Promise<Answer<'refreshToken'>> => client.call('refreshToken', { body: { refresh_token: token } })
  return ask().catch((error: unknown) => {
    if ((error as Partial<HeliogramError>).status === 0) return ask()
    throw error
  })
}

const ended = (name: string): Failure =>
  new Failure(
    exits.loggedOut,
    'Your login has ended.',
    `Run "heliogram login${name === defaultProfile ? '' : ` --profile ${name}`}".`,
  )
