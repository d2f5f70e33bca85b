/** What who looks may do: what would be refused is not offered. The API refuses it in any case. */
import { scopes, type OperationName } from '@heliogram/sdk'
import { createContext, use, type ReactNode } from 'react'

/** The scopes of the login, as the API told them with it. */
export const Scopes = createContext<ReadonlySet<string>>(new Set())

const scopeOf: Partial<Record<OperationName, string>> = scopes

/** Whether who has scopes may call an operation, by what the API says that it asks for. */
export function isAllowed(held: ReadonlySet<string>, operation: OperationName): boolean {
  const scope = scopeOf[operation]
  return scope === undefined || held.has(scope)
}

/** Whether the login may call an operation; none: nothing is asked for. */
export function useMay(operation: OperationName | undefined): boolean {
  const held = use(Scopes)
  return operation === undefined || isAllowed(held, operation)
}

/** Whether the login may read the texts of messages. */
export const useMayReadTexts = (): boolean => use(Scopes).has('messages:read_body')

/** Why there is no text where the login may not read it. */
export const textHidden = 'Your role does not show texts.'

/** What only they see who may call an operation. */
export const Allowed = ({ to, children }: { to: OperationName; children: ReactNode }) => useMay(to) && children
