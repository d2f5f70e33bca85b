import { useState } from 'react'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { Loaded, Page, Section } from '../../../kit/page.tsx'
import { Copy, Facts, Moment } from '../../../kit/show.tsx'
import { SecondFactor } from './second-factor.tsx'

export function MeScreen() {
  const me = useCall('getMe', {})
  return (
    <Page title="Your login">
      <Loaded call={me}>
        {(one) => (
          <div className="narrow">
            <div className="card">
              <Facts
                facts={[
                  ['E-mail address', one.email],
                  ['Role', one.role],
                  ['ID', <Copy key="id" text={one.id} />],
                  ['Joined', <Moment key="since" at={one.created_at} />],
                ]}
              />
            </div>
            <Section title="Second factor">
              <SecondFactor isOn={one.totp} codesLeft={one.recovery_codes_left} email={one.email} />
            </Section>
            <Section title="Password">
              <PasswordForm />
            </Section>
          </div>
        )}
      </Loaded>
    </Page>
  )
}

function PasswordForm() {
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const { run, isBusy, problem } = useAction('updateMe', 'Password changed. Your other sessions have ended.')
  const change = async () => {
    const done = await run({ body: { current_password: current, password } })
    if (!done) return
    setCurrent('')
    setPassword('')
  }
  return (
    <Form does="updateMe" onSubmit={change} problem={problem}>
      <TextField
        label="Current password"
        name="current_password"
        type="password"
        autoComplete="current-password"
        value={current}
        onChange={setCurrent}
        required
      />
      <TextField
        label="New password"
        name="password"
        type="password"
        autoComplete="new-password"
        value={password}
        onChange={setPassword}
        hint="At least 15 characters; a sentence works well. Changing it logs you out everywhere else."
        required
      />
      <Buttons>
        <Button type="submit" isBusy={isBusy}>
          Change password
        </Button>
      </Buttons>
    </Form>
  )
}
