import type { Answer } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, SelectField, TextField } from '../../../kit/form.tsx'
import { Secrets } from '../../../kit/secret.tsx'
import { Time } from '../../../kit/show.tsx'
import { useLogin } from '../../../session/login.ts'
import { roleOf, rolesFor } from './roles.ts'

export type Invited = Answer<'createInvitation'>

interface InviteProps {
  onClose: () => void
  onDone: (invited: Invited) => void
}

export function InviteDialog({ onClose, onDone }: InviteProps) {
  const own = useLogin()?.user.role
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('developer')
  const { run, isBusy, problem } = useAction('createInvitation', 'Invitation created')
  const invite = async () => {
    const done = await run({ body: { email: email.trim(), role: roleOf(role) } })
    if (done) onDone(done.answer)
  }
  return (
    <Dialog title="Invite somebody" onClose={onClose}>
      <Form does="createInvitation" onSubmit={invite} problem={problem}>
        <TextField
          label="E-mail address"
          name="email"
          type="email"
          value={email}
          onChange={setEmail}
          hint="They log in with it. No email is sent."
          required
        />
        <SelectField label="Role" name="role" value={role} onChange={setRole} options={rolesFor(own)} />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Create invitation
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}

interface CodeProps {
  of: { email: string; code: string; expires_at: string }
  onClose: () => void
  close?: string
}

export const InvitationCode = ({ of: { email, code, expires_at }, ...rest }: CodeProps) => (
  <Secrets
    title={`Invitation for ${email}`}
    secrets={[
      ['Link', `${location.origin}/console/join#${code}`],
      ['Code', code],
    ]}
    {...rest}
  >
    <p>
      Share it securely: anyone who has it can log in as {email}. It works once and expires <Time at={expires_at} />.
    </p>
  </Secrets>
)
