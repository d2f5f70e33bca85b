import type { Answer } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton, Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, SelectField, TextField } from '../../../kit/form.tsx'
import { Empty, Loaded } from '../../../kit/page.tsx'
import { Secrets } from '../../../kit/secret.tsx'
import { Badge, Time } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'

export function TwilioCredentials() {
  const [isOpen, setOpen] = useState(false)
  const [made, setMade] = useState<Answer<'createTwilioCredential'>>()
  const credentials = useCall('listTwilioCredentials', {})
  const make = (
    <Button does="createTwilioCredential" onClick={() => setOpen(true)}>
      Create Twilio credential
    </Button>
  )
  return (
    <>
      {made && (
        <Secrets
          title="New Twilio credential"
          secrets={[
            ['Account SID', made.account_sid],
            ['Auth token', made.auth_token],
          ]}
          onClose={() => setMade(undefined)}
        >
          <p>
            The token is also the key of <code>X-Twilio-Signature</code>.{' '}
            <a href="/docs/migrating-from-twilio" target="_blank" rel="noreferrer">
              How to move a program here
            </a>
          </p>
        </Secrets>
      )}
      <Loaded call={credentials}>
        {({ data }) => (
          <>
            <Table
              label="Twilio credentials"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Name', cell: ({ name }) => name },
                { title: 'Account SID', cell: ({ account_sid }) => <code>{account_sid}</code> },
                { title: 'Mode', cell: ({ mode }) => <Badge status={mode} /> },
                { title: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
                { title: 'Made', cell: ({ created_at }) => <Time at={created_at} /> },
                { title: '', cell: ({ id, name }) => <Revoke id={id} name={name} /> },
              ]}
              empty={
                <Empty title="No Twilio credentials" action={make}>
                  Use these to run a program written for Twilio’s messaging API with Heliogram: change only its base
                  URL.
                </Empty>
              }
            />
            {data.length > 0 && <div className="buttons below">{make}</div>}
          </>
        )}
      </Loaded>
      {isOpen && (
        <MakeDialog
          onClose={() => setOpen(false)}
          onDone={(one) => {
            setOpen(false)
            setMade(one)
          }}
        />
      )}
    </>
  )
}

function Revoke({ id, name }: { id: string; name: string }) {
  const { run, isBusy, problem } = useAction('revokeTwilioCredential', 'Twilio credential revoked')
  return (
    <ConfirmButton
      does="revokeTwilioCredential"
      label="Revoke"
      question={`Programs that use ${name} lose access at once. This cannot be undone.`}
      onConfirm={() => run({ path: { id } })}
      isBusy={isBusy}
      problem={problem}
    />
  )
}

interface MakeProps {
  onClose: () => void
  onDone: (made: Answer<'createTwilioCredential'>) => void
}

function MakeDialog({ onClose, onDone }: MakeProps) {
  const [name, setName] = useState('')
  const [mode, setMode] = useState('live')
  const { run, isBusy, problem } = useAction('createTwilioCredential', 'Twilio credential created')
  const make = async () => {
    const done = await run({ body: { name: name.trim(), mode: mode === 'test' ? 'test' : 'live' } })
    if (done) onDone(done.answer)
  }
  return (
    <Dialog title="Create Twilio credential" onClose={onClose}>
      <Form does="createTwilioCredential" onSubmit={make} problem={problem}>
        <TextField
          label="Name"
          name="name"
          value={name}
          onChange={setName}
          hint="The program that uses this credential."
          required
        />
        <SelectField
          label="Mode"
          name="mode"
          value={mode}
          onChange={setMode}
          options={[
            ['live', 'Live'],
            ['test', 'Test (simulated phones only)'],
          ]}
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Create credential
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
