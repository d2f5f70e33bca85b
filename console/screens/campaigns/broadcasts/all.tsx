/** The broadcasts of all campaigns, including those that need approval. */
import type { Broadcast } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { FilterSelect } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { BroadcastTable } from './table.tsx'

/** In the order of a broadcast's life. */
const statuses: Record<Broadcast['status'], string> = {
  awaiting_approval: 'Awaiting approval',
  scheduled: 'Scheduled',
  sending: 'Sending',
  paused: 'Paused',
  completed: 'Completed',
  canceled: 'Canceled',
  rejected: 'Rejected',
  withdrawn: 'Withdrawn',
}

const isStatus = (value: string | undefined): value is Broadcast['status'] => value !== undefined && value in statuses

export function BroadcastsScreen() {
  const { filters, set } = useFilters(['status'])
  const { status, cursor } = filters
  const query = { cursor, ...(isStatus(status) && { status }) }
  const broadcasts = useCall('listAllBroadcasts', { query }, { every: 3000 })
  return (
    <Page
      title="Broadcasts"
      lead="The broadcasts of all campaigns, newest first. A broadcast sends one text to the contacts of a campaign."
    >
      <div className="filters">
        <FilterSelect
          label="Status"
          value={status}
          onChange={(value) => set('status', value)}
          options={[['', 'Every status'], ...Object.entries(statuses)]}
        />
      </div>
      <Loaded call={broadcasts}>
        {(page) => (
          <BroadcastTable
            page={page}
            empty={
              <Empty
                title={isStatus(status) ? `No broadcast is ${statuses[status].toLowerCase()}` : 'No broadcasts yet'}
              >
                To order a broadcast, open a campaign and choose “Send to contacts”.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Page>
  )
}
