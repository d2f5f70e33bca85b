import { useCall } from '../../../api.ts'
import { FilterSelect } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Pager } from '../../../kit/table.tsx'
import { Attempts } from '../attempts.tsx'

export function Deliveries({ webhook }: { webhook: string }) {
  const { filters, set } = useFilters(['delivery'])
  const { delivery, cursor } = filters
  const query = { limit: 20, ...(cursor && { cursor }), ...(delivery && { delivery_success: delivery === 'taken' }) }
  const attempts = useCall('listWebhookDeliveries', { path: { id: webhook }, query }, cursor ? {} : { every: 3000 })
  return (
    <Section title="Deliveries">
      <div className="filters">
        <FilterSelect
          label="Outcome"
          value={delivery}
          onChange={(value) => set('delivery', value)}
          options={[
            ['', 'Any result'],
            ['failed', 'Failed'],
            ['taken', 'Succeeded'],
          ]}
        />
      </div>
      <Loaded call={attempts}>
        {(page) => (
          <>
            <Attempts
              of="webhook"
              rows={page.data}
              empty={
                delivery ? (
                  <Empty title={delivery === 'failed' ? 'No failed deliveries' : 'No successful deliveries'}>
                    Attempts are kept as long as the data retention settings say.
                  </Empty>
                ) : (
                  <Empty title="No deliveries yet">
                    Each attempt appears here with its response and duration. Send a test event or a message.
                  </Empty>
                )
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Section>
  )
}
