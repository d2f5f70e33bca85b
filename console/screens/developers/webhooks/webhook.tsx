import { useParams } from 'wouter'
import type { Webhook } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { Loaded, Page } from '../../../kit/page.tsx'
import { Copy, Facts, Moment } from '../../../kit/show.tsx'
import { meaningOf } from '../event-types.ts'
import { WebhookActions } from './actions.tsx'
import { Deliveries } from './deliveries.tsx'
import { Replays } from './replays.tsx'
import { WebhookState, WebhookTrouble } from './state.tsx'
import { TestButton } from './test-event.tsx'

export function WebhookScreen() {
  const { id = '' } = useParams()
  const webhook = useCall('getWebhook', { path: { id } }, { every: 5000 })
  return (
    <Page
      title={webhook.data?.url ?? 'Webhook'}
      tab="Webhook"
      back={{ to: '/webhooks', title: 'Webhooks' }}
      {...(webhook.data && {
        lead: (
          <>
            <WebhookState of={webhook.data} /> {webhook.data.description}
          </>
        ),
      })}
    >
      <Loaded call={webhook}>
        {(one) => (
          <>
            <WebhookActions key={one.id} of={one} />
            <WebhookTrouble of={one} />
            <div className="columns below">
              <div className="card">
                <WebhookFacts of={one} />
              </div>
              <div className="card">
                <h2>Subscribed events</h2>
                <ul className="types">
                  {one.events.map((type) => (
                    <li key={type}>
                      <code>{type}</code> <span className="hint">{meaningOf(type)}</span>
                    </li>
                  ))}
                </ul>
              </div>
            </div>
            <TestButton key={one.id} webhook={one} />
            <Deliveries webhook={id} />
            <Replays webhook={one} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const WebhookFacts = ({ of }: { of: Webhook }) => (
  <Facts
    facts={[
      ['Id', <Copy key="id" text={of.id} />],
      ['Headers', Object.keys(of.headers).join(', ')],
      ['Order', of.ordered ? 'one event of a message after the other' : 'as they happen'],
      [
        'Batches',
        of.batch
          ? `up to ${of.batch.max_events} events a post, after a wait of up to ${of.batch.max_wait_ms ?? 1000} ms`
          : 'one event a post',
      ],
      ['Texts of messages', of.include_bodies ? 'are in the posts' : 'are not in the posts'],
      ['Created', <Moment key="made" at={of.created_at} />],
      ['Changed', <Moment key="changed" at={of.updated_at} />],
    ]}
  />
)
