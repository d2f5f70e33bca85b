import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton, Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'

/** Requires a reason. */
export function LetInButton({ number }: { number: string }) {
  const [isOpen, setOpen] = useState(false)
  const [reason, setReason] = useState('')
  const letIn = useAction('deleteOptOut', 'Opt-out removed.')
  const submit = async () => {
    if (await letIn.run({ path: { number }, query: { reason } })) setOpen(false)
  }
  return (
    <>
      <Button does="deleteOptOut" onClick={() => setOpen(true)}>
        Remove opt-out
      </Button>
      {isOpen && (
        <Dialog title="Remove opt-out" onClose={() => setOpen(false)}>
          <p className="question">
            Do this only if the person asked for it other than by texting START. The number can get messages again.
          </p>
          <Form does="deleteOptOut" onSubmit={submit} problem={letIn.problem}>
            <TextField
              label="Reason"
              name="?reason"
              value={reason}
              onChange={setReason}
              hint="Who asked for it, and how. Kept in the consent history."
            />
            <Buttons>
              <Button kind="danger" type="submit" isBusy={letIn.isBusy}>
                Remove opt-out
              </Button>
              <Button onClick={() => setOpen(false)}>Cancel</Button>
            </Buttons>
          </Form>
        </Dialog>
      )}
    </>
  )
}

/** Removes the number from its opt-out, to erase a person's data. */
export function ForgetButton({ number }: { number: string }) {
  const forget = useAction('forgetOptOut', 'Number erased. It still gets no messages.')
  return (
    <ConfirmButton
      does="forgetOptOut"
      label="Erase number"
      question="The number is hidden at once and deleted within minutes. Messages to it are still refused. You can’t undo this."
      onConfirm={() => forget.run({ path: { number } })}
      isBusy={forget.isBusy}
      problem={forget.problem}
    />
  )
}
