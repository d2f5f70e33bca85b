import { useParams } from 'wouter'
import type { Webhook } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { Loaded, Page } from '../../../kit/page.tsx'
import { Copy, Facts, Moment } from '../../../kit/show.tsx'
import { meaningOf } from '../event-types.ts'
import { DeleteWebhook, WebhookActions } from './actions.tsx'
import { Deliveries } from './deliveries.tsx'
import { WebhookHealth } from './health.tsx'
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
            <WebhookHealth id={one.id} />
            <div className="columns below">
              <div className="card">
                <WebhookFacts of={one} />
              </div>
              <div className="card">
                <h2>Events</h2>
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
            <DeleteWebhook of={one} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const WebhookFacts = ({ of }: { of: Webhook }) => (
  <Facts
    facts={[
      ['ID', <Copy key="id" text={of.id} />],
      ['Headers', Object.keys(of.headers).join(', ')],
      ['Order', of.ordered ? 'in order for each message' : 'as they happen'],
      [
        'Batches',
        of.batch
          ? `up to ${of.batch.max_events} events, after at most ${of.batch.max_wait_ms ?? 1000} ms`
          : 'one event per request',
      ],
      ['Message texts', of.include_bodies ? 'included' : 'not included'],
      ['Created', <Moment key="made" at={of.created_at} />],
      ['Updated', <Moment key="changed" at={of.updated_at} />],
    ]}
  />
)
