import type { OperationName } from '@heliogram/sdk'
import { useState } from 'react'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Choices } from '../../../kit/choices.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { Buttons, CheckField, Form, TextArea, TextField } from '../../../kit/form.tsx'
import { patternGroups } from '../event-types.ts'
import type { WebhookDraft } from './draft.ts'

interface WebhookFormProps {
  does: OperationName
  start: WebhookDraft
  label: string
  onSubmit: (draft: WebhookDraft) => unknown
  isBusy: boolean
  problem: Error | null
  back: string
}

export function WebhookForm({ does, start, label, onSubmit, isBusy, problem, back }: WebhookFormProps) {
  const [draft, setDraft] = useState(start)
  const put = (change: Partial<WebhookDraft>) => setDraft({ ...draft, ...change })
  const isRare = start.headers !== '' || start.ordered || start.isBatched || !start.includeBodies
  return (
    <Form does={does} onSubmit={() => onSubmit(draft)} problem={problem}>
      <TextField
        label="URL"
        name="url"
        type="url"
        inputMode="url"
        placeholder="https://example.com/heliogram"
        value={draft.url}
        onChange={(url) => put({ url })}
        hint="A public https URL on port 443 or 8443. If the simulator runs, http://localhost and other loopback addresses work too. The operator can change this."
        autoFocus={start.url === ''}
        spellCheck={false}
        required
      />
      <TextField
        label="Description"
        name="description"
        value={draft.description}
        onChange={(description) => put({ description })}
        hint="For your team. It is not sent."
      />
      <Choices
        label="Events"
        name="events"
        hint="Choose single types, a whole family, or all events. Delivered, failed and received messages are always recorded, other types only while a webhook subscribes to them."
        groups={patternGroups}
        chosen={draft.events}
        onChange={(events) => put({ events })}
      />
      <Fold title="Advanced: headers, order, batches, message texts" isOpen={isRare}>
        <TextArea
          label="Extra headers"
          name="headers"
          rows={3}
          placeholder="Authorization: Bearer …"
          value={draft.headers}
          onChange={(headers) => put({ headers })}
          hint="One header per line, at most 10. Values are stored encrypted and shown as ********. Leave ******** to keep a value."
          spellCheck={false}
        />
        <CheckField
          label="Deliver in order"
          name="ordered"
          value={draft.ordered}
          onChange={(ordered) => put({ ordered })}
          hint="Events of a message are sent one after another. A failed event delays the later events of its message, and no others."
        />
        <CheckField
          label="Send in batches"
          name="batch"
          value={draft.isBatched}
          onChange={(isBatched) => put({ isBatched })}
          hint="A 2xx response accepts all events of the batch. After any other response all are sent again."
        />
        {draft.isBatched && (
          <div className="fields">
            <TextField
              label="Maximum events per batch"
              name="batch/max_events"
              inputMode="decimal"
              value={draft.maxEvents}
              onChange={(maxEvents) => put({ maxEvents })}
            />
            <TextField
              label="Maximum wait for more events (ms)"
              name="batch/max_wait_ms"
              inputMode="decimal"
              value={draft.maxWaitMs}
              onChange={(maxWaitMs) => put({ maxWaitMs })}
            />
          </div>
        )}
        <CheckField
          label="Include message texts"
          name="include_bodies"
          value={draft.includeBodies}
          onChange={(includeBodies) => put({ includeBodies })}
          hint="Only people who may read message texts can turn this on."
        />
      </Fold>
      <Buttons>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {label}
        </Button>
        <LinkButton to={back} kind="quiet">
          Cancel
        </LinkButton>
      </Buttons>
    </Form>
  )
}
