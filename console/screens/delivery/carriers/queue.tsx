import type { Carrier, Queue } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { formatNumber, Time } from '../../../kit/show.tsx'
import { Table, type Column } from '../../../kit/table.tsx'
import { typeNames } from '../../../kit/message-types.ts'
import { formatSeconds } from '../format.ts'

type Part = Pick<Queue['parts'][number], 'type' | 'messages' | 'segments' | 'oldest_age_seconds' | 'drain_seconds'>

const columns: Column<Part>[] = [
  { title: 'Messages', isNumber: true, cell: ({ messages }) => formatNumber(messages) },
  { title: 'Segments', isNumber: true, cell: ({ segments }) => formatNumber(segments) },
  {
    title: 'The first has waited',
    isNumber: true,
    cell: ({ oldest_age_seconds }) => formatSeconds(oldest_age_seconds),
  },
  {
    title: 'Gone in',
    isNumber: true,
    cell: ({ drain_seconds, messages }) =>
      drain_seconds === null && messages > 0 ? 'no link takes it' : formatSeconds(messages > 0 ? drain_seconds : null),
  },
]

export function QueueSection({ carriers }: { carriers: readonly Carrier[] }) {
  const queue = useCall('getQueue', {}, { every: 3000 })
  const nameOf = (id: string | null) =>
    id === null ? (
      <span title="Not sorted yet: any may take them">Any carrier</span>
    ) : (
      <Link href={`/carriers/${id}`}>{carriers.find((carrier) => carrier.id === id)?.name ?? id}</Link>
    )
  return (
    <Section title="What waits">
      <Loaded call={queue}>
        {({ parts, delayed }) => (
          <>
            <Table
              label="What waits"
              rows={parts}
              keyOf={({ carrier, type, held }) => `${carrier} ${type} ${held}`}
              columns={[
                { title: 'For', cell: ({ carrier }) => nameOf(carrier) },
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
              empty={
                <Empty title="Nothing waits">
                  Messages stand here from when they are accepted until a link takes them.
                </Empty>
              }
            />
            {delayed.messages > 0 && (
              <p className="lead gap">
                {formatNumber(delayed.messages)} more wait for a time, scheduled ones and retries; the next falls due{' '}
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
    <Section title="What waits for it">
      <Table
        label="What waits for it"
        rows={queue}
        keyOf={({ type }) => type}
        columns={[{ title: 'Type', cell: ({ type }) => typeNames[type] }, ...columns]}
        empty={<Empty title="Nothing waits for it" />}
      />
    </Section>
  )
}
