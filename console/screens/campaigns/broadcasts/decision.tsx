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
  const approve = useAction('approveBroadcast', 'Approved.')
  const reject = useAction('rejectBroadcast', 'Rejected. Nothing of it is sent.')
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
        <Dialog
          title={isApproval ? 'Approve the broadcast' : 'Reject the broadcast'}
          onClose={() => setOpen(undefined)}
        >
          <Form onSubmit={decide} problem={isApproval ? approve.problem : reject.problem}>
            <p>
              {isApproval
                ? `It goes to ${tellCount(recipients, 'recipient')}, at once or at its time.`
                : 'Nothing of it is sent; its campaign can have another.'}
            </p>
            <TextArea
              label="Reason"
              name="reason"
              rows={2}
              value={reason}
              onChange={setReason}
              hint={isApproval ? 'It is kept. It may be left out.' : 'It is kept, and told to who ordered it.'}
            />
            <Buttons>
              <Button type="submit" kind={isApproval ? 'primary' : 'danger'} isBusy={approve.isBusy || reject.isBusy}>
                {isApproval ? 'Approve' : 'Reject'}
              </Button>
              <Button onClick={() => setOpen(undefined)}>Decide later</Button>
            </Buttons>
          </Form>
        </Dialog>
      )}
    </>
  )
}

export function Withdraw({ id }: { id: string }) {
  const { run, isBusy, problem } = useAction('withdrawBroadcast', 'Withdrawn. Nothing of it is sent.')
  return (
    <ConfirmButton
      does="withdrawBroadcast"
      label="Withdraw"
      question="Nothing of it is sent, and its campaign can have another broadcast. This can be done as long as no message has been made."
      onConfirm={() => run({ path: { id } })}
      isBusy={isBusy}
      problem={problem}
    />
  )
}
