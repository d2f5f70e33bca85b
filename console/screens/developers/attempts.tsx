/** Newest first. */
import type { Attempt } from '@heliogram/sdk'
import { useState, type ReactNode } from 'react'
import { Link } from 'wouter'
import { Button } from '../../kit/button.tsx'
import { Time } from '../../kit/show.tsx'
import { Table, type Column } from '../../kit/table.tsx'
import { AttemptDialog, Outcome } from './attempt.tsx'
import { Redeliver } from './redeliver.tsx'

interface AttemptsProps {
  rows: readonly Attempt[]
  /** The common value is not repeated in each row. */
  of: 'webhook' | 'event'
  empty: ReactNode
}

/** Earlier tries show a next time that has passed. */
const isAhead = (at: string | null): boolean => at !== null && Date.parse(at) > Date.now()

export function Attempts({ rows, of, empty }: AttemptsProps) {
  const [shown, setShown] = useState<Attempt>()
  const what: Column<Attempt> =
    of === 'webhook'
      ? {
          title: 'Event',
          cell: ({ event, event_type }) => <Link href={`/events/${event}`}>{event_type ?? event}</Link>,
        }
      : {
          title: 'To',
          cell: ({ webhook, request }) =>
            webhook === null ? (
              (request.url ?? 'a callback address')
            ) : (
              <Link href={`/webhooks/${webhook}`}>{request.url ?? webhook}</Link>
            ),
        }
  return (
    <>
      <Table
        label="Deliveries"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          what,
          { title: 'Outcome', cell: (attempt) => <Outcome of={attempt} /> },
          { title: 'Duration', isNumber: true, cell: ({ duration_ms }) => `${duration_ms} ms` },
          { title: 'Attempt', isNumber: true, cell: (attempt) => attempt.try },
          { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
          {
            title: 'Next retry',
            cell: ({ next_attempt_at }) => <Time at={isAhead(next_attempt_at) ? next_attempt_at : null} />,
          },
          {
            title: '',
            cell: (attempt) => (
              <span className="cell-buttons">
                <Button kind="quiet" onClick={() => setShown(attempt)} aria-label={`Details of attempt ${attempt.try}`}>
                  Details
                </Button>
                {of === 'webhook' && attempt.event_type !== 'webhook.test' && (
                  <Redeliver event={attempt.event} kind="quiet" />
                )}
              </span>
            ),
          },
        ]}
        empty={empty}
      />
      {shown && <AttemptDialog of={shown} onClose={() => setShown(undefined)} />}
    </>
  )
}
