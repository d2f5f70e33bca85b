/** Things to press. */
import { use, type ButtonHTMLAttributes, type ReactNode } from 'react'
import { Link } from 'wouter'
import { Scopes } from './may.tsx'
import type { Scope } from './scopes.ts'

type Kind = 'plain' | 'primary' | 'danger' | 'quiet'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: Kind
  /** Something that this button began is under way: it cannot be pressed twice. */
  isBusy?: boolean
}

export function Button({ kind = 'plain', isBusy = false, className = '', onClick, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`button ${kind} ${className}`.trim()}
      // A disabled button would lose the keyboard, and with it the place of who works without a mouse.
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy}
      onClick={(event) => (isBusy ? event.preventDefault() : onClick?.(event))}
    >
      {children}
    </button>
  )
}

interface LinkButtonProps {
  to: string
  kind?: Kind
  /** It makes something new, and so does the key `n`. */
  isNew?: boolean
  /** What one has to be allowed for it to be there. */
  needs?: Scope
  children: ReactNode
}

/** A link to another screen that looks like a button. */
export function LinkButton({ to, kind = 'plain', isNew = false, needs, children }: LinkButtonProps) {
  const scopes = use(Scopes)
  if (needs !== undefined && !scopes.has(needs)) return null
  return (
    <Link href={to} className={`button ${kind}`} {...(isNew && { 'data-key': 'n' })}>
      {children}
    </Link>
  )
}
