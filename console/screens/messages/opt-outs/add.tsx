import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { cleanNumber } from '../../../kit/number.ts'

export function AddOptOut({ number: given = '', onClose }: { number?: string; onClose: () => void }) {
  const [number, setNumber] = useState(given)
  const [reason, setReason] = useState('')
  const add = useAction('createOptOut', 'Opt-out added.')
  const submit = async () => {
    const body = { number: cleanNumber(number), ...(reason.trim() && { reason: reason.trim() }) }
    if (await add.run({ body })) onClose()
  }
  return (
    <Dialog title="Add opt-out" onClose={onClose}>
      <p className="question">
        The account sends no more messages to this number, and queued ones are canceled. Imports can’t undo it. Only the
        person can, by texting START, or you, with a reason.
      </p>
      <Form does="createOptOut" onSubmit={submit} problem={add.problem}>
        <TextField
          label="Phone number"
          name="number"
          type="tel"
          value={number}
          onChange={setNumber}
          hint="With its country code, such as +1 202 555 0123."
        />
        <TextField
          label="Reason"
          name="reason"
          value={reason}
          onChange={setReason}
          hint="Optional. Kept in the consent history."
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={add.isBusy}>
            Add opt-out
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
