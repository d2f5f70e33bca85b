/** Sends a text to the writer's own phone first. */
import type { Operations } from '@heliogram/sdk'
import { useState } from 'react'
import { Link } from 'wouter'
import { useAction } from '../api.ts'
import { Button } from '../kit/button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { Buttons, Form, TextField } from '../kit/form.tsx'

/** Of this browser: the API knows no number of a user. */
const storage = 'heliogram.own-number'

interface SendTestProps {
  bodyOf: (to: string) => Operations['sendMessage']['body']
  /** Where it differs from what the screen shows. */
  text?: string
  hint: string
  onClose: () => void
}

export function SendTest({ bodyOf, text, hint, onClose }: SendTestProps) {
  const [to, setTo] = useState(() => localStorage.getItem(storage) ?? '')
  const [sent, setSent] = useState<string>()
  const send = useAction('sendMessage', 'Test message sent.')
  const submit = async () => {
    setSent(undefined)
    const done = await send.run({ body: bodyOf(to) })
    if (!done) return
    localStorage.setItem(storage, to)
    setSent(done.answer.id)
  }
  return (
    <Dialog title="Send yourself a test" onClose={onClose}>
      {text !== undefined && (
        <p className="sample" dir="auto">
          {text}
        </p>
      )}
      <Form does="sendMessage" onSubmit={submit} problem={send.problem}>
        <TextField label="Your phone number" name="to" type="tel" value={to} onChange={setTo} hint={hint} required />
        {sent && (
          <p role="status">
            Test message sent. <Link href={`/messages/${sent}`}>View message</Link>
          </p>
        )}
        <Buttons>
          <Button kind="primary" type="submit" isBusy={send.isBusy}>
            Send test message
          </Button>
          <Button onClick={onClose}>{sent ? 'Done' : 'Cancel'}</Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
