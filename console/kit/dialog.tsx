/** Questions in front of the page. The browser's own dialog keeps the keyboard inside and closes at Escape. */
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Problem } from './problem.tsx'

/** A dialog that is there as long as it is rendered. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const ref = useRef<HTMLDialogElement>(null)
  // Closed while it is still in the page, it gives the keyboard back to what opened it.
  useLayoutEffect(() => {
    const dialog = ref.current
    dialog?.showModal()
    dialog?.querySelector<HTMLElement>('input, select, textarea')?.focus()
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={ref}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
    >
      <header>
        <h2>{title}</h2>
        <Button kind="quiet" onClick={onClose} aria-label="Close">
          ✕
        </Button>
      </header>
      {children}
    </dialog>
  )
}

interface ConfirmProps {
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
      <Button kind={isDanger ? 'danger' : 'plain'} onClick={() => setOpen(true)}>
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
