/** The broadcasts of all campaigns: what is on its way, and what waits for somebody to approve of it. */
import type { Broadcast } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { FilterSelect } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { CampaignTabs } from '../tabs.tsx'
import { BroadcastTable } from './table.tsx'

/** Every status, in the order in which a broadcast goes through them. */
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
      <CampaignTabs />
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
