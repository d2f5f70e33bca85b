import type { Answer } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { Page } from '../../../kit/page.tsx'
import { InvitationCode } from '../people/invite.tsx'
import { LimitFields, limitsOf, readLimits } from './limits.tsx'

export function NewAccountScreen() {
  const [, go] = useLocation()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [limits, setLimits] = useState(() => limitsOf())
  const [made, setMade] = useState<Answer<'createAccount'>>()
  const { run, isBusy, problem } = useAction('createAccount', 'Account created')
  const create = async () => {
    const done = await run({
      body: {
        name: name.trim(),
        ...readLimits(limits),
        ...(email.trim() && { owner_email: email.trim() }),
      },
    })
    if (!done) return
    if (done.answer.invitation) setMade(done.answer)
    else go(`/accounts/${done.answer.id}`)
  }
  return (
    <Page
      title={made ? `Invite the owner of ${made.name}` : 'Create account'}
      back={{ to: '/accounts', title: 'Accounts' }}
    >
      <div className="narrow">
        {made?.invitation ? (
          <InvitationCode
            of={made.invitation}
            close="I’ve saved it — continue"
            onClose={() => go(`/accounts/${made.id}`)}
          />
        ) : (
          <Form does="createAccount" onSubmit={create} problem={problem}>
            <TextField
              label="Name"
              name="name"
              value={name}
              onChange={setName}
              hint="Recipients see it when they reply STOP."
              autoFocus
              required
            />
            <TextField
              label="Owner’s email address"
              name="owner_email"
              type="email"
              value={email}
              onChange={setEmail}
              hint="You get an invitation to share with them. Leave empty to add people later."
            />
            <Fold title="Limits">
              <LimitFields limits={limits} onChange={setLimits} />
            </Fold>
            <Buttons>
              <Button kind="primary" type="submit" isBusy={isBusy}>
                Create account
              </Button>
              <LinkButton to="/accounts" kind="quiet">
                Cancel
              </LinkButton>
            </Buttons>
          </Form>
        )}
      </div>
    </Page>
  )
}
