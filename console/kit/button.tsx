/** Things to press. */
import type { OperationName } from '@heliogram/sdk'
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { Link } from 'wouter'
import { useMay } from './may.tsx'

type Kind = 'plain' | 'primary' | 'danger' | 'quiet'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: Kind
  /** Something that this button began is under way: it cannot be pressed twice. */
  isBusy?: boolean
  /** What it leads to in the end: it is there for who may call that. */
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
  /** What it leads to in the end: it is there for who may call that. */
  does?: OperationName
  children: ReactNode
}

/** A link to another screen that looks like a button. */
export function LinkButton({ to, kind = 'plain', isNew = false, does, children }: LinkButtonProps) {
  const may = useMay(does)
  if (!may) return null
  return (
    <Link href={to} className={`button ${kind}`} {...(isNew && { 'data-key': 'n' })}>
      {children}
    </Link>
  )
}
