import { useLocation, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page, Section } from '../../../kit/page.tsx'
import { Copy, Facts, formatNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { PoolForm, strategyNames } from './pool-form.tsx'

const back = { to: '/senders/pools', title: 'Pools' }

export function PoolsScreen() {
  const { filters } = useFilters([])
  const pools = useCall('listSenderPools', { query: { limit: 50, cursor: filters.cursor } })
  return (
    <Page
      title="Sender pools"
      lead="Groups of senders that share messages. Messages and campaigns can use a pool as their sender."
      actions={
        <LinkButton to="/senders/pools/new" does="createSenderPool" kind="primary" isNew>
          Add a pool
        </LinkButton>
      }
    >
      <Loaded call={pools}>
        {(page) => (
          <>
            <Table
              label="Pools"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/senders/pools/${id}`}
              columns={[
                { title: 'Name', cell: ({ name }) => name },
                { title: 'Strategy', cell: ({ strategy }) => strategyNames[strategy] },
                { title: 'Senders', isNumber: true, cell: ({ senders }) => formatNumber(senders.length) },
                { title: 'Changed', cell: ({ updated_at }) => <Time at={updated_at} /> },
              ]}
              empty={
                <Empty
                  title="No pools yet"
                  action={
                    <LinkButton to="/senders/pools/new" does="createSenderPool">
                      Add a pool
                    </LinkButton>
                  }
                >
                  A pool shares messages among several senders. Senders from the recipient’s country are used first.
                </Empty>
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

export function NewPoolScreen() {
  const [, go] = useLocation()
  const create = useAction('createSenderPool', 'Pool added.')
  return (
    <Page title="Add a pool" back={back}>
      <PoolForm
        pool={null}
        problem={create.problem}
        isBusy={create.isBusy}
        onSubmit={async (body) => {
          if (await create.run({ body })) go('/senders/pools')
        }}
      />
    </Page>
  )
}

export function PoolScreen() {
  const { id } = useParams<{ id: string }>()
  const [, go] = useLocation()
  const pool = useCall('getSenderPool', { path: { id } })
  const update = useAction('updateSenderPool', 'Pool saved.')
  const remove = useAction('deleteSenderPool', 'Pool deleted.')
  return (
    <Page
      title={pool.data?.name ?? 'Pool'}
      back={back}
      actions={
        <ConfirmButton
          does="deleteSenderPool"
          label="Delete"
          question={
            <p>Messages can no longer use this pool. Its senders stay. You can’t delete a pool that a campaign uses.</p>
          }
          onConfirm={async () => {
            const done = await remove.run({ path: { id } })
            if (done) go('/senders/pools')
            return done
          }}
          isBusy={remove.isBusy}
          problem={remove.problem}
        />
      }
    >
      <Loaded call={pool}>
        {(one) => (
          <>
            <PoolForm
              key={one.id}
              pool={one}
              problem={update.problem}
              isBusy={update.isBusy}
              onSubmit={async (body) => {
                await update.run({ path: { id }, body })
              }}
            />
            <Section title="Details">
              <Facts
                facts={[
                  ['ID', <Copy key="id" text={one.id} />],
                  ['Changed', <Time key="updated" at={one.updated_at} />],
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}
