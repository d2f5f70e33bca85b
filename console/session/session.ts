/**
 * The login of this browser. Its tokens are in cookies that no script can read (server/program/site/session.ts); what is kept here is who it is and
 * until when, for all tabs.
 */
import { createClient, HeliogramError, type Operations } from '@heliogram/sdk'
import { noteUse, unusedMs, watchUse } from './idle.ts'

/** What is kept of a login. */
export interface Login {
  /** When the token ends: milliseconds since 1970, by this browser's clock. */
  until: number
  account: string
  /** What it may do, with spaces between. */
  scope: string
  user: { id: string; email: string; role: string }
  /** For how long nobody may use it before it ends. Milliseconds. */
  idle: number
  /** The server has said that it is over. Who it was stays known: screens that they work in wait for them to log in again. */
  isOver?: true
}

const place = 'heliogram.login'
/** A token that ends sooner than this is renewed before it is used. Milliseconds. */
const renewBefore = 60_000

const watchers = new Set<() => void>()
let seen: { text: string | null; login: Login | null } = { text: null, login: null }
let renewal: Promise<void> | undefined
/** A login that is being ended at the server: its answer takes the cookies away, those of the next one too. */
let leaving: Promise<unknown> = Promise.resolve()

/** What this tab keeps alone where the browser keeps nothing for pages, or nothing more. */
let own: string | null = null

/** The login, or null. The same object until it changes. */
export function readLogin(): Login | null {
  const text = readKept()
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
  await leaving
  await begin(await ask('login', body))
}

/** Makes a user of who has a code, and logs them in. */
export async function acceptInvitation(body: Operations['acceptInvitation']['body']): Promise<void> {
  await begin(await ask('join', body))
}

/** Ends the login here and at the server. */
export async function logOut(): Promise<void> {
  write(null)
  tell()
  // It is over for this browser either way; the tokens end by themselves.
  await ask('logout').catch(() => undefined)
}

/** The server has said that the login is over. */
function end(login: Login): void {
  write(JSON.stringify({ ...login, isOver: true } satisfies Login))
  tell()
}

/**
 * The fetch of every call: with the mark without which the cookie does not count, and a token that is good for the next minute. One that
 * the server refuses before its time (a clock that was put back, a cookie that is gone) is renewed, too; only if that is refused, the login is over.
 */
export const fetchAsUser: typeof fetch = async (input, init) => {
  endUnused()
  if (isLate(readLogin())) await renewOnce(isLate)
  const login = readLogin()
  const answer = await fetch(input, marked(init))
  if (login === null || !(await isNoLogin(answer))) return answer
  // Who has renewed it, or logged in, while we asked did so for us.
  await renewOnce((now) => isIn(now) && now.until === login.until)
  return isIn(readLogin()) ? fetch(input, marked(init)) : answer
}

/** Ends the login, here and at the server, where nobody has used it for too long: what pages ask by themselves is no use. */
function endUnused(): void {
  const login = readLogin()
  // Another version may have kept none, which is no limit.
  if (!isIn(login) || !(unusedMs() > login.idle)) return
  end(login)
  // Its tokens end by themselves where this fails.
  leaving = ask('logout').catch(() => undefined)
}

const isIn = (login: Login | null): login is Login => login !== null && login.isOver === undefined
const isLate = (login: Login | null): boolean => isIn(login) && login.until - Date.now() <= renewBefore

/** What the API says of a token that is none; a password that is wrong is something else. */
const noLogin: readonly unknown[] = ['invalid_token', 'expired_token', 'missing_token']

/** Whether an answer says that the token is none. */
async function isNoLogin(answer: Response): Promise<boolean> {
  if (answer.status !== 401) return false
  const { code } = (await answer
    .clone()
    .json()
    .catch(() => ({}))) as { code?: string }
  return noLogin.includes(code)
}

/**
 * Does what asks the API. Where the login ends meanwhile, it is done once more when the same user is in again: what they sent is sent then.
 * @throws what the work throws, also where somebody else logs in, or nobody.
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

/** Resolves when the login becomes another. @throws the reason of the signal, where that comes first */
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

/** Renews the login, once for all who wait for it. */
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

/** Renews the tokens, unless another tab has while we waited: a refresh token that is used twice ends the login. */
async function renew(isNeeded: (login: Login | null) => boolean): Promise<void> {
  const login = readLogin()
  if (login === null || !isNeeded(login)) return
  try {
    keep(await ask('refresh'))
  } catch (error) {
    // Without an answer nothing is known of the login: it stays.
    if (error instanceof HeliogramError && error.status === 401) end(login)
    else throw error
  }
}

/** One tab at a time, where the browser can say so: it does on https and on this machine. */
function inOneTab<T>(work: () => Promise<T>): Promise<T> {
  return 'locks' in navigator ? navigator.locks.request(place, work) : work()
}

type Grant = Pick<Operations['login']['answer'], 'expires_in' | 'scope' | 'account' | 'user'> & { idle_seconds: number }

/** The routes of logins stand beside the API's, and answer as its login does, without the tokens and with how long it may be unused. */
async function ask(path: 'login' | 'join' | 'refresh' | 'logout', body: object = {}): Promise<Grant> {
  const toSession: typeof fetch = (_input, init) => fetch(`/console/session/${path}`, marked(init))
  const told: unknown = await createClient({ baseUrl: location.origin, retries: 0, fetch: toSession }).call('login', {
    body,
  })
  return told as Grant
}

/** Keeps a login that has just begun. @throws Error where the browser did not take its cookies, without which nothing would say why. */
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

// A browser may refuse to keep anything for pages, which throws also where something is read, or have no room left.
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

/** What is kept, where it is a login: another version may have written something else. */
function parse(text: string | null): Login | null {
  try {
    const login = JSON.parse(text ?? 'null') as Partial<Login> | null
    return typeof login?.until === 'number' && typeof login.user?.id === 'string' ? (login as Login) : null
  } catch {
    return null
  }
}

// Who comes back to a login that nobody used for too long does not renew it by that.
endUnused()
watchUse(() => {
  endUnused()
  if (isIn(readLogin())) noteUse()
})
