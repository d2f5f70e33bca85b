/** The credential's permissions, from the API: tools that it may not use are not offered. */
import { createClient, HeliogramError, type Client } from '@heliogram/sdk'
import type { Connection } from './connection.ts'

/** The credential's scopes; null for an access token, whose scopes are unknown: the API then refuses what is not allowed. */
export type Scopes = ReadonlySet<string> | null

/**
 * Reads the scopes of a key from a login with it, which is ended immediately: a key that may not read keys has no other way. @throws
 * HeliogramError if the key is invalid, or there is no response
 */
async function readScopes({ baseUrl, token }: Connection, signal: AbortSignal): Promise<Scopes> {
  const [, prefix] = /^(hg_(?:live|test)_[^_]+)_/.exec(token) ?? []
  if (prefix === undefined) {
    // Any read shows whether the token is valid.
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

/** Whether the credential itself is refused, so that retrying is useless. */
export function isRefused(error: unknown): error is HeliogramError {
  return error instanceof HeliogramError && [401, 403].includes(error.status)
}

/** Learns the scopes; retries later if the installation is down when the assistant starts. */
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

  /** Calls back once the scopes are known. */
  whenKnown(listener: (scopes: Scopes) => void): void {
    if (this.#known) listener(this.#known.scopes)
    else this.#listeners.push(listener)
  }

  /** @throws HeliogramError if the API does not respond now */
  async check(): Promise<void> {
    if (this.#known) return
    // Concurrent callers share one request, which no single cancellation ends.
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

// Clients wait for the list of tools, some for only ten seconds.
const askMsMax = 5000
