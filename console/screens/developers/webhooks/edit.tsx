import { useLocation, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Loaded, Page } from '../../../kit/page.tsx'
import { bodyOf, draftOf, type WebhookDraft } from './draft.ts'
import { WebhookForm } from './form.tsx'

export function EditWebhookScreen() {
  const { id = '' } = useParams()
  const [, go] = useLocation()
  const webhook = useCall('getWebhook', { path: { id } })
  const { run, isBusy, problem } = useAction('updateWebhook', 'Webhook updated')
  const change = async (draft: WebhookDraft) => {
    if (await run({ path: { id }, body: bodyOf(draft) })) go(`/webhooks/${id}`)
  }
  return (
    <Page
      title="Edit webhook"
      back={{ to: `/webhooks/${id}`, title: webhook.data?.url ?? 'Webhook' }}
      lead="If you change the host, enter the header values again."
    >
      <div className="narrow">
        <Loaded call={webhook}>
          {(one) => (
            <WebhookForm
              does="updateWebhook"
              key={one.id}
              start={draftOf(one)}
              label="Save changes"
              onSubmit={change}
              isBusy={isBusy}
              problem={problem}
              back={`/webhooks/${id}`}
            />
          )}
        </Loaded>
      </div>
    </Page>
  )
}
