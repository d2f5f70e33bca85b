import { useEffect } from 'react'
import { useCall } from '../../../api.ts'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Moment } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'

interface ExplanationProps {
  id: string
  sequence: number
  live: { every?: number }
}

export function Explanation({ id, sequence, live }: ExplanationProps) {
  const call = useCall('explainMessage', { path: { id } }, live)
  const { refetch } = call
  useEffect(() => {
    void refetch()
  }, [refetch, sequence])
  return (
    <Section title="Why it went where it went">
      <Loaded call={call}>
        {({ decisions }) => (
          <Table
            label="Decisions"
            rows={decisions.map((decision, n) => ({ ...decision, n }))}
            keyOf={({ n }) => n}
            columns={[
              { title: 'Step', cell: ({ step }) => step },
              { title: 'What was decided', isWide: true, cell: ({ detail }) => <span title={detail}>{detail}</span> },
              {
                title: 'By which rule',
                cell: ({ rule }) => rule && <code>{rule}</code>,
              },
              { title: 'When', cell: ({ at }) => <Moment at={at} /> },
            ]}
            empty={<Empty title="No decisions yet">Each decision about the message appears here with its rule.</Empty>}
          />
        )}
      </Loaded>
    </Section>
  )
}
