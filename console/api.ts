/** The API as screens use it: every call is one of the SDK's, by the login of this browser. Nothing here knows a privilege. */
import {
  createClient,
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
  QueryClient,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query'
import { use, useRef } from 'react'
import { whileConfirmed } from './session/confirmation.ts'
import { fetchAsUser, readLogin, whileIn } from './session/session.ts'
import { isAllowed, Scopes } from './kit/may.tsx'
import { paceOf, watchReturns } from './kit/pace.ts'
import { toast } from './kit/toast.tsx'

const client = createClient({ baseUrl: location.origin, fetch: fetchAsUser })

/** The client of whoever is logged in. */
export const heliogram: Pick<Client, 'call' | 'open'> = {
  call: (name, ...rest) => whileConfirmed(() => whileIn(() => client.call(name, ...rest), rest[1]?.signal)),
  open: (name, ...rest) => whileIn(() => client.open(name, ...rest), rest[1]?.signal),
}

/** What was asked stays for a minute behind the screen; a call that failed is not repeated, as the SDK has done that. */
export const queries = new QueryClient({
  // `always`: a browser that says that it is offline may well be on the machine or in the network of the installation.
  defaultOptions: {
    queries: { retry: false, staleTime: 1000, gcTime: 60_000, refetchOnWindowFocus: true, networkMode: 'always' },
    mutations: { networkMode: 'always' },
  },
})

// Who comes back finds what is, and not what was when they left.
focusManager.setEventListener((tell) => watchReturns(() => tell()))

/** How often something is asked again while it changes and the page is looked at, in milliseconds (kit/pace.ts): always, or as the last answer has it; undefined: no more. */
type Every<Name extends JsonOperation> = number | ((answer: Answer<Name> | undefined) => number | undefined)

interface Asking<Name extends JsonOperation> {
  every?: Every<Name>
  enabled?: boolean
  /** It only adds to a screen that does without it: who may not call it is not refused, as nothing is asked. */
  isSide?: boolean
}

/** What an operation answers, asked again and again if it changes by itself. What was shown stays while something else of the same kind is being asked. */
export function useCall<Name extends JsonOperation>(
  name: Name,
  request: OperationRequest<Name>,
  { every, enabled = true, isSide = false }: Asking<Name> = {},
): UseQueryResult<Answer<Name>> {
  const held = use(Scopes)
  return useQuery<Answer<Name>>({
    // By user as well: a login can become another one while a screen is shown.
    queryKey: [readLogin()?.user.id, name, request],
    queryFn: ({ signal }) => heliogram.call(name, request, { signal }),
    enabled: enabled && !(isSide && !isAllowed(held, name)),
    placeholderData: (before) => before,
    refetchInterval: (query) => {
      const { data, dataUpdateCount } = query.state
      const everyMs = typeof every === 'function' ? every(data) : every
      return everyMs === undefined ? false : paceOf(everyMs, query, data, dataUpdateCount)
    },
  })
}

/** An operation that changes something. */
export interface Action<Name extends JsonOperation> {
  /** Resolves to what was answered, or to undefined where it failed: `problem` says why. */
  run: (request: OperationRequest<Name>) => Promise<{ answer: Answer<Name> } | undefined>
  isBusy: boolean
  problem: Error | null
  /** Forgets the problem, before a form is filled in again. */
  reset: () => void
}

/**
 * An operation to be done when somebody says so; then everything that is shown is asked again. `done`: a sentence that says that it was.
 * `first`: what is to happen before that, such as leaving the screen of what is there no more.
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
 * The idempotency key of a request: the same for the same request until it has succeeded. So who presses a button again because
 * there was no answer does what they mean once, even where the first time was taken.
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

/** Whether it is JSON; a file, of which JSON shows nothing, is another one each time. */
const isPlain = (value: unknown): boolean =>
  typeof value !== 'object' ||
  value === null ||
  Array.isArray(value) ||
  Object.getPrototypeOf(value) === Object.prototype

/** Saves what an operation answers as a file, under a name; some do so only for an `accept` of their own. @throws HeliogramError */
export async function download<Name extends OperationName>(
  name: Name,
  request: OperationRequest<Name>,
  fileName: string,
  options?: CallOptions,
): Promise<void> {
  const response = await heliogram.open(name, request, options)
  const url = URL.createObjectURL(await response.blob())
  const link = Object.assign(document.createElement('a'), { href: url, download: fileName })
  link.click()
  // The browser reads it when it is idle.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
