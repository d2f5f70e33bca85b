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
            ['', 'All outcomes'],
            ['failed', 'Failed'],
            ['taken', 'Taken'],
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
                  <Empty title={delivery === 'failed' ? 'No post has failed' : 'No post has succeeded'}>
                    Attempts are kept for 30 days, or as the settings say.
                  </Empty>
                ) : (
                  <Empty title="Nothing was posted yet">
                    Each post appears here with the answer and how long it took. Send a test event or a message.
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
