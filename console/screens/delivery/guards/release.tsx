/** Releases a stop: until its end, until another time, or with a higher limit. */
import type { Guard } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, Form, SelectField, TextField } from '../../../kit/form.tsx'
import { momentOf } from '../../../kit/moments.ts'
import { Moment } from '../../../kit/show.tsx'
import { tellKey, unitOf } from './tell.ts'

export function ReleaseForm({ guard, onDone }: { guard: Guard; onDone: () => void }) {
  const release = useAction('releaseGuard', 'Stop released.')
  const [reason, setReason] = useState('')
  const [how, setHow] = useState('all')
  const [until, setUntil] = useState('')
  const [raiseBy, setRaiseBy] = useState('')
  const unit = unitOf[guard.kind]
  const submit = async () => {
    const done = await release.run({
      path: { id: guard.id },
      body: {
        reason,
        ...(how === 'until' && { until: momentOf(until) }),
        ...(how === 'raise' && { raise_by: raiseBy }),
      },
    })
    if (done) onDone()
  }
  return (
    <Form does="releaseGuard" onSubmit={submit} problem={release.problem}>
      <p>
        This guard stops {tellKey(guard)} until <Moment at={guard.until} />. After the release messages are accepted
        immediately, and broadcasts resume within seconds. The audit log records who released it and why.
      </p>
      <TextField
        label="Reason"
        name="reason"
        hint="Recorded in the audit log."
        value={reason}
        onChange={setReason}
        autoFocus
      />
      <SelectField
        label="Release"
        name="how"
        value={how}
        onChange={setHow}
        options={[
          ['all', 'Until the stop ends'],
          ['until', 'Until another time'],
          ...(unit === null || guard.limit === null ? [] : [['raise', 'Raise the limit'] as const]),
        ]}
      />
      {how === 'until' && (
        <TextField
          label="Until"
          name="until"
          type="datetime-local"
          hint="In your own time zone. The guard doesn’t stop messages before then."
          value={until}
          onChange={setUntil}
        />
      )}
      {how === 'raise' && (
        <TextField
          label="Raise by"
          name="raise_by"
          hint={`In ${unit}, on top of ${guard.limit}, until the stop ends.`}
          inputMode="decimal"
          value={raiseBy}
          onChange={setRaiseBy}
        />
      )}
      <Buttons>
        <Button kind="primary" type="submit" isBusy={release.isBusy}>
          Release
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </Buttons>
    </Form>
  )
}
