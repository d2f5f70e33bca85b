import type { AuditEvent } from '@heliogram/sdk'
import { useState } from 'react'
import { useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { FilterDay, FilterText } from '../../../kit/filter-inputs.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { endOfDay } from '../../../kit/moments.ts'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { Views } from '../../../kit/views.tsx'
import { AuditDialog } from './dialog.tsx'
import { Target } from './target.tsx'
import { VerifyButton } from './verify.tsx'

export function AuditScreen() {
  const { filters, set, clear } = useFilters(['actor', 'action', 'target', 'from', 'to'])
  const { actor, action, target, from, to, cursor } = filters
  const query = {
    ...(actor && { actor }),
    ...(action && { action }),
    ...(target && { target }),
    ...(from && { created_after: `${from}T00:00:00Z` }),
    ...(to && { created_before: endOfDay(to) }),
    ...(cursor && { cursor }),
  }
  const isFiltered = Boolean(actor ?? action ?? target ?? from ?? to)
  const events = useCall('listAuditEvents', { query }, cursor ? {} : { every: 5000 })
  const names = useNames()
  const [shown, setShown] = useState<AuditEvent>()
  const actorOf = ({ actor: { kind, id } }: AuditEvent) => (id === null ? kind : (names.get(id) ?? id))
  return (
    <Page
      title="Audit log"
      lead="Who changed what, when and from where. Entries can’t be changed."
      actions={<VerifyButton />}
    >
      <div className="filters">
        <FilterText label="Actor: an id, or system" value={actor} onChange={(value) => set('actor', value)} />
        <FilterText label="Action" value={action} onChange={(value) => set('action', value)} />
        <FilterText label="ID of what was changed" value={target} onChange={(value) => set('target', value)} />
        <FilterDay label="After" value={from} onChange={(value) => set('from', value)} />
        <FilterDay label="Before" value={to} onChange={(value) => set('to', value)} />
        {isFiltered && (
          <Button kind="quiet" onClick={clear}>
            Clear
          </Button>
        )}
        <Views list="audit" />
      </div>
      <Loaded call={events}>
        {(page) => (
          <>
            <Table
              label="Audit log"
              list="audit"
              rows={page.data}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'Action',
                  cell: (event) => (
                    <Button kind="quiet" className="as-link" onClick={() => setShown(event)}>
                      {event.action}
                    </Button>
                  ),
                },
                {
                  title: 'Who',
                  cell: (event) => (
                    <Button
                      kind="quiet"
                      className="as-link"
                      title="Only what they did"
                      onClick={() => set('actor', event.actor.id ?? 'system')}
                    >
                      {actorOf(event)}
                    </Button>
                  ),
                },
                { title: 'What', isWide: true, cell: (event) => <Target of={event} /> },
                { title: 'From', cell: ({ ip }) => ip },
                { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
              ]}
              empty={
                isFiltered ? (
                  <Empty title="No matching entries" action={<Button onClick={clear}>Show all</Button>}>
                    Actions have names such as webhook.created or settings.updated.
                  </Empty>
                ) : (
                  <Empty title="No changes yet">Each administrative change is recorded here.</Empty>
                )
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
      {shown && <AuditDialog of={shown} actor={actorOf(shown)} onClose={() => setShown(undefined)} />}
    </Page>
  )
}

/** Users' addresses and keys' names, if they still exist. */
function useNames(): Map<string, string> {
  const query = { limit: 200 }
  const users = useCall('listUsers', { query }, { isSide: true })
  const keys = useCall('listApiKeys', { query })
  return new Map([
    ...(users.data?.data ?? []).map(({ id, email }): [string, string] => [id, email]),
    ...(keys.data?.data ?? []).map(({ id, name }): [string, string] => [id, `key ${name}`]),
  ])
}
