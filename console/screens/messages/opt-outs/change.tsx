import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton, Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'

/** Requires a reason. */
export function LetInButton({ number }: { number: string }) {
  const [isOpen, setOpen] = useState(false)
  const [reason, setReason] = useState('')
  const letIn = useAction('deleteOptOut', 'Messages are sent to the number again.')
  const submit = async () => {
    if (await letIn.run({ path: { number }, query: { reason } })) setOpen(false)
  }
  return (
    <>
      <Button does="deleteOptOut" onClick={() => setOpen(true)}>
        Let it in again
      </Button>
      {isOpen && (
        <Dialog title="Let it in again" onClose={() => setOpen(false)}>
          <p className="question">
            Only where the person asked for it otherwise than with START. Messages are sent there again from then on.
          </p>
          <Form does="deleteOptOut" onSubmit={submit} problem={letIn.problem}>
            <TextField
              label="Reason"
              name="?reason"
              value={reason}
              onChange={setReason}
              hint="Who asked for it, and how. It stays in the ledger of consent."
            />
            <Buttons>
              <Button kind="danger" type="submit" isBusy={letIn.isBusy}>
                Let it in again
              </Button>
              <Button onClick={() => setOpen(false)}>Keep as it is</Button>
            </Buttons>
          </Form>
        </Dialog>
      )}
    </>
  )
}

/** Removes the number from its opt-out, to erase a person's data. */
export function ForgetButton({ number }: { number: string }) {
  const forget = useAction('forgetOptOut', 'The number is forgotten; sends to it are refused as before.')
  return (
    <ConfirmButton
      does="forgetOptOut"
      label="Forget the number"
      question="The number is shown to nobody from now on, and gone within minutes when nothing is on its way to it. Sends to it are refused as before. This cannot be undone."
      onConfirm={() => forget.run({ path: { number } })}
      isBusy={forget.isBusy}
      problem={forget.problem}
    />
  )
}
