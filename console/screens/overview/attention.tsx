/** What a person should look at, each with one thing to do. */
import type { Summary } from '@heliogram/sdk'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useCall } from '../../api.ts'
import { tellLinkError } from '../../kit/link-error.ts'
import { Section } from '../../kit/page.tsx'
import { tellPostError } from '../../kit/post-error.ts'
import { formatNumber, PhoneNumber, tellCount, Time, type Tone } from '../../kit/show.tsx'

type One = Summary['attention'][number]

interface Told {
  tone: Tone
  text: ReactNode
  detail?: ReactNode
  /** Its verb and where it leads. */
  act: readonly [title: string, to: string]
}

export function Attention({ summary }: { summary: Summary }) {
  const { attention, unread_conversations: unread } = summary
  const names = useWebhookNames(attention.some(({ type }) => type.startsWith('webhook.')))
  const rows = attention.map((one) => ({ one, told: tell(one, summary, names) }))
  if (unread > 0)
    rows.push({
      one: { type: 'conversation.unread', subject: null, name: null, count: unread, detail: null, since: null },
      told: {
        tone: 'busy',
        text: tellCount(unread, 'unread conversation'),
        act: ['Open', '/conversations'],
      },
    })
  return (
    <Section title="Needs attention">
      {rows.length === 0 ? (
        <p className="all-well">
          <i className="dot fill-good" aria-hidden="true" /> Everything is running normally.
        </p>
      ) : (
        <ul className="attention">
          {rows.map(({ one, told: { tone, text, detail, act } }, n) => (
            <li key={`${one.type} ${one.subject} ${n}`}>
              <i className={`dot fill-${tone}`} aria-hidden="true" />
              <div>
                <p>{text}</p>
                {(detail || one.since) && (
                  <p className="small">
                    {detail}
                    {detail && one.since && ' · '}
                    {one.since && <Time at={one.since} />}
                  </p>
                )}
              </div>
              <Link
                href={act[1]}
                aria-label={`${act[0]}: ${one.type.replace('.', ' ').replaceAll('_', ' ')} ${one.name ?? ''}`.trim()}
              >
                {act[0]}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Section>
  )
}

/** The hosts and paths of webhooks, by id. */
function useWebhookNames(isNeeded: boolean): ReadonlyMap<string, string> {
  const { data } = useCall('listWebhooks', {}, { isSide: true, enabled: isNeeded, every: 60_000 })
  return new Map(data?.data.map(({ id, url }) => [id, url.replace(/^https?:\/\//, '')]))
}

function tell(one: One, { carriers }: Summary, webhooks: ReadonlyMap<string, string>): Told {
  const { type, subject, name, count, detail } = one
  const many = count ?? 1
  const webhook = subject === null ? 'A webhook' : `Webhook ${webhooks.get(subject) ?? ''}`.trim()
  const carrier = carriers?.find(({ links }) => links.some(({ id }) => id === subject))?.id
  const toCarrier = carrier === undefined ? '/carriers' : `/carriers/${carrier}`
  switch (type) {
    case 'link.down':
      return {
        tone: 'bad',
        text: `${name ?? 'Carrier'}: link down`,
        detail: detail && tellLinkError(detail),
        act: ['Check', toCarrier],
      }
    case 'link.throttled':
      return {
        tone: 'warning',
        text: `${name ?? 'Carrier'}: link throttled`,
        detail: 'The carrier allows less than the configured rate',
        act: ['Check', toCarrier],
      }
    case 'webhook.failing':
      return {
        tone: 'bad',
        text: `${webhook} is failing`,
        detail: tellPostError(detail),
        act: ['Open', `/webhooks/${subject}`],
      }
    case 'webhook.disabled':
      return {
        tone: 'bad',
        text: `${webhook} was disabled`,
        detail: detail === 'gone' ? 'It answered 410' : 'It only failed for five days',
        act: ['Open', `/webhooks/${subject}`],
      }
    case 'sender.degraded':
      return {
        tone: 'warning',
        text: (
          <>
            Messages from <PhoneNumber of={subject} /> often fail
          </>
        ),
        act: ['Check', '/senders'],
      }
    case 'reply.orphaned':
      return {
        tone: 'warning',
        text: `Replies at ${name ?? 'a carrier'} reach no account`,
        act: ['Assign', `${subject?.startsWith('car_') ? `/carriers/${subject}` : toCarrier}/replies`],
      }
    case 'message.unconfirmed':
      return {
        tone: 'warning',
        text: `${tellCount(many, 'message')} unconfirmed`,
        detail: 'The carrier did not answer',
        act: ['Decide', '/messages?status=unconfirmed'],
      }
    case 'opt_out.suspected':
      return {
        tone: 'warning',
        text: many === 1 ? '1 reply may mean STOP' : `${formatNumber(many)} replies may mean STOP`,
        act: ['Review', '/opt-outs/suspected'],
      }
    case 'broadcast.awaiting_approval':
      return { tone: 'busy', text: `Broadcast of ${name} awaits approval`, act: ['Review', `/broadcasts/${subject}`] }
    case 'broadcast.held':
      return {
        tone: 'warning',
        text: `Broadcast of ${name} is on hold`,
        detail: `Guard: ${words(detail)}`,
        act: ['View', `/broadcasts/${subject}`],
      }
    case 'guard.stopped':
      return {
        tone: 'bad',
        text: `Guard stops messages: ${words(name)}`,
        detail: count === null ? null : `${tellCount(count, 'message')} refused`,
        act: ['Release', '/guards'],
      }
    case 'guard.near_limit':
      return { tone: 'warning', text: `Limit nearly reached: ${words(name)}`, detail, act: ['View', '/guards'] }
    default:
      return {
        tone: 'neutral',
        text: [words(type.replace('.', ' ')), name].filter(Boolean).join(': '),
        detail,
        act: ['Open', '/events'],
      }
  }
}

const words = (name: string | null): string => (name ?? '').replaceAll('_', ' ')
