/** Things to press. */
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Link } from 'wouter'

type Kind = 'plain' | 'primary' | 'danger' | 'quiet'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: Kind
  /** Something that this button began is under way: it cannot be pressed twice. */
  isBusy?: boolean
}

export function Button({ kind = 'plain', isBusy = false, disabled, className = '', children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`button ${kind} ${className}`.trim()}
      disabled={disabled || isBusy}
      aria-busy={isBusy}
    >
      {children}
    </button>
  )
}

/** A link to another screen that looks like a button. */
export function LinkButton({ to, kind = 'plain', children }: { to: string; kind?: Kind; children: ReactNode }) {
  return (
    <Link href={to} className={`button ${kind}`}>
      {children}
    </Link>
  )
}
