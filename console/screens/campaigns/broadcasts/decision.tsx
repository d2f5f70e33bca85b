import type { Broadcast } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton, Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextArea } from '../../../kit/form.tsx'
import { tellCount } from '../../../kit/show.tsx'

export function Decision({ broadcast: { id, recipients } }: { broadcast: Broadcast }) {
  const [open, setOpen] = useState<'approve' | 'reject'>()
  const [reason, setReason] = useState('')
  const approve = useAction('approveBroadcast', 'Broadcast approved.')
  const reject = useAction('rejectBroadcast', 'Broadcast rejected. Nothing was sent.')
  const isApproval = open === 'approve'
  const decide = async () => {
    const done = isApproval
      ? await approve.run({ path: { id }, body: reason ? { reason } : {} })
      : await reject.run({ path: { id }, body: { reason } })
    if (done) setOpen(undefined)
  }
  const ask = (what: 'approve' | 'reject') => {
    approve.reset()
    reject.reset()
    setOpen(what)
  }
  return (
    <>
      <Button does="approveBroadcast" kind="primary" onClick={() => ask('approve')}>
        Approve
      </Button>
      <Button does="rejectBroadcast" kind="danger" onClick={() => ask('reject')}>
        Reject
      </Button>
      {open && (
        <Dialog title={isApproval ? 'Approve broadcast' : 'Reject broadcast'} onClose={() => setOpen(undefined)}>
          <Form onSubmit={decide} problem={isApproval ? approve.problem : reject.problem}>
            <p>
              {isApproval
                ? `It is sent to ${tellCount(recipients, 'recipient')}, now or at its scheduled time.`
                : 'Nothing is sent. You can create another broadcast in this campaign.'}
            </p>
            <TextArea
              label="Reason"
              name="reason"
              rows={2}
              value={reason}
              onChange={setReason}
              hint={
                isApproval
                  ? 'Optional. Shown on the broadcast.'
                  : 'Shown on the broadcast, so that its author knows what to change.'
              }
            />
            <Buttons>
              <Button type="submit" kind={isApproval ? 'primary' : 'danger'} isBusy={approve.isBusy || reject.isBusy}>
                {isApproval ? 'Approve broadcast' : 'Reject broadcast'}
              </Button>
              <Button onClick={() => setOpen(undefined)}>Cancel</Button>
            </Buttons>
          </Form>
        </Dialog>
      )}
    </>
  )
}

export function Withdraw({ id }: { id: string }) {
  const { run, isBusy, problem } = useAction('withdrawBroadcast', 'Broadcast withdrawn. Nothing was sent.')
  return (
    <ConfirmButton
      does="withdrawBroadcast"
      label="Withdraw broadcast"
      question="Nothing has been sent yet, and nothing will be. You can create another broadcast in this campaign."
      onConfirm={() => run({ path: { id } })}
      isBusy={isBusy}
      problem={problem}
    />
  )
}
