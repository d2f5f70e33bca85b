/** The password again, before an action that grants access. */
import { useSyncExternalStore } from 'react'
import { heliogram } from '../../api.ts'
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { isAsked, settle, watchAsked } from '../../session/confirmation.ts'
import { LoginForm } from './form.tsx'

export function ConfirmLogin({ email }: { email: string }) {
  if (!useSyncExternalStore(watchAsked, isAsked)) return null
  return (
    <Dialog title="Confirm that it is you" onClose={() => settle(false)}>
      <p className="question">
        This changes who has access, and it is more than an hour since you typed your password. What you have filled in
        is sent when you have.
      </p>
      <LoginForm
        known={email}
        isOnlyKnown
        label="Confirm"
        logIn={async (body) => {
          await heliogram.call('confirmPassword', { body })
          settle(true)
        }}
      >
        <Button kind="quiet" onClick={() => settle(false)}>
          Do not do it
        </Button>
      </LoginForm>
    </Dialog>
  )
}
