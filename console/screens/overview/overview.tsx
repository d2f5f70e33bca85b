import type { Summary } from '@heliogram/sdk'
import { lazy, Suspense } from 'react'
import { useCall, useZone } from '../../api.ts'
import { LinkButton } from '../../kit/button.tsx'
import { Allowed } from '../../kit/may.tsx'
import { loadPart } from '../../kit/outdated.ts'
import { Loaded, Page } from '../../kit/page.tsx'
import { Attention } from './attention.tsx'
import { Broadcasts } from './broadcasts.tsx'
import { Countries } from './countries.tsx'
import { Latest } from './latest.tsx'
import { Links } from './links.tsx'
import { Throughput } from './throughput.tsx'
import { Tiles } from './tiles.tsx'
import { useDay } from './today.ts'

// New accounts only.
const FirstRun = lazy(() => loadPart(() => import('./first-run.tsx')))

const everyMs = 10_000

/** Twice as often while something moves, half as often while nothing does: it is never the same twice. */
const paceOf = (answer: Summary | undefined): number =>
  answer && Object.values(answer.rates).every((rate) => rate === 0) ? 2 * everyMs : everyMs / 2

export function OverviewScreen() {
  const zone = useZone()
  const { day } = useDay()
  const summary = useCall('getSummary', {}, { every: paceOf })
  return (
    <Page
      title="Home"
      lead={day && `Today, ${zone?.replaceAll('_', ' ') ?? 'on this browser’s clock'}`}
      actions={
        <LinkButton to="/messages/new" does="sendMessage" kind="primary">
          New message
        </LinkButton>
      }
    >
      <Loaded call={summary}>
        {(data) => (
          <>
            <Suspense>
              <FirstRun summary={data} />
            </Suspense>
            {day && <Tiles summary={data} day={day} />}
            <div className="home">
              <div className="home-main">
                <Allowed to="getSeries">
                  <Throughput rate={data.rates.sent} />
                </Allowed>
                {data.carriers && <Links carriers={data.carriers} />}
              </div>
              <div className="home-side">
                <Attention summary={data} />
                {data.broadcasts && <Broadcasts of={data.broadcasts} />}
                {day && <Countries day={day} />}
              </div>
            </div>
          </>
        )}
      </Loaded>
      <Latest everyMs={everyMs / 2} />
    </Page>
  )
}
