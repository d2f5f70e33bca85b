/**
 * The login of this browser. Its tokens are in cookies that no script can read (server/site/session.ts); what is kept here is who it is and
 * until when, for all tabs.
 */
import { createClient, HeliogramError, type Operations } from '@heliogram/sdk'

/** What is kept of a login. */
export interface Login {
  /** When the token ends: milliseconds since 1970, by this browser's clock. */
  until: number
  account: string
  user: { id: string; email: string; role: string }
}

const place = 'heliogram.login'
/** A token that ends sooner than this is renewed before it is used. Milliseconds. */
const renewBefore = 60_000

const watchers = new Set<() => void>()
let seen: { text: string | null; login: Login | null } = { text: null, login: null }
let renewal: Promise<void> | undefined

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
export async function logIn(body: NonNullable<Operations['login']['body']>): Promise<void> {
  keep(await ask('login', body))
}

/** Makes a user of who has a code, and logs them in. */
export async function acceptInvitation(body: Operations['acceptInvitation']['body']): Promise<void> {
  keep(await ask('join', body))
}

/** Ends the login here and at the server. */
export async function logOut(): Promise<void> {
  forget()
  // It is over for this browser either way; the tokens end by themselves.
  await ask('logout').catch(() => undefined)
}

/** Ends the login here: the server has said that it is over. */
export function forget(): void {
  localStorage.removeItem(place)
  tell()
}

/** The fetch of every call: with the mark without which the cookie does not count, and a token that is good for the next minute. */
export const fetchAsUser: typeof fetch = async (input, init) => {
  const login = readLogin()
  if (login !== null && login.until - Date.now() <= renewBefore) {
    renewal ??= inOneTab(renew).finally(() => {
      renewal = undefined
    })
    await renewal
  }
  return fetch(input, marked(init))
}

function marked(init: RequestInit = {}): RequestInit {
  const headers = new Headers(init.headers)
  headers.set('x-heliogram-console', '1')
  return { ...init, headers }
}

/** Renews the tokens, unless another tab has while we waited: a refresh token that is used twice ends the login. */
async function renew(): Promise<void> {
  const login = readLogin()
  if (login === null || login.until - Date.now() > renewBefore) return
  try {
    keep(await ask('refresh'))
  } catch (error) {
    // Without an answer nothing is known of the login: it stays.
    if (error instanceof HeliogramError && error.status === 401) forget()
    else throw error
  }
}

/** One tab at a time, where the browser can say so: it does on https and on this machine. */
function inOneTab<T>(work: () => Promise<T>): Promise<T> {
  return 'locks' in navigator ? navigator.locks.request(place, work) : work()
}

type Grant = Pick<Operations['login']['answer'], 'expires_in' | 'account' | 'user'>

/** The routes of logins stand beside the API's, and answer as its login does, but for the tokens. */
function ask(path: 'login' | 'join' | 'refresh' | 'logout', body: object = {}): Promise<Grant> {
  const toSession: typeof fetch = (_input, init) => fetch(`/console/session/${path}`, marked(init))
  return createClient({ baseUrl: location.origin, retries: 0, fetch: toSession }).call('login', { body })
}

function keep({ expires_in, account, user }: Grant): void {
  if (user === null) throw new Error('The console is for people: log in with an address and a password.')
  const login: Login = { until: Date.now() + expires_in * 1000, account: account.name, user }
  localStorage.setItem(place, JSON.stringify(login))
  tell()
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
