import { useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { useAction } from '../../../api.ts'
import { RareFields } from '../../../compose/rare-fields.tsx'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { Page } from '../../../kit/page.tsx'
import { bodyOf, emptyDraft, type Draft } from './draft.ts'
import { Preview } from './preview.tsx'
import { RoutingFields } from './routing.tsx'
import { TextFields } from './text-fields.tsx'

export function NewMessageScreen() {
  const [params] = useSearchParams()
  const [, go] = useLocation()
  const [draft, setDraft] = useState<Draft>(() => ({
    ...emptyDraft,
    to: params.get('to') ?? '',
    campaign: params.get('campaign') ?? '',
    template: params.get('template') ?? '',
  }))
  const change = (part: Partial<Draft>) => setDraft((now) => ({ ...now, ...part }))
  const send = useAction('sendMessage', draft.sendAt ? 'The message is scheduled.' : 'The message is accepted.')
  const submit = async () => {
    const sent = await send.run({ body: bodyOf(draft) })
    if (sent) go(`/messages/${sent.answer.id}`)
  }
  return (
    <Page title="New message" back={{ to: '/messages', title: 'Messages' }} lead="To one person">
      <div className="columns">
        <Form does="sendMessage" onSubmit={submit} problem={send.problem}>
          <TextField
            label="To"
            name="to"
            type="tel"
            value={draft.to}
            onChange={(to) => change({ to })}
            hint="With the country code, such as +1 202 555 0123."
            autoFocus={draft.to === ''}
          />
          <TextFields draft={draft} change={change} />
          <RoutingFields draft={draft} change={change} />
          <Fold title="More: encoding, limits, callbacks, tags">
            <RareFields draft={draft} onChange={change} />
          </Fold>
          <Buttons>
            <Button kind="primary" type="submit" isBusy={send.isBusy}>
              {draft.sendAt ? 'Schedule the message' : 'Send the message'}
            </Button>
            <LinkButton to="/messages" kind="quiet">
              Discard
            </LinkButton>
          </Buttons>
        </Form>
        <Preview draft={draft} />
      </div>
    </Page>
  )
}
