/** Active stops with their times, and their release. */
import type { Guard } from '@heliogram/sdk'
import { useState } from 'react'
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page, Section } from '../../../kit/page.tsx'
import { Badge, formatNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { LimitFacts } from './limits.tsx'
import { ReleaseForm } from './release.tsx'
import { kindNames, tellKey } from './tell.ts'

export function GuardsScreen() {
  const { filters } = useFilters([])
  const guards = useCall('listGuards', { query: { limit: 50, cursor: filters.cursor } }, { every: 3000 })
  const [open, setOpen] = useState<Guard | null>(null)
  return (
    <Page
      title="Guards"
      lead="Guards stop messages before they cost money. A stop lasts until its day or hour ends, or until somebody releases it."
      actions={
        <LinkButton to="/settings" does="updateSettings">
          Set limits
        </LinkButton>
      }
    >
      <Loaded call={guards}>
        {(page) => (
          <>
            <Table
              label="Stops in force"
              rows={page.data}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'State',
                  cell: (guard) => (
                    <>
                      <State of={guard} />
                      <Released of={guard} />
                    </>
                  ),
                },
                { title: 'Guard', cell: ({ kind }) => <span className="wraps">{kindNames[kind]}</span> },
                { title: 'Applies to', cell: (guard) => tellKey(guard) },
                { title: 'Limit', isNumber: true, cell: ({ limit }) => limit },
                { title: 'Refused messages', isNumber: true, cell: ({ count }) => formatNumber(count) },
                { title: 'Since', cell: ({ since }) => <Time at={since} /> },
                { title: 'Until', cell: ({ until }) => <Time at={until} /> },
                {
                  title: '',
                  cell: (guard) => (
                    <span className="row-buttons">
                      <Button
                        does="releaseGuard"
                        onClick={() => setOpen(guard)}
                        aria-label={`Release: ${kindNames[guard.kind]} ${guard.key ?? ''}`}
                      >
                        Release
                      </Button>
                    </span>
                  ),
                },
              ]}
              empty={
                <Empty
                  title="No active stops"
                  action={
                    <LinkButton to="/settings" does="updateSettings">
                      Set limits
                    </LinkButton>
                  }
                >
                  Each active stop is listed here with the number of messages it has refused. Guards are off until you
                  set limits.
                </Empty>
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
      <Section title="Limits" actions={<Link href="/settings">Change limits</Link>}>
        <LimitFacts />
      </Section>
      {open && (
        <Dialog title={`Release: ${kindNames[open.kind]}`} onClose={() => setOpen(null)}>
          <ReleaseForm guard={open} onDone={() => setOpen(null)} />
        </Dialog>
      )}
    </Page>
  )
}

function State({ of: { action, released_until, raised_by } }: { of: Guard }) {
  if (action === 'alert') return <Badge status="alert only" tone="warning" />
  const isReleased = released_until !== null && new Date(released_until).getTime() > Date.now()
  if (isReleased) return <Badge status="released" tone="good" />
  return raised_by === null ? <Badge status="stopping" tone="bad" /> : <Badge status="raised" tone="good" />
}

function Released({ of: { released_at, released_until, raised_by, reason } }: { of: Guard }) {
  if (released_at === null) return null
  return (
    <span className="note">
      <Time at={released_at} />
      {raised_by !== null && <> by {raised_by} more</>}
      {released_until !== null && (
        <>
          , until <Time at={released_until} />
        </>
      )}
      {reason !== null && <>: {reason}</>}
    </span>
  )
}
