/** Imports contacts from a file, after a preview; and lists earlier imports. */
import type { Campaign } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { useFilters } from '../../../kit/filters.tsx'
import { Allowed } from '../../../kit/may.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Badge, formatNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { CampaignFrame } from '../frame.tsx'
import { isOpen } from '../states.ts'
import { NewImport } from './new.tsx'

export function ImportsScreen() {
  return (
    <CampaignFrame>
      {(campaign) => (
        <>
          {isOpen(campaign.status) ? (
            <Allowed to="importContacts">
              <NewImport key={campaign.id} campaign={campaign} />
            </Allowed>
          ) : (
            <p className="notice">This campaign is closed. It accepts no more contacts.</p>
          )}
          <ImportList campaign={campaign} />
        </>
      )}
    </CampaignFrame>
  )
}

function ImportList({ campaign: { id } }: { campaign: Campaign }) {
  const { filters } = useFilters([])
  const imports = useCall('listImports', { path: { campaign: id }, query: { ...filters, limit: 10 } }, { every: 3000 })
  return (
    <Section title="Recent imports">
      <Loaded call={imports}>
        {(page) => (
          <>
            <Table
              label="Imports"
              rows={page.data}
              keyOf={(one) => one.id}
              to={(one) => `/imports/${one.id}`}
              columns={[
                { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
                { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
                {
                  title: 'File',
                  cell: ({ format, dry_run }) => `${format.toUpperCase()}${dry_run ? ', check only' : ''}`,
                },
                { title: 'Rows', isNumber: true, cell: ({ counts }) => formatNumber(counts.processed) },
                { title: 'New', isNumber: true, cell: ({ counts }) => formatNumber(counts.created) },
                { title: 'Updated', isNumber: true, cell: ({ counts }) => formatNumber(counts.updated) },
                { title: 'Bad rows', isNumber: true, cell: ({ counts }) => formatNumber(counts.failed) },
              ]}
              empty={
                <Empty title="No imports yet">Files that you check or import appear here with their results.</Empty>
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Section>
  )
}
