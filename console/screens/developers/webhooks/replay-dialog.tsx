import type { Webhook } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Choices } from '../../../kit/choices.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { Buttons, CheckField, Form, TextField } from '../../../kit/form.tsx'
import { localTime, momentOf } from '../../../kit/moments.ts'
import { eventGroups, type EventType } from '../event-types.ts'

const hourMs = 3_600_000

/** An hour before the trouble began, to include events in flight. */
const sinceOf = ({ failing_since, disabled_at }: Webhook): string => {
  const trouble = failing_since ?? disabled_at
  return localTime(trouble === null ? new Date(Date.now() - 24 * hourMs) : new Date(Date.parse(trouble) - hourMs))
}

export function ReplayDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const [since, setSince] = useState(() => sinceOf(webhook))
  const [until, setUntil] = useState('')
  const [types, setTypes] = useState<ReadonlySet<EventType>>(new Set())
  const [isOnlyFailed, setOnlyFailed] = useState(false)
  const { run, isBusy, problem } = useAction('replayWebhook', 'They are being posted again')
  const replay = async () => {
    const done = await run({
      path: { id: webhook.id },
      body: {
        since: momentOf(since),
        ...(until !== '' && { until: momentOf(until) }),
        ...(types.size > 0 && { types: [...types] }),
        only_failed: isOnlyFailed,
      },
    })
    if (done) onClose()
  }
  return (
    <Dialog title="Post again" onClose={onClose}>
      <Form does="replayWebhook" onSubmit={replay} problem={problem}>
        <div className="fields">
          <TextField
            label="Events recorded from"
            name="since"
            type="datetime-local"
            value={since}
            onChange={setSince}
            hint="Up to 30 days ago, by your clock."
          />
          <TextField
            label="To"
            name="until"
            type="datetime-local"
            value={until}
            onChange={setUntil}
            hint="Empty: now."
          />
        </div>
        <CheckField
          label="Only those that it never took"
          name="only_failed"
          value={isOnlyFailed}
          onChange={setOnlyFailed}
          hint="What happened while it was disabled was not posted, and is none of them."
        />
        <Fold title="Only some types">
          <Choices
            label="Types"
            name="types"
            hint="None chosen: those that the webhook subscribes to."
            groups={eventGroups}
            chosen={types}
            onChange={setTypes}
          />
        </Fold>
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Post them again
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
