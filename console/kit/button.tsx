import type { OperationName } from '@heliogram/sdk'
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Link } from 'wouter'
import { useMay } from './may.tsx'

type Kind = 'plain' | 'primary' | 'danger' | 'quiet'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: Kind
  /** Its action is running: a second press does nothing. */
  isBusy?: boolean
  /** Shown if the login may call this operation. */
  does?: OperationName
}

export function Button({
  kind = 'plain',
  isBusy = false,
  does,
  className = '',
  onClick,
  children,
  ...rest
}: ButtonProps) {
  const may = useMay(does)
  if (!may) return null
  return (
    <button
      type="button"
      {...rest}
      className={`button ${kind} ${className}`.trim()}
      // A disabled button would lose the keyboard focus.
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
  /** Creates something; the key `n` does the same. */
  isNew?: boolean
  /** Shown if the login may call this operation. */
  does?: OperationName
  children: ReactNode
}

export function LinkButton({ to, kind = 'plain', isNew = false, does, children }: LinkButtonProps) {
  const may = useMay(does)
  if (!may) return null
  return (
    <Link href={to} className={`button ${kind}`} {...(isNew && { 'data-key': 'n' })}>
      {children}
    </Link>
  )
}
