import type { OperationName } from '@heliogram/sdk'
import { useState } from 'react'
import { Button } from '../../../kit/button.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { Buttons, CheckField, Form, SelectField, TextArea, TextField } from '../../../kit/form.tsx'
import { alphabets, concatenations, type SmppDraft } from './draft.ts'

interface SmppFormProps {
  does: OperationName
  start: SmppDraft
  label: string
  onSubmit: (draft: SmppDraft) => unknown
  onCancel: () => void
  isBusy: boolean
  problem: Error | null
}

export function SmppForm({ does, start, label, onSubmit, onCancel, isBusy, problem }: SmppFormProps) {
  const [draft, setDraft] = useState(start)
  const put = (change: Partial<SmppDraft>) => setDraft({ ...draft, ...change })
  return (
    <Form does={does} onSubmit={() => onSubmit(draft)} problem={problem}>
      <TextField
        label="Name"
        name="name"
        value={draft.name}
        onChange={(name) => put({ name })}
        hint="The program that uses this credential."
        required
      />
      <CheckField
        label="Deliver replies"
        name="receives_replies"
        value={draft.receivesReplies}
        onChange={(receivesReplies) => put({ receivesReplies })}
        hint="Sends replies to the account’s numbers over SMPP, in addition to webhooks."
      />
      <div className="fields">
        <TextField
          label="Sessions"
          name="max_sessions"
          inputMode="decimal"
          value={draft.maxSessions}
          onChange={(maxSessions) => put({ maxSessions })}
          hint="At the same time, 1 to 100."
        />
        <TextField
          label="Window"
          name="window"
          inputMode="decimal"
          value={draft.window}
          onChange={(window) => put({ window })}
          hint="Unanswered requests per session, in each direction."
        />
        <TextField
          label="Pace"
          name="pace"
          inputMode="decimal"
          value={draft.pace}
          onChange={(pace) => put({ pace })}
          hint="Segments per second, over all sessions."
        />
      </div>
      <Fold title="Advanced: networks, alphabet, long replies">
        <TextArea
          label="Allowed networks"
          name="allowed_cidrs"
          rows={2}
          value={draft.networks}
          onChange={(networks) => put({ networks })}
          hint="Networks that may connect, such as 192.0.2.0/24. Leave empty to allow all."
          spellCheck={false}
        />
        <SelectField
          label="data_coding 0 means"
          name="default_alphabet"
          value={draft.alphabet}
          onChange={(value) => put({ alphabet: alphabets.find(([one]) => one === value)?.[0] ?? 'gsm7' })}
          options={alphabets}
        />
        <SelectField
          label="Long replies"
          name="reply_concatenation"
          value={draft.concatenation}
          onChange={(value) => put({ concatenation: concatenations.find(([one]) => one === value)?.[0] ?? 'udh8' })}
          options={concatenations}
        />
      </Fold>
      <Buttons>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          {label}
        </Button>
        <Button kind="quiet" onClick={onCancel}>
          Cancel
        </Button>
      </Buttons>
    </Form>
  )
}
