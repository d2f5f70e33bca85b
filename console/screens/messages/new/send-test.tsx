/** Sends the text to the user's own phone first. */
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { bodyOf, type Draft } from './draft.ts'

/** Of this browser: the API knows no number of a user. */
const storage = 'heliogram.own-number'

export function SendTest({ draft, onClose }: { draft: Draft; onClose: () => void }) {
  const [to, setTo] = useState(() => localStorage.getItem(storage) ?? '')
  const send = useAction('sendMessage', 'Test sent.')
  const submit = async () => {
    const sent = await send.run({ body: bodyOf({ ...draft, to, sendAt: '' }) })
    if (!sent) return
    localStorage.setItem(storage, to)
    onClose()
  }
  return (
    <Dialog title="Send yourself a test" onClose={onClose}>
      <Form does="sendMessage" onSubmit={submit} problem={send.problem}>
        <TextField
          label="Your number"
          name="to"
          type="tel"
          value={to}
          onChange={setTo}
          hint="Sends this text to your phone now, as a message like any other. This browser remembers the number."
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={send.isBusy}>
            Send test
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
