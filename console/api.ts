/** All API calls of screens go through the SDK with this browser's login; the console has no privileges of its own. */
import {
  createClient,
  HeliogramError,
  keyed,
  newIdempotencyKey,
  type Answer,
  type CallOptions,
  type Client,
  type JsonOperation,
  type OperationName,
  type OperationRequest,
} from '@heliogram/sdk'
import {
  focusManager,
  keepPreviousData,
  QueryClient,
  useMutation,
  useQueries,
  useQuery,
  useQueryClient,
  type UseQueryOptions,
  type UseQueryResult,
} from '@tanstack/react-query'
import { use, useRef } from 'react'
import { whileConfirmed } from './session/confirmation.ts'
import { fetchAsUser, readLogin, whileIn } from './session/session.ts'
import { isAllowed, Scopes } from './kit/may.tsx'
import { paceOf, watchReturns } from './kit/pace.ts'
import { isAway } from './kit/problem.tsx'
import { toast } from './kit/toast.tsx'

const client = createClient({ baseUrl: location.origin, fetch: fetchAsUser })

export const heliogram: Pick<Client, 'call' | 'open'> = {
  call: (name, ...rest) => whileConfirmed(() => whileIn(() => client.call(name, ...rest), rest[1]?.signal)),
  open: (name, ...rest) => whileIn(() => client.open(name, ...rest), rest[1]?.signal),
}

/** Responses are cached for a minute. Failed calls are not repeated, because the SDK has done that. */
export const queries = new QueryClient({
  // `always`: a browser that reports itself offline may be on the installation's machine or network.
  defaultOptions: {
    queries: { retry: false, staleTime: 1000, gcTime: 60_000, refetchOnWindowFocus: true, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
})

// Refresh for returning users.
focusManager.setEventListener((tell) => watchReturns(() => tell()))

/**
 * Polling interval while something changes and the page is watched, in milliseconds (kit/pace.ts): fixed, or by the last response; undefined
 * stops.
 */
type Every<Name extends JsonOperation> = number | ((answer: Answer<Name> | undefined) => number | undefined)

/** Between the calls of a screen while the server is unreachable. */
const outageMs = 5000

interface Asking<Name extends JsonOperation> {
  every?: Every<Name>
  enabled?: boolean
  /** Optional on a screen: not called, instead of refused, without the scope. */
  isSide?: boolean
}

/** The response of an operation, polled if it changes by itself. Previous data stays while another request of the same kind is loading. */
export function useCall<Name extends JsonOperation>(
  name: Name,
  request: OperationRequest<Name>,
  asking: Asking<Name> = {},
): UseQueryResult<Answer<Name>> {
  return useQuery(queryOf(use(Scopes), name, request, asking))
}

/** The account's time zone; undefined: that of the browser, for those who may not read settings. */
export const useZone = (): string | undefined => useCall('getSettings', {}, { isSide: true }).data?.timezone

/** As many as there are requests. */
export function useCalls<Name extends JsonOperation>(
  name: Name,
  requests: readonly OperationRequest<Name>[],
  asking: Asking<Name> = {},
): UseQueryResult<Answer<Name>>[] {
  const held = use(Scopes)
  return useQueries({ queries: requests.map((request) => queryOf(held, name, request, asking)) })
}

function queryOf<Name extends JsonOperation>(
  held: ReadonlySet<string>,
  name: Name,
  request: OperationRequest<Name>,
  { every, enabled = true, isSide = false }: Asking<Name>,
): UseQueryOptions<Answer<Name>> {
  return {
    // Includes the user, because the login can change while a screen is shown.
    queryKey: [readLogin()?.user.id, name, request],
    queryFn: ({ signal }) => heliogram.call(name, request, { signal }),
    enabled: enabled && !(isSide && !isAllowed(held, name)),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: ({ state }) => !isRefused(state.error),
    refetchInterval: (query) => {
      const { data, dataUpdateCount, error } = query.state
      if (isRefused(error)) return false
      // Even what is never polled is called again after an outage, whose banner would stay.
      if (isAway(error)) return outageMs
      const everyMs = typeof every === 'function' ? every(data) : every
      return everyMs === undefined ? false : paceOf(everyMs, query, data, dataUpdateCount)
    },
  }
}

/** The same request would be refused again, until something is changed. */
const isRefused = (error: Error | null): boolean => error instanceof HeliogramError && [400, 422].includes(error.status)

export interface Action<Name extends JsonOperation> {
  /** Resolves to the response, or undefined on failure: see `problem`. */
  run: (request: OperationRequest<Name>) => Promise<{ answer: Answer<Name> } | undefined>
  isBusy: boolean
  problem: Error | null
  /** Clears the problem before a form is filled in again. */
  reset: () => void
}

/**
 * An operation run on demand; afterwards everything shown is refreshed. `done`: the success message. `first`: runs before the refresh, for
 * example to leave the screen of a deleted resource.
 */
export function useAction<Name extends JsonOperation>(name: Name, done?: string, first?: () => void): Action<Name> {
  const client = useQueryClient()
  const keys = useKeys()
  const mutation = useMutation<Answer<Name>, Error, OperationRequest<Name>>({
    mutationFn: (request) => heliogram.call(name, request, keyed.has(name) ? { idempotencyKey: keys.of(request) } : {}),
    onSuccess: async () => {
      keys.forget()
      if (done !== undefined) toast(done)
      first?.()
      await client.invalidateQueries()
    },
  })
  return {
    run: (request) =>
      mutation.mutateAsync(request).then(
        (answer) => ({ answer }),
        () => undefined,
      ),
    isBusy: mutation.isPending,
    problem: mutation.error,
    reset: mutation.reset,
  }
}

/**
 * The idempotency key of a request, unchanged until it succeeds. A repeat after a lost response happens once, even if the first one was accepted.
 */
function useKeys(): { of: (request: unknown) => string; forget: () => void } {
  const last = useRef<{ text: string; key: string }>(undefined)
  return {
    of(request) {
      const text = JSON.stringify(request, (_, value: unknown) => (isPlain(value) ? value : newIdempotencyKey()))
      if (last.current?.text !== text) last.current = { text, key: newIdempotencyKey() }
      return last.current.key
    },
    forget() {
      last.current = undefined
    },
  }
}

/** JSON; a file, which JSON cannot represent, counts as different each time. */
const isPlain = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  Array.isArray(value) ||
  Object.getPrototypeOf(value) === Object.prototype

/** Saves a response as a file; some operations need an `accept` for that. @throws HeliogramError */
export async function download<Name extends OperationName>(
  name: Name,
  request: OperationRequest<Name>,
  fileName: string,
  options?: CallOptions,
): Promise<void> {
  const response = await heliogram.open(name, request, options)
  saveFile(await response.blob(), fileName)
}

export function saveFile(content: Blob, fileName: string): void {
  const url = URL.createObjectURL(content)
  const link = Object.assign(document.createElement('a'), { href: url, download: fileName })
  link.click()
  // The browser reads it when it is idle.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
