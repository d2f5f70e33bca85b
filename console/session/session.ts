/**
 * The login of this browser. Its tokens are in cookies that no script can read (server/program/site/session.ts); the user and the expiry are
 * stored for all tabs.
 */
import { createClient, HeliogramError, type Operations } from '@heliogram/sdk'
import { noteUse, unusedMs, watchUse } from './idle.ts'

export interface Login {
  /** Expiry of the token in Unix milliseconds, by this browser's clock. */
  until: number
  account: string
  /** Scopes, separated by spaces. */
  scope: string
  user: { id: string; email: string; role: string }
  /** Longest time without use. Milliseconds. */
  idle: number
  /** The server has ended the login. The user stays known, so that open screens wait for a new login. */
  isOver?: true
}

const place = 'heliogram.login'
/** A token that expires sooner is renewed before use. Milliseconds. */
const renewBefore = 60_000

const watchers = new Set<() => void>()
let seen: { text: string | null; login: Login | null } = { text: null, login: null }
let renewal: Promise<void> | undefined
/** A running logout: its response deletes the cookies, including those of the next login. */
let leaving: Promise<unknown> = Promise.resolve()

/** This tab's own copy, if the browser stores nothing, or has no room. */
let own: string | null = null

/** The same object until it changes. */
export function readLogin(): Login | null {
  const text = readKept()
  if (text !== seen.text) seen = { text, login: parse(text) }
  return seen.login
}

/** Calls back when the login begins, changes or ends, in any tab; returns a function that stops it. */
export function watchLogin(watcher: () => void): () => void {
  watchers.add(watcher)
  addEventListener('storage', watcher)
  return () => {
    watchers.delete(watcher)
    removeEventListener('storage', watcher)
  }
}

/** @throws HeliogramError `otp_required` if the second factor is missing, and others of a login */
export async function logIn(body: NonNullable<Operations['login']['body']>): Promise<void> {
  await leaving
  await begin(await ask('login', body))
}

/** Creates the user of a code, and logs them in. */
export async function acceptInvitation(body: Operations['acceptInvitation']['body']): Promise<void> {
  await begin(await ask('join', body))
}

export async function logOut(): Promise<void> {
  write(null)
  tell()
  // The login is over for this browser in any case; the tokens expire.
  await ask('logout').catch(() => undefined)
}

/** The server has ended the login. */
function end(login: Login): void {
  write(JSON.stringify({ ...login, isOver: true } satisfies Login))
  tell()
}

/**
 * The fetch of all calls: adds the header without which the cookie is ignored, and keeps the token valid for the next minute. A token refused
 * early (a clock set back, a lost cookie) is renewed; the login only ends if that is refused.
 */
export const fetchAsUser: typeof fetch = async (input, init) => {
  endUnused()
  if (isLate(readLogin())) await renewOnce(isLate)
  const login = readLogin()
  const answer = await fetch(input, marked(init))
  if (login === null || !(await isNoLogin(answer))) return answer
  // Another tab has renewed it, or logged in, meanwhile.
  await renewOnce((now) => isIn(now) && now.until === login.until)
  return isIn(readLogin()) ? fetch(input, marked(init)) : answer
}

/** Ends the login, here and at the server, after too long without input: polling does not count. */
function endUnused(): void {
  const login = readLogin()
  // Another version may have stored none, which means no limit.
  if (!isIn(login) || !(unusedMs() > login.idle)) return
  end(login)
  // The tokens expire even if this fails.
  leaving = ask('logout').catch(() => undefined)
}

const isIn = (login: Login | null): login is Login => login !== null && login.isOver === undefined
const isLate = (login: Login | null): boolean => isIn(login) && login.until - Date.now() <= renewBefore

/** The API's codes for an invalid token; a wrong password has another. */
const noLogin: readonly unknown[] = ['invalid_token', 'expired_token', 'missing_token']

async function isNoLogin(answer: Response): Promise<boolean> {
  if (answer.status !== 401) return false
  const { code } = (await answer
    .clone()
    .json()
    .catch(() => ({}))) as { code?: string }
  return noLogin.includes(code)
}

/**
 * Runs API calls. If the login ends meanwhile, they run again when the same user has logged in. @throws what the work throws, also if another
 * user logs in, or none
 */
