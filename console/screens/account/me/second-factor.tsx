/** The second factor: prepared with the password, enabled with a first code, disabled with another. */
import type { Answer } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { Buttons, Form, SelectField, TextField } from '../../../kit/form.tsx'
import { Secrets } from '../../../kit/secret.tsx'
import { Badge, tellCount } from '../../../kit/show.tsx'

interface SecondFactorProps {
  isOn: boolean
  codesLeft: number
  email: string
}

export function SecondFactor({ isOn, codesLeft, email }: SecondFactorProps) {
  const [codes, setCodes] = useState<readonly string[]>()
  return (
    <>
      {codes && (
        <Secrets
          title="Your recovery codes"
          secrets={[['Use each code once if you lose your phone', codes.join(' ')]]}
          onClose={() => setCodes(undefined)}
        >
          <p>Keep them somewhere other than your phone.</p>
        </Secrets>
      )}
      {isOn ? (
        <>
          <p>
            <Badge status="on" tone="good" /> You enter a code at each login. {tellCount(codesLeft, 'recovery code')}{' '}
            {codesLeft === 1 ? 'is' : 'are'} left.
          </p>
          <Fold title="Turn it off">
            <TurnOff />
          </Fold>
        </>
      ) : (
        <TurnOn email={email} onDone={setCodes} />
      )}
    </>
  )
}

function TurnOn({ email, onDone }: { email: string; onDone: (codes: readonly string[]) => void }) {
  const [password, setPassword] = useState('')
  const [otp, setOtp] = useState('')
  const [prepared, setPrepared] = useState<Answer<'beginTotp'>>()
  const begin = useAction('beginTotp')
  const confirm = useAction('confirmTotp', 'Second factor turned on')
  const prepare = async () => {
    const done = await begin.run({ body: { password } })
    if (!done) return
    setPassword('')
    setPrepared(done.answer)
  }
  const turnOn = async () => {
    const done = await confirm.run({ body: { otp: otp.trim() } })
    if (done) onDone(done.answer.recovery_codes)
  }
  if (!prepared)
    return (
      <Form does="beginTotp" onSubmit={prepare} problem={begin.problem}>
        <p>
          <Badge status="off" /> Protects your login even if somebody learns your password.
        </p>
        <TextField
          label="Your password"
          name="password"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
          hint="Confirms that it’s you."
          required
        />
        <Buttons>
          <Button type="submit" isBusy={begin.isBusy}>
            Set up a second factor
          </Button>
        </Buttons>
      </Form>
    )
  return (
    <Form does="confirmTotp" onSubmit={turnOn} problem={confirm.problem}>
      <Secrets
        title="For your authenticator"
        secrets={[
          ['Secret', prepared.secret],
          ['Setup link', prepared.otpauth_url],
        ]}
      >
        <p>Add {email} to an authenticator app, then enter the code that the app shows.</p>
      </Secrets>
      <TextField
        label="Code from the app"
        name="otp"
        inputMode="numeric"
        autoComplete="one-time-code"
        value={otp}
        onChange={setOtp}
        required
      />
      <Buttons>
        <Button kind="primary" type="submit" isBusy={confirm.isBusy}>
          Turn it on
        </Button>
        <Button kind="quiet" onClick={() => setPrepared(undefined)}>
          Cancel
        </Button>
      </Buttons>
    </Form>
  )
}

function TurnOff() {
  const [kind, setKind] = useState<string>('otp')
  const [proof, setProof] = useState('')
  const { run, isBusy, problem } = useAction('disableTotp', 'Second factor turned off')
  const turnOff = () => {
    if (kind === 'password') return run({ body: { password: proof } })
    return run({ body: kind === 'otp' ? { otp: proof.trim() } : { recovery_code: proof.trim() } })
  }
  return (
    <Form does="disableTotp" onSubmit={turnOff} problem={problem}>
      <div className="fields">
        <SelectField
          label="Confirm with"
          name="kind"
          value={kind}
          onChange={(value) => {
            setKind(value)
            setProof('')
          }}
          options={[
            ['otp', 'Code from the app'],
            ['recovery_code', 'Recovery code'],
            ['password', 'Password'],
          ]}
        />
        <TextField
          label={kind === 'otp' ? 'Code' : kind === 'password' ? 'Password' : 'Recovery code'}
          name={kind}
          type={kind === 'password' ? 'password' : 'text'}
          value={proof}
          onChange={setProof}
          required
        />
      </div>
      <Buttons>
        <Button kind="danger" type="submit" isBusy={isBusy}>
          Turn it off
        </Button>
      </Buttons>
    </Form>
  )
}
