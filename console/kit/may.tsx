/** What who looks may do: what would be refused is not offered. The API refuses it in any case. */
import { createContext, use, type ReactNode } from 'react'
import type { Scope } from './scopes.ts'

/** The scopes of the login, as the API told them with it. */
export const Scopes = createContext<ReadonlySet<string>>(new Set())

/** Whether the login has a scope. */
export const useMay = (scope: Scope): boolean => use(Scopes).has(scope)

/** What only they see who have a scope. */
export const Allowed = ({ needs, children }: { needs: Scope; children: ReactNode }) => useMay(needs) && children
