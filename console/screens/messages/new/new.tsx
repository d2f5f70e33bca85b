import { useState } from 'react'
import { useLocation, useSearchParams } from 'wouter'
import { useAction } from '../../../api.ts'
import { SendTest } from '../../../compose/send-test.tsx'
import { SameAsCode } from '../../../compose/code.tsx'
import { RareFields } from '../../../compose/rare-fields.tsx'
import { ScheduleField } from '../../../compose/schedule-field.tsx'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { useDraft } from '../../../kit/draft.ts'
import { Fold } from '../../../kit/fold.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { Page, Section } from '../../../kit/page.tsx'
import { bodyOf, emptyDraft, type Draft } from './draft.ts'
import { Preview } from './preview.tsx'
import { RoutingFields } from './routing.tsx'
import { TextFields } from './text-fields.tsx'

export function NewMessageScreen() {
  const [params] = useSearchParams()
  const [, go] = useLocation()
  const [draft, change, forget] = useDraft<Draft>(`message ${params}`, {
    ...emptyDraft,
    to: params.get('to') ?? '',
    campaign: params.get('campaign') ?? '',
    template: params.get('template') ?? '',
  })
  const [isTesting, setTesting] = useState(false)
  const send = useAction('sendMessage', draft.sendAt ? 'Message scheduled.' : 'Message accepted.')
  const submit = async () => {
    const sent = await send.run({ body: bodyOf(draft) })
    if (!sent) return
    forget()
    go(`/messages/${sent.answer.id}`)
  }
  return (
    <Page title="New message" back={{ to: '/messages', title: 'Messages' }}>
      <Form does="sendMessage" onSubmit={submit} problem={send.problem}>
        <div className="compose">
          <div className="form">
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
            <ScheduleField at={draft.sendAt} zone={draft.zone} onChange={change} />
            <Fold title="More: encoding, limits, callbacks, tags">
              <RareFields draft={draft} onChange={change} />
            </Fold>
          </div>
          <Preview draft={draft} />
          <Buttons>
            <Button kind="primary" type="submit" isBusy={send.isBusy}>
              {draft.sendAt ? 'Schedule message' : 'Send message'}
            </Button>
            <Button does="sendMessage" onClick={() => setTesting(true)}>
              Send yourself a test
            </Button>
            <LinkButton to="/messages" kind="quiet">
              Cancel
            </LinkButton>
          </Buttons>
        </div>
      </Form>
      {isTesting && (
        <SendTest
          hint="Sends this text to your phone now, as a message like any other. This browser remembers the number."
          bodyOf={(to) => bodyOf({ ...draft, to, sendAt: '' })}
          onClose={() => setTesting(false)}
        />
      )}
      <Section title="Same as code">
        <SameAsCode
          call={{
            baseUrl: location.origin,
            operation: 'sendMessage',
            path: '/v1/messages/send',
            body: bodyOf(draft),
          }}
        />
      </Section>
    </Page>
  )
}
