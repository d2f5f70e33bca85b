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
  const { run, isBusy, problem } = useAction('replayWebhook', 'Replay started')
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
    <Dialog title="Replay events" onClose={onClose}>
      <Form does="replayWebhook" onSubmit={replay} problem={problem}>
        <div className="fields">
          <TextField
            label="From"
            name="since"
            type="datetime-local"
            value={since}
            onChange={setSince}
            hint="In your browser’s time zone, at most 30 days ago."
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
          label="Only failed deliveries"
          name="only_failed"
          value={isOnlyFailed}
          onChange={setOnlyFailed}
          hint="Events of a time when the webhook was disabled were not sent, so they are not included."
        />
        <Fold title="Event types">
          <Choices
            label="Types"
            name="types"
            hint="Choose none to replay all types that the webhook subscribes to."
            groups={eventGroups}
            chosen={types}
            onChange={setTypes}
          />
        </Fold>
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Replay events
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
