import type { Webhook } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { DangerZone } from '../../../kit/danger-zone.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { RotateDialog } from '../../../kit/rotate-dialog.tsx'
import { WebhookSecret } from './secret.tsx'

export function WebhookActions({ of: { id, enabled } }: { of: Webhook }) {
  const [isRotating, setRotating] = useState(false)
  const [secret, setSecret] = useState<string>()
  const pause = useAction('updateWebhook', 'Webhook paused')
  const enable = useAction('updateWebhook', 'Webhook enabled')
  const rotate = useAction('rotateWebhookSecret', 'Secret rotated')
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
          Edit
        </LinkButton>
        {enabled ? (
          <ConfirmButton
            does="updateWebhook"
            label="Pause"
            question="Pending deliveries are discarded, and no events are sent until you enable the webhook. The event log keeps recording, so you can replay them later."
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
          Rotate secret
        </Button>
      </div>
      {isRotating && (
        <RotateDialog
          title="Rotate secret"
          name="grace_seconds"
          label="Expire the old secret"
          none="immediately"
          hint="Until then each request has both signatures, so your server can switch without losing events."
          onRotate={rotateIt}
          onClose={() => setRotating(false)}
          isBusy={rotate.isBusy}
          problem={rotate.problem}
        />
      )}
    </>
  )
}

export function DeleteWebhook({ of: { id, url } }: { of: Webhook }) {
  const [, go] = useLocation()
  const { run, isBusy, problem } = useAction('deleteWebhook', 'Webhook deleted', () => go('/webhooks'))
  return (
    <DangerZone does="deleteWebhook" title="Delete this webhook" about="Pending deliveries are discarded.">
      <ConfirmButton
        does="deleteWebhook"
        label="Delete webhook"
        question={
          <>
            No more events are sent to <code>{url}</code>, and pending deliveries are discarded. This cannot be undone.
          </>
        }
        onConfirm={() => run({ path: { id } })}
        isBusy={isBusy}
        problem={problem}
      />
    </DangerZone>
  )
}
