/** The login of this browser: kept until logout, shared by its tabs, renewed shortly before it ends. */
import { createClient, HeliogramError, type Operations } from '@heliogram/sdk'

type Grant = Operations['login']['answer']

/** What is kept of a login. */
export interface Login {
  access: string
  /** Milliseconds since 1970, by this browser's clock. */
  accessUntil: number
  refresh: string
  account: string
  user: { id: string; email: string; role: string }
}

const place = 'heliogram.login'
/** A token that ends sooner than this is renewed before it is used. Milliseconds. */
const renewBefore = 60_000

// The first calls of a login have no token; they go out by themselves.
const open = createClient({ baseUrl: location.origin })
const watchers = new Set<() => void>()
let seen: { text: string | null; login: Login | null } = { text: null, login: null }
let renewal: Promise<Login | null> | undefined

/** The login, or null. The same object until it changes. */
export function readLogin(): Login | null {
  const text = localStorage.getItem(place)
  if (text !== seen.text) seen = { text, login: parse(text) }
  return seen.login
}

/** Calls back when the login begins, changes or ends, in whichever tab; answers how to stop that. */
export function watchLogin(watcher: () => void): () => void {
  watchers.add(watcher)
  addEventListener('storage', watcher)
  return () => {
    watchers.delete(watcher)
    removeEventListener('storage', watcher)
  }
}

/** Logs in. @throws HeliogramError `otp_required` where a second factor is missing, and what else a login answers. */
export async function logIn(body: Operations['login']['body']): Promise<void> {
  keep(await open.call('login', { body }))
}

/** Makes a user of who has a code, and logs them in. */
export async function acceptInvitation(body: Operations['acceptInvitation']['body']): Promise<void> {
  keep(await open.call('acceptInvitation', { body }))
}

/** Ends the login here and at the server. */
export async function logOut(): Promise<void> {
  const login = readLogin()
  forget()
  if (login === null) return
  const client = createClient({ baseUrl: location.origin, token: login.access, retries: 0 })
  // It is over for this browser either way; the tokens end by themselves.
  await client.call('logout').catch(() => undefined)
}

/** Ends the login here: the server has said that it is over. */
export function forget(): void {
  localStorage.removeItem(place)
  tell()
}

/** A token that is good for the next minute; undefined without a login. */
export async function token(): Promise<string | undefined> {
  const login = readLogin()
  if (login === null) return undefined
  if (login.accessUntil - Date.now() > renewBefore) return login.access
  renewal ??= inOneTab(renew).finally(() => {
    renewal = undefined
  })
  return (await renewal)?.access
}

/** Exchanges the refresh token, unless another tab has while we waited: used twice, it ends the login. */
async function renew(): Promise<Login | null> {
  const login = readLogin()
  if (login === null || login.accessUntil - Date.now() > renewBefore) return login
  try {
    return keep(await open.call('refreshToken', { body: { refresh_token: login.refresh } }))
  } catch (error) {
    // Without an answer nothing is known of the login: it stays.
    if (error instanceof HeliogramError && error.status === 401) forget()
    else throw error
    return null
  }
}

/** One tab at a time, where the browser can say so: it does on https and on this machine. */
function inOneTab<T>(work: () => Promise<T>): Promise<T> {
  return 'locks' in navigator ? navigator.locks.request('heliogram.login', work) : work()
}

function keep({ access_token, expires_in, refresh_token, account, user }: Grant): Login {
  if (user === null) throw new Error('The console is for people: log in with an address and a password.')
  const login = {
    access: access_token,
    accessUntil: Date.now() + expires_in * 1000,
    refresh: refresh_token,
    account: account.name,
    user,
  }
  localStorage.setItem(place, JSON.stringify(login))
  tell()
  return login
}

function tell(): void {
  for (const watcher of watchers) watcher()
}

function parse(text: string | null): Login | null {
  try {
    return text === null ? null : (JSON.parse(text) as Login)
  } catch {
    return null
  }
}