export async function whileIn<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const user = readLogin()?.user.id
  const isEnded = () => user !== undefined && readLogin()?.user.id === user && !isIn(readLogin())
  for (;;) {
    if (isEnded()) await untilChanged(signal)
    else
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof HeliogramError && noLogin.includes(error.code) && isEnded())) throw error
      }
  }
}

/** Resolves when the login changes. @throws the signal's reason if it aborts first */
function untilChanged(signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = watchLogin(() => {
      stop()
      resolve()
    })
    const giveUp = () => {
      stop()
      reject(signal?.reason as Error)
    }
    if (signal?.aborted) giveUp()
    else signal?.addEventListener('abort', giveUp, { once: true })
  })
}

/** One renewal for all callers. */
function renewOnce(isNeeded: (login: Login | null) => boolean): Promise<void> {
  renewal ??= inOneTab(() => renew(isNeeded)).finally(() => {
    renewal = undefined
  })
  return renewal
}

function marked(init: RequestInit = {}): RequestInit {
  const headers = new Headers(init.headers)
  headers.set('x-heliogram-console', '1')
  return { ...init, headers }
}

/** Skipped if another tab has renewed meanwhile: a refresh token used twice ends the login. */
async function renew(isNeeded: (login: Login | null) => boolean): Promise<void> {
  const login = readLogin()
  if (login === null || !isNeeded(login)) return
  try {
    keep(await ask('refresh'))
  } catch (error) {
    // Without a response the login's state is unknown: it stays.
    if (error instanceof HeliogramError && error.status === 401) end(login)
    else throw error
  }
}

/** One tab at a time, if the browser has locks: it does on https and localhost. */
function inOneTab<T>(work: () => Promise<T>): Promise<T> {
  return 'locks' in navigator ? navigator.locks.request(place, work) : work()
}

type Grant = Pick<Operations['login']['answer'], 'expires_in' | 'scope' | 'account' | 'user'> & { idle_seconds: number }

/** The login routes are separate from the API's. They respond like its login, without tokens, and with the limit of idle time. */
async function ask(path: 'login' | 'join' | 'refresh' | 'logout', body: object = {}): Promise<Grant> {
  const toSession: typeof fetch = (_input, init) => fetch(`/console/session/${path}`, marked(init))
  const told: unknown = await createClient({ baseUrl: location.origin, retries: 0, fetch: toSession }).call('login', {
    body,
  })
  return told as Grant
}

/** Stores a new login. @throws Error if the browser refused its cookies, which would otherwise go unnoticed */
async function begin(grant: Grant): Promise<void> {
  const answer = await fetch('/v1/users/me', marked()).catch(() => null)
  if (answer !== null && (await isNoLogin(answer)))
    throw new Error(
      'Your login was right, but this browser has not kept its cookies. Allow them for this site; and where it has an https:// address, use that.',
    )
  noteUse()
  keep(grant)
}

function keep({ expires_in, idle_seconds, scope, account, user }: Grant): void {
  if (user === null) throw new Error('The console is for people: log in with an address and a password.')
  const [until, idle] = [Date.now() + expires_in * 1000, idle_seconds * 1000]
  const login: Login = { until, idle, account: account.name, scope, user }
  write(JSON.stringify(login))
  tell()
}

// Browsers may refuse storage, in which case reading throws too, or be full.
function readKept(): string | null {
  try {
    return own ?? localStorage.getItem(place)
  } catch {
    return own
  }
}

function write(text: string | null): void {
  own = null
  try {
    if (text === null) localStorage.removeItem(place)
    else localStorage.setItem(place, text)
  } catch {
    own = text
  }
}

function tell(): void {
  for (const watcher of watchers) watcher()
}

/** Null for the formats of other versions. */
function parse(text: string | null): Login | null {
  try {
    const login = JSON.parse(text ?? 'null') as Partial<Login> | null
    return typeof login?.until === 'number' && typeof login.user?.id === 'string' ? (login as Login) : null
  } catch {
    return null
  }
}

// Returning after too long without input does not renew the login.
endUnused()
watchUse(() => {
  endUnused()
  if (isIn(readLogin())) noteUse()
})
