/** Questions in front of the page. The browser's own dialog keeps the keyboard inside and closes at Escape. */
import type { OperationName } from '@heliogram/sdk'
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Problem } from './problem.tsx'

interface DialogProps {
  title: string
  /** Without it nobody gets past it. */
  onClose?: () => void
  /** Hides the page behind it. */
  isCover?: boolean
  children: ReactNode
}

/** A dialog that is there as long as it is rendered. */
export function Dialog({ title, onClose, isCover = false, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null)
  // Closed while it is still in the page, it gives the keyboard back to what opened it.
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
      // A second Escape closes it whatever the page says: browsers let nobody be kept in front of a dialog.
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
  /** What is called: the button is there for who may do that. */
  does: OperationName
  /** What the button says, and the question's own button. */
  label: string
  /** What is asked, with what it would do. */
  question: ReactNode
  /** Does it; answers undefined where it failed, as an action's `run` does. */
  onConfirm: () => Promise<unknown>
  isBusy?: boolean
  problem?: Error | null
  isDanger?: boolean
}

/** A button that asks first. The question stays while it fails, and says why. */
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
