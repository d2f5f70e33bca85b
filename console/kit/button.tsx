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

interface LinkButtonProps {
  to: string
  kind?: Kind
  /** It makes something new, and so does the key `n`. */
  isNew?: boolean
  children: ReactNode
}

/** A link to another screen that looks like a button. */
export function LinkButton({ to, kind = 'plain', isNew = false, children }: LinkButtonProps) {
  return (
    <Link href={to} className={`button ${kind}`} {...(isNew && { 'data-key': 'n' })}>
      {children}
    </Link>
  )
}
