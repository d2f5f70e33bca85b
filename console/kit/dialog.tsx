/** Modal dialogs. They keep the focus inside, return it at the end, and close at Escape. */
import { Dialog as Modal } from '@base-ui/react/dialog'
import type { OperationName } from '@heliogram/sdk'
import { useRef, useState, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { Problem } from './problem.tsx'

interface DialogProps {
  title: string
  /** Without it the dialog cannot be closed. */
  onClose?: () => void
  /** Hides the page behind it. */
  isCover?: boolean
  children: ReactNode
}

/** Open as long as it is rendered. A click outside does not close it, because it would discard what was typed. */
export function Dialog({ title, onClose, isCover = false, children }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null)
  const close = () => {
    // Escape reaches each open dialog; only the one in front closes.
    const inFront = [...document.querySelectorAll('.dialog')].at(-1)
    if (popup.current === inFront) onClose?.()
  }
  return (
    <Modal.Root open disablePointerDismissal onOpenChange={(isOpen) => isOpen || close()}>
      <Modal.Portal>
        <Modal.Backdrop className={isCover ? 'backdrop cover' : 'backdrop'} />
        <Modal.Popup
          ref={popup}
          className="dialog"
          initialFocus={() =>
            popup.current?.querySelector<HTMLElement>('input:not([readonly]), select, textarea') ?? true
          }
        >
          <header>
            <Modal.Title>{title}</Modal.Title>
            {onClose && (
              <Button kind="quiet" onClick={onClose} aria-label="Close">
                ✕
              </Button>
            )}
          </header>
          {children}
        </Modal.Popup>
      </Modal.Portal>
    </Modal.Root>
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
            <Button onClick={() => setOpen(false)}>Cancel</Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
