/** What the built-in receiver of webhooks got. */
import type { WebhookReceiver } from '@heliogram/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import { useAction, useCall } from '../../api.ts'
import { Button } from '../../kit/button.tsx'
import { Json } from '../../kit/json.tsx'
import { Problem } from '../../kit/problem.tsx'
import { Badge, Time } from '../../kit/show.tsx'

/** Read often from the first post on, and now and then before. */
export const useReceiver = (enabled: boolean): UseQueryResult<WebhookReceiver> =>
  useCall(
    'getWebhookReceiver',
    { query: { last: 5 } },
    { enabled, isSide: true, every: (answer) => (answer && answer.posts.length > 0 ? 5000 : 60_000) },
  )

export function ReceivedPosts({ call: { data, refetch } }: { call: UseQueryResult<WebhookReceiver> }) {
  const create = useAction('createWebhook', 'Test webhook created')
  const test = useAction('testWebhook')
  const isBusy = create.isBusy || test.isBusy
  const problem = create.problem ?? test.problem
  const onCreate = async () => {
    if (!data) return
    const made = await create.run({ body: { url: data.url, events: ['*'], description: 'Shown on Home' } })
    if (made) await test.run({ path: { id: made.answer.id } })
    // The post comes within a second.
    setTimeout(() => void refetch(), 1000)
  }
  if (!data || data.posts.length === 0)
    return (
      <>
        <p>
          See events arrive on this page, without a server of your own. A test webhook posts every event to a receiver
          inside this installation.
        </p>
        <Button does="createWebhook" isBusy={isBusy} onClick={() => void onCreate()}>
          Create a test webhook
        </Button>
        {problem && <Problem of={problem} />}
      </>
    )
  return (
    <>
      <p>
        The latest posts. Your server checks the same signature: see{' '}
        <a href="/docs/webhooks#verify-the-signature" target="_blank" rel="noreferrer">
          the code in five languages
        </a>
        .
      </p>
      <ul className="posts">
        {data.posts.map(({ headers, body, verified, received_at: at }) => (
          <li key={`${headers['webhook-id']} ${at}`}>
            <details>
              <summary>
                <code>{typeOf(body)}</code>{' '}
                <Badge status={verified ? 'signature verified' : 'not verified'} tone={verified ? 'good' : 'bad'} />{' '}
                <Time at={at} />
              </summary>
              <Json of={headers} label="Headers" />
              {body !== null && <Json of={parsed(body)} label="Body" />}
            </details>
          </li>
        ))}
      </ul>
    </>
  )
}

/** A body may be cut. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}

function typeOf(body: string | null): string {
  const type = body === null ? null : /"type":"([\w.]+)"/.exec(body)?.[1]
  return type ?? 'event'
}
