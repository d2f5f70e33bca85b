/** Hides what the login may not do. The API refuses it in any case. */
import { scopes, type OperationName } from '@heliogram/sdk'
import { createContext, use, type ReactNode } from 'react'

/** The login's scopes, from the API. */
export const Scopes = createContext<ReadonlySet<string>>(new Set())

const scopeOf: Partial<Record<OperationName, string>> = scopes

/** Whether these scopes allow an operation, by the API's requirements. */
export function isAllowed(held: ReadonlySet<string>, operation: OperationName): boolean {
  const scope = scopeOf[operation]
  return scope === undefined || held.has(scope)
}

/** Undefined: always allowed. */
export function useMay(operation: OperationName | undefined): boolean {
  const held = use(Scopes)
  return operation === undefined || isAllowed(held, operation)
}

export const useMayReadTexts = (): boolean => use(Scopes).has('messages:read_body')

export const textHidden = 'Your role does not show texts.'

/** Shows children only if the login may call an operation. */
export const Allowed = ({ to, children }: { to: OperationName; children: ReactNode }) => useMay(to) && children
