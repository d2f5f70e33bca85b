/** Short messages at the edge of the page, announced by screen readers. */
import { Toast } from '@base-ui/react/toast'
import { Button } from './button.tsx'

interface Extras {
  /** An error stays until it is dismissed. */
  isError?: boolean
  /** A button, such as "Undo". */
  action?: { label: string; run: () => void }
}

/** With an action it stays longer, so that people reach the button. Milliseconds. */
const [staysMs, staysWithActionMs] = [5000, 10_000]

const toasts = Toast.createToastManager()

export function toast(title: string, { isError = false, action }: Extras = {}): void {
  const timeout = isError ? 0 : action ? staysWithActionMs : staysMs
  const id = toasts.add({
    title,
    timeout,
    ...(isError && { type: 'error', priority: 'high' }),
    ...(action && {
      actionProps: {
        children: action.label,
        onClick: () => {
          toasts.close(id)
          action.run()
        },
      },
    }),
  })
}

/** Once per page. */
export const Toasts = () => (
  <Toast.Provider toastManager={toasts}>
    <Toast.Portal>
      <Toast.Viewport className="toasts" role="status">
        <Shown />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
)

const Shown = () =>
  Toast.useToastManager().toasts.map((one) => (
    // A dialog would ask for the focus, which a message does not.
    <Toast.Root key={one.id} toast={one} role="group" aria-labelledby={undefined} className="toast">
      <Toast.Title render={<p />} />
      <Toast.Action render={<Button kind="quiet" />} />
      <Toast.Close render={<Button kind="quiet" />} aria-label="Dismiss">
        ✕
      </Toast.Close>
    </Toast.Root>
  ))
