import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { cleanNumber } from '../../../kit/number.ts'

export function AddOptOut({ number: given = '', onClose }: { number?: string; onClose: () => void }) {
  const [number, setNumber] = useState(given)
  const [reason, setReason] = useState('')
  const add = useAction('createOptOut', 'The number is out: nothing is sent to it.')
  const submit = async () => {
    const body = { number: cleanNumber(number), ...(reason.trim() && { reason: reason.trim() }) }
    if (await add.run({ body })) onClose()
  }
  return (
    <Dialog title="Create an opt-out" onClose={onClose}>
      <p className="question">
        Of everything from the account; what waits for it is canceled. No import and no contact takes it back: only the
        person, with START, or you with a reason.
      </p>
      <Form does="createOptOut" onSubmit={submit} problem={add.problem}>
        <TextField
          label="Number"
          name="number"
          type="tel"
          value={number}
          onChange={setNumber}
          hint="With the country code, such as +1 202 555 0123."
        />
        <TextField
          label="Reason"
          name="reason"
          value={reason}
          onChange={setReason}
          hint="The reason, for the consent ledger. It may be empty."
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={add.isBusy}>
            Opt it out
          </Button>
          <Button onClick={onClose}>Keep as it is</Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
