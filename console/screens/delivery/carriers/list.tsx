import { useCall } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { NoCarriers } from '../../../kit/no-carriers.tsx'
import { Loaded, Page } from '../../../kit/page.tsx'
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
              empty={<NoCarriers />}
            />
            <QueueSection carriers={data} />
          </>
        )}
      </Loaded>
      <AlertsSection />
    </Page>
  )
}
