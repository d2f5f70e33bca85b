/** The broadcasts of all campaigns. */
import type { Broadcast } from '@heliogram/sdk'
import { useCall } from '../../../api.ts'
import { FilterSelect } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { Pager } from '../../../kit/table.tsx'
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
  const campaigns = useCall('listCampaigns', { query: { limit: 200 } })
  const names = new Map(campaigns.data?.data.map(({ id, name }) => [id, name]))
  const broadcasts = useCall('listAllBroadcasts', { query }, { every: 3000 })
  return (
    <Page title="Broadcasts" lead="One message to the contacts of a campaign, from all campaigns, newest first.">
      <div className="filters">
        <FilterSelect
          label="Status"
          value={status}
          onChange={(value) => set('status', value)}
          options={[['', 'Any status'], ...Object.entries(statuses)]}
        />
      </div>
      <Loaded call={broadcasts}>
        {(page) => (
          <>
            <BroadcastTable
              rows={page.data}
              campaigns={names}
              empty={
                <Empty
                  title={isStatus(status) ? `No ${statuses[status].toLowerCase()} broadcasts` : 'No broadcasts yet'}
                >
                  To send one, open a campaign and choose “Create broadcast”.
                </Empty>
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Page>
  )
}
