import type { Consent } from '@heliogram/sdk'
import { Link, useSearchParams } from 'wouter'
import { download, useCall } from '../../../api.ts'
import { textHidden } from '../../../kit/may.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Badge, Moment } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { DownloadButton } from '../../../kit/task.tsx'

export function ConsentLedger({ number }: { number: string }) {
  const [params] = useSearchParams()
  const cursor = params.get('cursor') ?? undefined
  const call = useCall('listConsent', { query: { number, cursor } })
  return (
    <Section
      title="Consent history"
      actions={
        <DownloadButton
          does="exportConsent"
          label="Export CSV"
          onDownload={() => download('exportConsent', { query: { number } }, `consent-${number}.csv`)}
        />
      }
    >
      <Loaded call={call}>
        {(page) => (
          <>
            <Table
              label="Consent history"
              rows={page.data}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'Status',
                  cell: ({ status }) => <Badge status={status} tone={status === 'opted_out' ? 'bad' : 'good'} />,
                },
                { title: 'Source', cell: ({ source }) => source },
                { title: 'Proof', isWide: true, cell: (consent) => <Proof of={consent} /> },
                { title: 'When', cell: ({ recorded_at: at }) => <Moment at={at} /> },
              ]}
              empty={
                <Empty title="No consent recorded for this number">
                  STOP and START replies, consent recorded through the API, and opt-outs that you add appear here with
                  their proof.
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

function Proof({ of: { message, evidence } }: { of: Consent }) {
  const said = Object.entries(evidence ?? {}).flatMap(([name, value]) =>
    typeof value === 'string' ? [`${name}: ${value}`] : name === 'text' && value === null ? [textHidden] : [],
  )
  return (
    <>
      {message && <Link href={`/messages/${message}`}>Reply</Link>} {said.join(', ')}
    </>
  )
}
