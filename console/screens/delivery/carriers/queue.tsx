import type { Carrier, Queue } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { formatNumber, tellCount, Time } from '../../../kit/show.tsx'
import { Table, type Column } from '../../../kit/table.tsx'
import { typeNames } from '../../../kit/message-types.ts'
import { formatSeconds } from '../format.ts'

type Part = Pick<Queue['parts'][number], 'type' | 'messages' | 'segments' | 'oldest_age_seconds' | 'drain_seconds'>

const columns: Column<Part>[] = [
  { title: 'Messages', isNumber: true, cell: ({ messages }) => formatNumber(messages) },
  { title: 'Segments', isNumber: true, cell: ({ segments }) => formatNumber(segments) },
  {
    title: 'Oldest',
    isNumber: true,
    cell: ({ oldest_age_seconds }) => formatSeconds(oldest_age_seconds),
  },
  {
    title: 'Drains in',
    isNumber: true,
    cell: ({ drain_seconds, messages }) =>
      drain_seconds === null && messages > 0 ? 'No link available' : formatSeconds(messages > 0 ? drain_seconds : null),
  },
]

export function QueueSection({ carriers }: { carriers: readonly Carrier[] }) {
  const queue = useCall('getQueue', {}, { every: 3000 })
  const nameOf = (id: string | null) =>
    id === null ? (
      <span title="Not routed yet">Any carrier</span>
    ) : (
      <Link href={`/carriers/${id}`}>{carriers.find((carrier) => carrier.id === id)?.name ?? id}</Link>
    )
  return (
    <Section title="Queue">
      <Loaded call={queue}>
        {({ parts, delayed }) => (
          <>
            <Table
              label="Queue"
              rows={parts}
              keyOf={({ carrier, type, held }) => `${carrier} ${type} ${held}`}
              columns={[
                { title: 'Carrier', cell: ({ carrier }) => nameOf(carrier) },
                {
                  title: 'Type',
                  cell: ({ type, held }) => (
                    <>
                      {typeNames[type]}
                      {held && <span className="small"> – held: account suspended or paused</span>}
                    </>
                  ),
                },
                ...columns,
              ]}
              empty={<Empty title="Queue is empty">Accepted messages wait here until a link sends them.</Empty>}
            />
            {delayed.messages > 0 && (
              <p className="lead gap">
                {tellCount(delayed.messages, 'scheduled message')} and retries. The next is due{' '}
                <Time at={delayed.next_due_at} />.
              </p>
            )}
          </>
        )}
      </Loaded>
    </Section>
  )
}

export function CarrierQueue({ queue }: { queue: Carrier['queue'] }) {
  return (
    <Section title="Queue">
      <Table
        label="Queue"
        rows={queue.filter(({ messages }) => messages > 0)}
        keyOf={({ type }) => type}
        columns={[{ title: 'Type', cell: ({ type }) => typeNames[type] }, ...columns]}
        empty={<Empty title="Queue is empty" />}
      />
    </Section>
  )
}
