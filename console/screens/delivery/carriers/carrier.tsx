import { useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Loaded, Page } from '../../../kit/page.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { Tabs } from '../../../kit/tabs.tsx'
import { LinksPart } from './links.tsx'
import { MappingsPart } from './mappings.tsx'
import { NowPart } from './now.tsx'
import { RatesPart } from './rates.tsx'
import { ReceiptsPart } from './receipts.tsx'
import { RepliesPart } from './replies.tsx'
import { SettingsPart } from './settings.tsx'

const parts = {
  settings: ['Settings', SettingsPart],
  links: ['Links', LinksPart],
  receipts: ['Receipts', ReceiptsPart],
  replies: ['Replies', RepliesPart],
  codes: ['Status mappings', MappingsPart],
  rates: ['Rates', RatesPart],
} as const

const kindNames = { smpp: 'SMPP', http: 'HTTP', simulator: 'Simulator, over SMPP' } as const

const isPart = (name: string | undefined): name is keyof typeof parts => name !== undefined && name in parts

export function CarrierScreen() {
  const { id, part } = useParams<{ id: string; part?: string }>()
  const carrier = useCall('getCarrier', { path: { id } }, { every: 3000 })
  const update = useAction('updateCarrier', 'Carrier enabled.')
  const here = `/carriers/${id}`
  const Part = isPart(part) ? parts[part][1] : NowPart
  const { data } = carrier
  return (
    <Page
      title={data?.name ?? 'Carrier'}
      back={{ to: '/carriers', title: 'Carriers' }}
      {...(data && {
        lead: (
          <>
            {kindNames[data.kind]} · {data.enabled ? 'enabled' : 'disabled'}
            {data.kind === 'simulator' && (
              <>
                {' · '}
                <a href="/phones" target="_blank" rel="noreferrer">
                  Simulated phones
                </a>
              </>
            )}
          </>
        ),
        actions: data.enabled ? (
          <LinkButton
            to={data.kind === 'simulator' ? '/messages/new?to=%2B12025550123' : '/messages/new'}
            does="sendMessage"
          >
            Send a test message
          </LinkButton>
        ) : (
          <Button
            does="updateCarrier"
            kind="primary"
            isBusy={update.isBusy}
            onClick={() => void update.run({ path: { id }, body: { enabled: true } })}
          >
            Enable
          </Button>
        ),
      })}
    >
      <Tabs
        label="Parts of the carrier"
        current={isPart(part) ? `${here}/${part}` : here}
        tabs={[
          [here, 'Overview'],
          ...Object.entries(parts).map(([name, [title]]) => [`${here}/${name}`, title] as const),
        ]}
      />
      {!data?.enabled && update.problem && <Problem of={update.problem} />}
      {/* A form inside leaves the width of the page as it is. */}
      <div>
        <Loaded call={carrier}>{(one) => (one.id === id ? <Part key={id} carrier={one} /> : null)}</Loaded>
      </div>
    </Page>
  )
}
