/** What can be done with a webhook: pause, enable, another secret, delete. */
import type { Webhook } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { ConfirmButton, Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, SelectField } from '../../../kit/form.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { WebhookSecret } from './secret.tsx'

export function WebhookActions({ of: { id, enabled, url } }: { of: Webhook }) {
  const [, go] = useLocation()
  const [isRotating, setRotating] = useState(false)
  const [secret, setSecret] = useState<string>()
  const pause = useAction('updateWebhook', 'The webhook is paused')
  const enable = useAction('updateWebhook', 'The webhook is enabled')
  const remove = useAction('deleteWebhook', 'The webhook is deleted', () => go('/webhooks'))
  return (
    <>
      {secret !== undefined && <WebhookSecret secret={secret} onClose={() => setSecret(undefined)} />}
      {enable.problem && <Problem of={enable.problem} />}
      <div className="buttons">
        <LinkButton to={`/webhooks/${id}/edit`} does="updateWebhook">
          Change
        </LinkButton>
        {enabled ? (
          <ConfirmButton
            does="updateWebhook"
            label="Pause"
            question="What waits for it is dropped, and nothing is posted until it is enabled again. The event log keeps what happens; “Post again” brings it."
            onConfirm={() => pause.run({ path: { id }, body: { enabled: false } })}
            isBusy={pause.isBusy}
            problem={pause.problem}
            isDanger={false}
          />
        ) : (
          <Button
            does="updateWebhook"
            kind="primary"
            isBusy={enable.isBusy}
            onClick={() => void enable.run({ path: { id }, body: { enabled: true } })}
          >
            Enable
          </Button>
        )}
        <Button does="rotateWebhookSecret" onClick={() => setRotating(true)}>
          Rotate the secret
        </Button>
        <ConfirmButton
          does="deleteWebhook"
          label="Delete"
          question={
            <>
              Nothing is posted to <code>{url}</code> any more, and what waits for it is dropped. This cannot be undone.
            </>
          }
          onConfirm={() => remove.run({ path: { id } })}
          isBusy={remove.isBusy}
          problem={remove.problem}
        />
      </div>
      {isRotating && (
        <RotateDialog
          id={id}
          onClose={() => setRotating(false)}
          onDone={(next) => {
            setRotating(false)
            setSecret(next)
          }}
        />
      )}
    </>
  )
}

interface RotateProps {
  id: string
  onClose: () => void
  onDone: (secret: string) => void
}

function RotateDialog({ id, onClose, onDone }: RotateProps) {
  const [grace, setGrace] = useState('86400')
  const { run, isBusy, problem } = useAction('rotateWebhookSecret', 'It has another secret')
  const rotate = async () => {
    const done = await run({ path: { id }, body: { grace_seconds: Number(grace) } })
    if (done) onDone(done.answer.secret)
  }
  return (
    <Dialog title="Rotate the secret" onClose={onClose}>
      <Form does="rotateWebhookSecret" onSubmit={rotate} problem={problem}>
        <SelectField
          label="Both sign for"
          name="grace_seconds"
          value={grace}
          onChange={setGrace}
          options={[
            ['0', 'no time: only the new one from now on'],
            ['3600', 'an hour'],
            ['86400', 'a day'],
            ['604800', 'seven days'],
          ]}
          hint="Until then each post carries both signatures, so that your server can change over in peace."
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Rotate the secret
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
