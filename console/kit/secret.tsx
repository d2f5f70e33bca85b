/** Secrets: shown once, to be copied, and gone when their box is closed. */
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { Copy } from './show.tsx'

interface SecretsProps {
  /** What it is the secret of. */
  title: string
  /** What it is called, with what it is. */
  secrets: readonly (readonly [name: string, text: string])[]
  /** What one does with it. */
  children?: ReactNode
  /** Ends it; without it what stands around it does. */
  onClose?: () => void
  /** What the button says that ends it. */
  close?: string
}

/** What is shown only now. It takes the place of what made it, so that nobody passes it by. */
export function Secrets({ title, secrets, children, onClose, close = 'I have kept it' }: SecretsProps) {
  return (
    <section className="notice secrets" aria-label={title}>
      <h2>{title}</h2>
      <p>It is shown only now. Heliogram cannot show it again.</p>
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
