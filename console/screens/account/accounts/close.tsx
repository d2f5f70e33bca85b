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
  const { run, isBusy, problem } = useAction('closeAccount', 'The account is closed')
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
          Its keys, logins and invitations end for good, and it is refused everywhere within five seconds. Messages that
          wait are canceled. At the end of the days it is destroyed: its people, contacts and texts cannot be had back.
        </p>
        <TextField
          label="Days in which it can be opened again"
          name="grace_days"
          inputMode="decimal"
          value={days}
          onChange={setDays}
          hint="0 to 30, from the first close on."
        />
        <SelectField
          label="Posts that are due"
          name="webhooks"
          value={webhooks}
          onChange={setWebhooks}
          options={[
            ['drain', 'are made first, with their retries'],
            ['stop', 'are dropped'],
          ]}
        />
        <Buttons>
          <Button kind="danger" type="submit" isBusy={isBusy}>
            Close the account
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
