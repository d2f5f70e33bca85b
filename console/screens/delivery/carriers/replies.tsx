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
    <Section title="Replies without an account">
      <p className="hint">
        People wrote to these numbers at {carrier.name}, but no account has them as a sender. Add the number as a sender
        of this carrier and its account gets the replies within seconds. Or assign them to one of your senders.
      </p>
      <Loaded call={replies}>
        {(page) => (
          <>
            <Table
              label="Replies without an account"
              rows={page.data}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Received', cell: ({ received_at }) => <Time at={received_at} /> },
                { title: 'From', cell: ({ from }) => <PhoneNumber of={from} /> },
                { title: 'To', cell: ({ to }) => <PhoneNumber of={to} /> },
                {
                  title: 'Text',
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
                <Empty title="No replies without an account">
                  Replies to numbers that no account has are kept here for 90 days.
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
  const give = useAction('giveOrphanReply', 'Replies assigned. They arrive within seconds.')
  const [chosen, setChosen] = useState('')
  const sender = chosen || (senders[0]?.id ?? '')
  if (senders.length === 0) return null
  return (
    <ConfirmButton
      does="giveOrphanReply"
      label="Assign to a sender"
      isDanger={false}
      question={
        <>
          <p>
            The sender’s account receives all replies to <PhoneNumber of={to} />, as if they arrived now. STOP replies
            opt people out. START replies don’t opt them in.
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
  const dismiss = useAction('dismissOrphanReply', 'Replies deleted.')
  return (
    <ConfirmButton
      does="dismissOrphanReply"
      label="Dismiss"
      question={
        <p>
          This deletes the reply and older replies to <PhoneNumber of={to} />. STOP replies among them don’t opt anybody
          out.
        </p>
      }
      onConfirm={() => dismiss.run({ path: { id } })}
      isBusy={dismiss.isBusy}
      problem={dismiss.problem}
    />
  )
}
