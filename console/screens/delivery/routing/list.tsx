/** In order: the first route that matches takes a message. */
import type { Carrier, Route } from '@heliogram/sdk'
import { useSearchParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { Badge } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { MoveButtons } from './move.tsx'
import { tellMatch } from './tell.ts'

const pageSize = 50

export function RoutesScreen() {
  const [params] = useSearchParams()
  const from = Number(params.get('from') ?? '1') || 1
  const routes = useCall('listRoutes', { query: { from, limit: pageSize } })
  const carriers = useCall('listCarriers', {}, { isSide: true })
  const update = useAction('updateRoute')
  const nameOf = (id: string) => carriers.data?.data.find((carrier) => carrier.id === id)?.name ?? id
  return (
    <Page
      title="Routes"
      lead="Which carrier takes which message. The first that matches is taken; where none does, the best carrier by priority."
      actions={
        <>
          <LinkButton to="/routes/test">Test routing</LinkButton>
          <LinkButton to="/routes/new" does="createRoute" kind="primary" isNew>
            Add a route
          </LinkButton>
        </>
      }
    >
      {update.problem && <Problem of={update.problem} />}
      <Loaded call={routes}>
        {({ data, has_more }) => (
          <>
            <Table
              label="Routes"
              rows={data}
              keyOf={({ id }) => id}
              to={({ id }) => `/routes/${id}`}
              columns={[
                { title: 'Name', cell: ({ position, name }) => `${position}. ${name ?? 'without a name'}` },
                { title: 'Matches', cell: (route) => <Match of={route} /> },
                { title: 'Goes to', cell: (route) => <Chain of={route} nameOf={nameOf} /> },
                { title: 'State', cell: ({ enabled }) => <Badge status={enabled ? 'enabled' : 'disabled'} /> },
                {
                  title: 'Order',
                  cell: (route) => (
                    <MoveButtons route={route} isLast={!has_more && route.id === data[data.length - 1]?.id} />
                  ),
                },
                {
                  title: '',
                  cell: ({ id, enabled, name }) => (
                    <span className="row-buttons">
                      <Button
                        does="updateRoute"
                        disabled={update.isBusy}
                        aria-label={`${enabled ? 'Disable' : 'Enable'} ${name ?? id}`}
                        onClick={() => void update.run({ path: { id }, body: { enabled: !enabled } })}
                      >
                        {enabled ? 'Disable' : 'Enable'}
                      </Button>
                    </span>
                  ),
                },
              ]}
              empty={
                <Empty
                  title="No routes yet"
                  action={
                    <LinkButton to="/routes/new" does="createRoute">
                      Add a route
                    </LinkButton>
                  }
                >
                  Without routes a message goes to the best carrier, by priority, that has its sender, and after a
                  refusal to the next. Routes say otherwise for some messages: by country, prefix, sender, type or
                  account.
                </Empty>
              }
            />
            {(from > 1 || has_more) && (
              <nav className="pager" aria-label="Pages">
                {from > 1 && <LinkButton to={`/routes?from=${Math.max(1, from - pageSize)}`}>← Earlier</LinkButton>}
                {has_more && <LinkButton to={`/routes?from=${from + pageSize}`}>Later →</LinkButton>}
              </nav>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Match({ of: { match, warnings } }: { of: Route }) {
  return (
    <span className="wraps">
      {tellMatch(match)}
      {warnings.map(({ code, detail, route }) => (
        <div key={`${code} ${route}`}>
          <Badge status={code} tone="warning" /> <span className="small">{detail}</span>
        </div>
      ))}
    </span>
  )
}

function Chain({ of: { carriers, failover }, nameOf }: { of: Route; nameOf: (id: Carrier['id']) => string }) {
  if (carriers.length === 0) return <Badge status="refused" tone="bad" />
  const total = carriers.reduce((sum, { weight }) => sum + (weight ?? 1), 0)
  const shares = carriers.map(({ carrier, weight = 1 }) =>
    carriers.length === 1
      ? nameOf(carrier)
      : `${nameOf(carrier)} ${total > 0 ? Math.round((weight / total) * 100) : 0} %`,
  )
  return (
    <span className="wraps">
      {shares.join(', ')}
      {failover.length > 0 && (
        <span className="small"> then {failover.map(({ carrier }) => nameOf(carrier)).join(', ')}</span>
      )}
    </span>
  )
}

/** Deletes a route, and says where its messages go. */
export function DeleteRoute({ id, onDone }: { id: string; onDone: () => void }) {
  const remove = useAction('deleteRoute', 'The route was deleted.')
  return (
    <ConfirmButton
      does="deleteRoute"
      label="Delete"
      question={
        <p>What it took goes by the next route that matches, or by the default route: the best carrier first.</p>
      }
      onConfirm={async () => {
        const done = await remove.run({ path: { id } })
        if (done) onDone()
        return done
      }}
      isBusy={remove.isBusy}
      problem={remove.problem}
    />
  )
}
