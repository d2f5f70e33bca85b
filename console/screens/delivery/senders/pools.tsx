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
      lead="In a pool senders share messages. A message names a pool in the place of a sender, or its campaign does."
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
                { title: 'Shares', cell: ({ strategy }) => strategyNames[strategy] },
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
                  A pool lets several of your senders share messages; those of the recipient’s country are preferred.
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
  const create = useAction('createSenderPool', 'The pool was added.')
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
  const update = useAction('updateSenderPool', 'The pool was changed.')
  const remove = useAction('deleteSenderPool', 'The pool was deleted.')
  return (
    <Page
      title={pool.data?.name ?? 'Pool'}
      back={back}
      actions={
        <ConfirmButton
          does="deleteSenderPool"
          label="Delete"
          question={
            <p>Messages can name it no more; its senders stay. A pool that a campaign sends from cannot be deleted.</p>
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
            <Section title="About it">
              <Facts
                facts={[
                  ['Id', <Copy key="id" text={one.id} />],
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
