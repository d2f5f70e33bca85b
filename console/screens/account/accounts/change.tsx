/** The name and the limits of an account. */
import type { Account } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { numberOrNone } from '../../../kit/typed.ts'

export function ChangeDialog({ of, onClose }: { of: Account; onClose: () => void }) {
  const [name, setName] = useState(of.name)
  const [pace, setPace] = useState(String(of.pace ?? ''))
  const [perSecond, setPerSecond] = useState(String(of.api_per_second ?? ''))
  const { run, isBusy, problem } = useAction('updateAccount', 'The account is changed')
  const change = async () => {
    const body = { name: name.trim(), pace: numberOrNone(pace), api_per_second: numberOrNone(perSecond) }
    if (await run({ path: { id: of.id }, body })) onClose()
  }
  return (
    <Dialog title="Change the account" onClose={onClose}>
      <Form onSubmit={change} problem={problem}>
        <TextField
          label="Name"
          name="name"
          value={name}
          onChange={setName}
          hint="For people; confirmations of STOP say it."
          required
        />
        <div className="fields">
          <TextField
            label="Pace"
            name="pace"
            type="number"
            value={pace}
            onChange={setPace}
            hint="Segments a second of the whole account. Empty: as the links allow."
          />
          <TextField
            label="Requests a second"
            name="api_per_second"
            type="number"
            value={perSecond}
            onChange={setPerSecond}
            hint="Of each of its credentials. Empty: as the installation says."
          />
        </div>
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Save
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
