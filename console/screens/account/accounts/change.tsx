import type { Account } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { LimitFields, limitsOf, readLimits } from './limits.tsx'

export function ChangeDialog({ of, onClose }: { of: Account; onClose: () => void }) {
  const [name, setName] = useState(of.name)
  const [limits, setLimits] = useState(() => limitsOf(of))
  const { run, isBusy, problem } = useAction('updateAccount', 'Account saved')
  const change = async () => {
    const body = { name: name.trim(), ...readLimits(limits) }
    if (await run({ path: { id: of.id }, body })) onClose()
  }
  return (
    <Dialog title="Change account" onClose={onClose}>
      <Form does="updateAccount" onSubmit={change} problem={problem}>
        <TextField
          label="Name"
          name="name"
          value={name}
          onChange={setName}
          hint="Recipients see it when they reply STOP."
          required
        />
        <LimitFields limits={limits} onChange={setLimits} />
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
