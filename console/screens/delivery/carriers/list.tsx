import { useCall } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { AlertsSection } from './alerts.tsx'
import { LinkTable } from './link-table.tsx'
import { QueueSection } from './queue.tsx'

const everyMs = 3000

export function CarriersScreen() {
  const carriers = useCall('listCarriers', {}, { every: everyMs })
  return (
    <Page
      title="Carriers"
      lead="Connections to carriers and their live state."
      actions={
        <LinkButton to="/carriers/new" does="createCarrier" kind="primary" isNew>
          Add a carrier
        </LinkButton>
      }
    >
      <Loaded call={carriers}>
        {({ data }) => (
          <>
            <LinkTable
              label="Links of carriers"
              rows={data.flatMap((carrier) => carrier.links.map((link) => ({ carrier, link })))}
              empty={
                <Empty
                  title="No carriers yet"
                  action={
                    <LinkButton to="/carriers/new" does="createCarrier">
                      Add a carrier
                    </LinkButton>
                  }
                >
                  A carrier takes messages to phones, over SMPP or HTTP.
                </Empty>
              }
            />
            <QueueSection carriers={data} />
          </>
        )}
      </Loaded>
      <AlertsSection />
    </Page>
  )
}
