/** Logs in again in front of the current screen after a login has ended, so that no work is lost. */
import { Button } from '../../kit/button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { logOut } from '../../session/session.ts'
import { LoginForm } from './form.tsx'

export const LoginAgain = ({ email }: { email: string }) => (
  <Dialog title="Log in again" isCover>
    <p className="question">Your login has ended. What you typed is kept, and what you sent is sent when you are in.</p>
    <LoginForm known={email} isOnlyKnown>
      <Button kind="quiet" onClick={() => void logOut()}>
        Discard it and log out
      </Button>
    </LoginForm>
  </Dialog>
)
