import { useLocation, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
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
  codes: ['Codes', MappingsPart],
  rates: ['Rates', RatesPart],
} as const

const kindNames = { smpp: 'Over SMPP', http: 'By its HTTP API', simulator: 'The simulator, over SMPP' } as const

const isPart = (name: string | undefined): name is keyof typeof parts => name !== undefined && name in parts

export function CarrierScreen() {
  const { id, part } = useParams<{ id: string; part?: string }>()
  const [, go] = useLocation()
  const carrier = useCall('getCarrier', { path: { id } }, { every: 3000 })
  const update = useAction('updateCarrier')
  const remove = useAction('deleteCarrier', 'The carrier was deleted.')
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
            {kindNames[data.kind]}, {data.enabled ? 'enabled' : 'disabled'}
          </>
        ),
        actions: (
          <>
            {data.enabled ? (
              <ConfirmButton
                does="updateCarrier"
                label="Disable"
                question={
                  <p>
                    Its links drain and end. What waits for {data.name} goes to another carrier of its route, or waits
                    until it is enabled again.
                  </p>
                }
                onConfirm={() => update.run({ path: { id }, body: { enabled: false } })}
                isBusy={update.isBusy}
                problem={update.problem}
              />
            ) : (
              <Button
                does="updateCarrier"
                kind="primary"
                isBusy={update.isBusy}
                onClick={() => void update.run({ path: { id }, body: { enabled: true } })}
              >
                Enable
              </Button>
            )}
            <ConfirmButton
              does="deleteCarrier"
              label="Delete"
              question={
                <p>
                  {data.name} is deleted with its links, codes and rates. A carrier that has senders, or that a route
                  names, cannot be deleted: give those another carrier first.
                </p>
              }
              onConfirm={async () => {
                const done = await remove.run({ path: { id } })
                if (done) go('/carriers')
                return done
              }}
              isBusy={remove.isBusy}
              problem={remove.problem}
            />
          </>
        ),
      })}
    >
      <Tabs
        label="Parts of the carrier"
        current={isPart(part) ? `${here}/${part}` : here}
        tabs={[[here, 'Now'], ...Object.entries(parts).map(([name, [title]]) => [`${here}/${name}`, title] as const)]}
      />
      {!data?.enabled && update.problem && <Problem of={update.problem} />}
      <Loaded call={carrier}>{(one) => (one.id === id ? <Part key={id} carrier={one} /> : null)}</Loaded>
    </Page>
  )
}
