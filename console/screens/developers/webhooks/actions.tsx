import type { Webhook } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { RotateDialog } from '../../../kit/rotate-dialog.tsx'
import { WebhookSecret } from './secret.tsx'

export function WebhookActions({ of: { id, enabled, url } }: { of: Webhook }) {
  const [, go] = useLocation()
  const [isRotating, setRotating] = useState(false)
  const [secret, setSecret] = useState<string>()
  const pause = useAction('updateWebhook', 'The webhook is paused')
  const enable = useAction('updateWebhook', 'The webhook is enabled')
  const rotate = useAction('rotateWebhookSecret', 'It has another secret')
  const remove = useAction('deleteWebhook', 'The webhook is deleted', () => go('/webhooks'))
  const rotateIt = async (seconds: number) => {
    const done = await rotate.run({ path: { id }, body: { grace_seconds: seconds } })
    if (!done) return
    setRotating(false)
    setSecret(done.answer.secret)
  }
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
        <Button
          does="rotateWebhookSecret"
          onClick={() => {
            rotate.reset()
            setRotating(true)
          }}
        >
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
          title="Rotate the secret"
          name="grace_seconds"
          label="Both sign for"
          none="only the new one from now on"
          hint="Until then each post carries both signatures, so that your server can change over in peace."
          onRotate={rotateIt}
          onClose={() => setRotating(false)}
          isBusy={rotate.isBusy}
          problem={rotate.problem}
        />
      )}
    </>
  )
}
