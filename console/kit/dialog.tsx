/** Modal dialogs. The browser's own dialog keeps the focus inside and closes at Escape. */
import type { OperationName } from '@heliogram/sdk'
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Problem } from './problem.tsx'

interface DialogProps {
  title: string
  /** Without it the dialog cannot be closed. */
  onClose?: () => void
  isCover?: boolean
  children: ReactNode
}

/** Open as long as it is rendered. */
export function Dialog({ title, onClose, isCover = false, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  // Closing it before removal returns the focus to the opener.
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    dialog?.querySelector<HTMLElement>('input:not([readonly]), select, textarea')?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      aria-label={title}
      className={isCover ? 'cover' : undefined}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
      // Browsers always close at a second Escape.
      onClose={() => {
        if (ref.current?.open !== false) return
        if (onClose) onClose()
        else ref.current.showModal()
      }}
    >
      <header>
        <h2>{title}</h2>
        {onClose && (
          <Button kind="quiet" onClick={onClose} aria-label="Close">
            ✕
          </Button>
        )}
      </header>
      {children}
    </dialog>
  )
}

interface ConfirmProps {
  /** Shown if the login may call this operation. */
  does: OperationName
  label: string
  /** The question, with the effect. */
  question: ReactNode
  /** Resolves to undefined on failure, as an action's `run` does. */
  onConfirm: () => Promise<unknown>
  isBusy?: boolean
  problem?: Error | null
  isDanger?: boolean
}

/** Asks before it acts. The question stays on failure, with the reason. */
export function ConfirmButton({
  does,
  label,
  question,
  onConfirm,
  isBusy = false,
  problem = null,
  isDanger = true,
}: ConfirmProps) {
  const [isOpen, setOpen] = useState(false)
  const confirm = async () => {
    if ((await onConfirm()) !== undefined) setOpen(false)
  }
  return (
    <>
      <Button does={does} kind={isDanger ? 'danger' : 'plain'} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && (
        <Dialog title={label} onClose={() => setOpen(false)}>
          <div className="question">{question}</div>
          {problem && <Problem of={problem} />}
          <div className="buttons">
            <Button kind={isDanger ? 'danger' : 'primary'} isBusy={isBusy} onClick={() => void confirm()}>
              {label}
            </Button>
            <Button onClick={() => setOpen(false)}>Keep as it is</Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
