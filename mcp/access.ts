/** What the credential may do, asked of the API: tools that it may not use are not offered. */
import { createClient, HeliogramError, type Client } from '@heliogram/sdk'
import type { Connection } from './connection.ts'

/** The scopes of the credential; null: it does not tell them (an access token), and the API refuses what it may not. */
export type Scopes = ReadonlySet<string> | null

/**
 * Asks for the scopes of a key: a login with it tells them, and is ended at once. A login over the API is all that tells them to whoever may
 * not read keys. @throws HeliogramError where the key is not valid, or nobody answers
 */
async function readScopes({ baseUrl, token }: Connection, signal: AbortSignal): Promise<Scopes> {
  const [, prefix] = /^(hg_(?:live|test)_[^_]+)_/.exec(token) ?? []
  if (prefix === undefined) {
    // Whether it counts at all is told by anything that is read with it.
    await createClient({ baseUrl, token })
      .call('getSettings', {}, { signal })
      .catch((error: unknown) => {
        if (!(error instanceof HeliogramError && error.code === 'insufficient_scope')) throw error
      })
    return null
  }
  const nobody = createClient({ baseUrl })
  const login = await nobody.call('login', { body: { client_id: prefix, client_secret: token } }, { signal })
  await createClient({ baseUrl, token: login.access_token }).call('logout', {}, { signal })
  return new Set(login.scope.split(' '))
}

/** Whether an error says that the credential itself is refused, and asking again is of no use. */
export function isRefused(error: unknown): error is HeliogramError {
  return error instanceof HeliogramError && [401, 403].includes(error.status)
}

/** The scopes as they come to be known: an installation that is down when the assistant starts is asked again later. */
export class Access {
  readonly client: Client
  readonly #connection: Connection
  #known: { scopes: Scopes } | null = null
  #asking: Promise<void> | null = null
  #listeners: ((scopes: Scopes) => void)[] = []

  constructor(connection: Connection) {
    this.#connection = connection
    this.client = createClient(connection)
  }

  /** Calls back as soon as the scopes are known; at once where they are. */
  whenKnown(listener: (scopes: Scopes) => void): void {
    if (this.#known) listener(this.#known.scopes)
    else this.#listeners.push(listener)
  }

  /** Resolves when the scopes are known. @throws HeliogramError where the API doesn't tell them now */
  async check(): Promise<void> {
    if (this.#known) return
    // Who asks at once asks once; nobody's cancellation ends it for the others.
    this.#asking ??= this.#ask().finally(() => (this.#asking = null))
    await this.#asking
  }

  async #ask(): Promise<void> {
    const scopes = await readScopes(this.#connection, AbortSignal.timeout(askMsMax))
    this.#known = { scopes }
    for (const listener of this.#listeners) listener(scopes)
    this.#listeners = []
  }
}

// Clients wait for the list of tools, some for ten seconds only.
const askMsMax = 5000
