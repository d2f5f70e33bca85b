import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Answer } from '@heliogram/sdk'
import { useAction } from '../../../api.ts'
import { Page } from '../../../kit/page.tsx'
import { bodyOf, emptyDraft, type WebhookDraft } from './draft.ts'
import { WebhookForm } from './form.tsx'
import { WebhookSecret } from './secret.tsx'

export function NewWebhookScreen() {
  const [, go] = useLocation()
  const [made, setMade] = useState<Answer<'createWebhook'>>()
  const { run, isBusy, problem } = useAction('createWebhook', 'Webhook added')
  const create = async (draft: WebhookDraft) => {
    const done = await run({ body: bodyOf(draft) })
    if (done) setMade(done.answer)
  }
  return (
    <Page
      title={made ? 'Save the signing secret' : 'Add a webhook'}
      back={{ to: '/webhooks', title: 'Webhooks' }}
      {...(!made && {
        lead: 'Each event is sent as JSON, and retried if your server does not accept it.',
      })}
    >
      <div className="narrow">
        {made ? (
          <WebhookSecret
            secret={made.secret}
            close="I’ve saved it — continue"
            onClose={() => go(`/webhooks/${made.id}`)}
          />
        ) : (
          <WebhookForm
            does="createWebhook"
            start={emptyDraft}
            label="Add webhook"
            onSubmit={create}
            isBusy={isBusy}
            problem={problem}
            back="/webhooks"
          />
        )}
      </div>
    </Page>
  )
}
