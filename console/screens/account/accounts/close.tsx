import type { Account } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, SelectField, TextField } from '../../../kit/form.tsx'
import { numberFrom } from '../../../kit/typed.ts'

export function CloseDialog({ of, onClose }: { of: Account; onClose: () => void }) {
  const [days, setDays] = useState('30')
  const [webhooks, setWebhooks] = useState('drain')
  const { run, isBusy, problem } = useAction('closeAccount', 'Account closed')
  const close = async () => {
    const body = {
      grace_days: numberFrom(days),
      webhooks: webhooks === 'stop' ? ('stop' as const) : ('drain' as const),
    }
    if (await run({ path: { id: of.id }, body })) onClose()
  }
  return (
    <Dialog title={`Close ${of.name}`} onClose={onClose}>
      <Form does="closeAccount" onSubmit={close} problem={problem}>
        <p>
          API keys, sessions and invitations end permanently within five seconds, and queued messages are canceled. When
          the days are over, people, contacts and texts are permanently deleted.
        </p>
        <TextField
          label="Days until deletion"
          name="grace_days"
          inputMode="decimal"
          value={days}
          onChange={setDays}
          hint="0 to 30, counted from when the account was first closed. Until then you can reopen it."
        />
        <SelectField
          label="Pending webhook deliveries"
          name="webhooks"
          value={webhooks}
          onChange={setWebhooks}
          options={[
            ['drain', 'Deliver them, with retries'],
            ['stop', 'Drop them'],
          ]}
        />
        <Buttons>
          <Button kind="danger" type="submit" isBusy={isBusy}>
            Close account
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
