/** The first login with a code: the owner's, printed by the first start, or an invitation's. */
import { useState } from 'react'
import { Link } from 'wouter'
import { Button } from '../../kit/button.tsx'
import { Buttons, Form, TextField } from '../../kit/form.tsx'
import { useTask } from '../../kit/task.tsx'
import { acceptInvitation } from '../../session/session.ts'
import { Gate } from './gate.tsx'

/** A code may follow the `#` of the address, which is never sent to a server. */
function codeHere(): string {
  const code = location.hash.slice(1)
  try {
    return decodeURIComponent(code)
  } catch {
    return code
  }
}

export function JoinScreen() {
  const [code, setCode] = useState(codeHere)
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const { run, isBusy, problem } = useTask(async () => {
    await acceptInvitation({ code: code.trim(), password, ...(email && { email }) })
    history.replaceState(null, '', '/console/')
  })
  return (
    <Gate
      title="Your login"
      lead="The code works once. With it you choose the password that you log in with from now on."
    >
      <Form onSubmit={run} problem={problem}>
        <TextField label="One-time code" name="code" value={code} onChange={setCode} spellCheck={false} required />
        <TextField
          label="E-mail address"
          name="email"
          type="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          hint="You log in with this address. Leave it empty only if you were invited: the invitation has it."
        />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="new-password"
          value={password}
          onChange={setPassword}
          hint="15 characters or more. A sentence is good."
          required
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Create login
          </Button>
        </Buttons>
      </Form>
      <p className="hint">
        <Link href="/">I have a login</Link>
      </p>
    </Gate>
  )
}
