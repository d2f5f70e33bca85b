/** Replies to unknown numbers: people assign them to a sender, or dismiss them. */
import type { Carrier, OrphanReply, Sender } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction, useCall } from '../../../api.ts'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Badge, None, PhoneNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'

export function RepliesPart({ carrier }: { carrier: Carrier }) {
  const { filters } = useFilters([])
  const query = { carrier: carrier.id, limit: 20, cursor: filters.cursor }
  const replies = useCall('listOrphanReplies', { query }, { every: 5000 })
  const senders = useCall('listSenders', { query: { carrier: carrier.id, limit: 200 } }, { isSide: true })
  return (
    <Section title="Replies that no account gets">
      <p className="hint">
        People wrote to these numbers, and no account has them at {carrier.name}. Register a number as a sender of this
        carrier and its account gets the replies within seconds. If the carrier means another number of yours, give them
        to that sender.
      </p>
      <Loaded call={replies}>
        {(page) => (
          <>
            <Table
              label="Replies that no account gets"
              rows={page.data}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Received', cell: ({ received_at }) => <Time at={received_at} /> },
                { title: 'From', cell: ({ from }) => <PhoneNumber of={from} /> },
                { title: 'To', cell: ({ to }) => <PhoneNumber of={to} /> },
                {
                  title: 'Says',
                  cell: ({ message, keyword }) => (
                    <span className="wraps">
                      {keyword !== null && <Badge status={keyword} tone="warning" />} {message ?? <None />}
                    </span>
                  ),
                },
                {
                  title: '',
                  cell: (reply) => (
                    <div className="buttons">
                      <Give of={reply} senders={senders.data?.data ?? []} />
                      <Dismiss of={reply} />
                    </div>
                  ),
                },
              ]}
              empty={
                <Empty title="Every reply has its account">
                  A reply to a number that no account has is kept here for 90 days.
                </Empty>
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Section>
  )
}

function Give({ of: { id, to }, senders }: { of: OrphanReply; senders: Sender[] }) {
  const give = useAction('giveOrphanReply', 'The replies arrive at their account within seconds.')
  const [chosen, setChosen] = useState('')
  const sender = chosen || (senders[0]?.id ?? '')
  if (senders.length === 0) return null
  return (
    <ConfirmButton
      does="giveOrphanReply"
      label="Give to a sender"
      isDanger={false}
      question={
        <>
          <p>
            The account of the sender gets all replies to <PhoneNumber of={to} />, as if they came now. STOP counts,
            START does not.
          </p>
          <select aria-label="Sender" value={sender} onChange={(event) => setChosen(event.target.value)}>
            {senders.map((one) => (
              <option key={one.id} value={one.id}>
                {one.number}
              </option>
            ))}
          </select>
        </>
      }
      onConfirm={() => give.run({ path: { id }, body: { sender } })}
      isBusy={give.isBusy}
      problem={give.problem}
    />
  )
}

function Dismiss({ of: { id, to } }: { of: OrphanReply }) {
  const dismiss = useAction('dismissOrphanReply', 'The replies are deleted.')
  return (
    <ConfirmButton
      does="dismissOrphanReply"
      label="Dismiss"
      question={
        <p>
          This reply and the older ones to <PhoneNumber of={to} /> are deleted. A STOP in them is not obeyed.
        </p>
      }
      onConfirm={() => dismiss.run({ path: { id } })}
      isBusy={dismiss.isBusy}
      problem={dismiss.problem}
    />
  )
}
