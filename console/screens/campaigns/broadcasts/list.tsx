import { useCall } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Pager } from '../../../kit/table.tsx'
import { BroadcastTable } from './table.tsx'

export function BroadcastList({ campaign, isOpen }: { campaign: string; isOpen: boolean }) {
  const { filters } = useFilters([])
  const broadcasts = useCall(
    'listBroadcasts',
    { path: { campaign }, query: { ...filters, limit: 10 } },
    { every: 5000 },
  )
  return (
    <Section title="Broadcasts">
      <Loaded call={broadcasts}>
        {(page) => (
          <>
            <BroadcastTable
              rows={page.data}
              empty={
                <Empty
                  title="No broadcasts yet"
                  action={
                    isOpen && (
                      <LinkButton to={`/campaigns/${campaign}/send`} does="sendCampaign">
                        Create broadcast
                      </LinkButton>
                    )
                  }
                >
                  A broadcast sends one message to all contacts of the campaign, or to those with a tag, now or later.
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
