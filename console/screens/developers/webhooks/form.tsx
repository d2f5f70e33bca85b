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
        label="Address"
        name="url"
        type="url"
        inputMode="url"
        placeholder="https://example.com/heliogram"
        value={draft.url}
        onChange={(url) => put({ url })}
        hint="Where events are posted: https, a public address, port 443 or 8443, unless the operator allows more."
        spellCheck={false}
        required
      />
      <TextField
        label="What it is for"
        name="description"
        value={draft.description}
        onChange={(description) => put({ description })}
        hint="A note for people; it is not posted."
      />
      <Choices
        label="Events"
        name="events"
        hint="Choose types one by one, a whole family, or everything. Delivered, failed and received messages are always recorded, the other types only while a webhook subscribes to them."
        groups={patternGroups}
        chosen={draft.events}
        onChange={(events) => put({ events })}
      />
      <Fold title="Headers, order, batches, texts" isOpen={isRare}>
        <TextArea
          label="Extra headers for every post"
          name="headers"
          rows={3}
          placeholder="Authorization: Bearer …"
          value={draft.headers}
          onChange={(headers) => put({ headers })}
          hint="One header a line, at most 10. Values are kept encrypted and shown as ********; leave that to keep a value."
          spellCheck={false}
        />
        <CheckField
          label="In order"
          name="ordered"
          value={draft.ordered}
          onChange={(ordered) => put({ ordered })}
          hint="Events of one message are posted one after the other. One that fails holds back the later events of its message, and no others."
        />
        <CheckField
          label="Several events a post"
          name="batch"
          value={draft.isBatched}
          onChange={(isBatched) => put({ isBatched })}
          hint="A 2xx accepts all events of the post. With any other answer all of them are posted again."
        />
        {draft.isBatched && (
          <div className="fields">
            <TextField
              label="Events a post, at most"
              name="batch/max_events"
              inputMode="decimal"
              value={draft.maxEvents}
              onChange={(maxEvents) => put({ maxEvents })}
            />
            <TextField
              label="Longest wait for more events, in milliseconds"
              name="batch/max_wait_ms"
              inputMode="decimal"
              value={draft.maxWaitMs}
              onChange={(maxWaitMs) => put({ maxWaitMs })}
            />
          </div>
        )}
        <CheckField
          label="With the texts of messages"
          name="include_bodies"
          value={draft.includeBodies}
          onChange={(includeBodies) => put({ includeBodies })}
          hint="Only people who may read texts can turn this on."
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
