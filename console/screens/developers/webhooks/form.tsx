/** The fields of a webhook, for a new one and for one that is changed. */
import type { OperationName } from '@heliogram/sdk'
import { useState } from 'react'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Choices } from '../../../kit/choices.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { Buttons, CheckField, Form, TextArea, TextField } from '../../../kit/form.tsx'
import { patternGroups } from '../event-types.ts'
import type { WebhookDraft } from './draft.ts'

interface WebhookFormProps {
  /** What is called with it. */
  does: OperationName
  start: WebhookDraft
  /** What the button says. */
  label: string
  onSubmit: (draft: WebhookDraft) => unknown
  isBusy: boolean
  problem: Error | null
  /** Where one goes who gives it up. */
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
        hint="For you."
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
          label="Headers that every post carries too"
          name="headers"
          rows={3}
          placeholder="Authorization: Bearer …"
          value={draft.headers}
          onChange={(headers) => put({ headers })}
          hint="A line each, such as “Authorization: Bearer …”. At most 10. Kept encrypted and shown as ********, which means: as it is."
          spellCheck={false}
        />
        <CheckField
          label="In order"
          name="ordered"
          value={draft.ordered}
          onChange={(ordered) => put({ ordered })}
          hint="Events of one message are posted one after the other: one that fails holds back the later ones of its message, and no other."
        />
        <CheckField
          label="Several events a post"
          name="batch"
          value={draft.isBatched}
          onChange={(isBatched) => put({ isBatched })}
          hint="A 2xx takes all of them; anything else none, and each comes again."
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
              label="The longest wait for more of them, in milliseconds"
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
          hint="Only who may read texts can turn it on."
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
