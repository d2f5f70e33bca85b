/** With the second factor if the user has one. */
import { HeliogramError } from '@heliogram/sdk'
import { useState, type ReactNode } from 'react'
import { Button } from '../../kit/button.tsx'
import { Buttons, Form, TextField } from '../../kit/form.tsx'
import { useTask } from '../../kit/task.tsx'
import { logIn as logInHere } from '../../session/session.ts'

interface Typed {
  password: string
  otp?: string
  recovery_code?: string
}

interface LoginFormProps {
  /** The email of the last login. */
  known?: string
  /** Whether no other user may log in here. */
  isOnlyKnown?: boolean
  label?: string
  logIn?: (typed: Typed, email: string) => Promise<void>
  children?: ReactNode
}

export function LoginForm({
  known = '',
  isOnlyKnown = false,
  label = 'Log in',
  logIn = (typed, email) => logInHere({ email, ...typed }),
  children,
}: LoginFormProps) {
  const [email, setEmail] = useState(known)
  const [password, setPassword] = useState('')
  const [otp, setOtp] = useState('')
  const [isRecovery, setRecovery] = useState(false)
  const { run, isBusy, problem } = useTask(() =>
    logIn({ password, ...(otp && (isRecovery ? { recovery_code: otp } : { otp })) }, email),
  )
  // The password stays in place when the second factor is requested, or was wrong.
  const isAsked = problem instanceof HeliogramError && ['otp_required', 'invalid_otp'].includes(problem.code)
  const shown = problem instanceof HeliogramError && problem.code === 'otp_required' ? null : problem
  return (
    <Form onSubmit={run} problem={shown}>
      <TextField
        label="E-mail address"
        name="email"
        type="email"
        autoComplete="username"
        value={email}
        onChange={setEmail}
        autoFocus={known === ''}
        readOnly={isOnlyKnown}
        required
      />
      <TextField
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        value={password}
        onChange={setPassword}
        autoFocus={known !== ''}
        required
      />
      {isAsked && (
        <TextField
          label={isRecovery ? 'Recovery code' : 'Code of your second factor'}
          name={isRecovery ? 'recovery_code' : 'otp'}
          autoComplete="one-time-code"
          inputMode={isRecovery ? 'text' : 'numeric'}
          value={otp}
          onChange={setOtp}
          autoFocus
          hint={isRecovery ? 'Each works once.' : 'Six digits, from your authenticator.'}
        />
      )}
      <Buttons>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {label}
        </Button>
        {isAsked && (
          <Button kind="quiet" onClick={() => setRecovery(!isRecovery)}>
            {isRecovery ? 'Use the authenticator' : 'Use a recovery code'}
          </Button>
        )}
        {children}
      </Buttons>
    </Form>
  )
}
