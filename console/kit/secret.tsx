/** Secrets are shown once, for copying. */
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Copy } from './show.tsx'

interface SecretsProps {
  title: string
  secrets: readonly (readonly [name: string, text: string])[]
  /** Instructions. */
  children?: ReactNode
  /** If absent, the surrounding dialog closes it. */
  onClose?: () => void
  close?: string
}

/** Replaces the form that created it, so that it is not overlooked. */
export function Secrets({ title, secrets, children, onClose, close = 'I’ve saved it' }: SecretsProps) {
  return (
    <section className="notice secrets" aria-label={title}>
      <h2>{title}</h2>
      <p>Copy it now. You won’t be able to see it again.</p>
      <dl>
        {secrets.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Copy text={text} />
            </dd>
          </div>
        ))}
      </dl>
      {children}
      {onClose && (
        <div className="buttons">
          <Button kind="primary" onClick={onClose}>
            {close}
          </Button>
        </div>
      )}
    </section>
  )
}
