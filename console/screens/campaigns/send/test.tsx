/** One message with the text of the first recipient, to the writer's own phone. */
import type { Campaign } from '@heliogram/sdk'
import { useState } from 'react'
import { Link } from 'wouter'
import { useAction } from '../../../api.ts'
import { alphabetOf } from '../../../compose/rare.ts'
import { senderOf, senderValue } from '../../../compose/sender.tsx'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { cleanNumber } from '../../../kit/number.ts'
import type { SendDraft } from './draft.ts'

/** The number of the last test, as long as the page is open. */
let lastNumber = ''

export function SendTest({ campaign, draft, text }: { campaign: Campaign; draft: SendDraft; text: string | null }) {
  const [isOpen, setOpen] = useState(false)
  const [number, setNumber] = useState(lastNumber)
  const [sent, setSent] = useState<string>()
  const test = useAction('sendMessage', 'Test message sent.')
  const sender = senderOf(draft.sender || senderValue(campaign.from, campaign.sender_pool))
  const send = async () => {
    lastNumber = number
    setSent(undefined)
    const to = cleanNumber(number)
    const done = await test.run({ body: { to, message: text ?? '', ...sender, ...alphabetOf(draft) } })
    if (done) setSent(done.answer.id)
  }
  if (text === null) return null
  return (
    <>
      <Button does="sendMessage" onClick={() => setOpen(true)}>
        Send yourself a test
      </Button>
      {isOpen && (
        <Dialog title="Send yourself a test" onClose={() => setOpen(false)}>
          <p className="sample" dir="auto">
            {text}
          </p>
          <Form does="sendMessage" onSubmit={send} problem={test.problem}>
            <TextField
              label="Your phone number"
              name="to"
              type="tel"
              value={number}
              onChange={setNumber}
              hint="With its country code. You get the text of the first recipient; it doesn’t count in the broadcast."
            />
            {sent && (
              <p role="status">
                Test message sent. <Link href={`/messages/${sent}`}>View message</Link>
              </p>
            )}
            <Buttons>
              <Button type="submit" kind="primary" isBusy={test.isBusy} disabled={number.trim() === ''}>
                Send test message
              </Button>
              <Button onClick={() => setOpen(false)}>Cancel</Button>
            </Buttons>
          </Form>
        </Dialog>
      )}
    </>
  )
}
