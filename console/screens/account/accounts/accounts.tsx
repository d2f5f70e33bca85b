import { useCall } from '../../../api.ts'
import { LinkButton } from '../../../kit/button.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { Badge, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'

const NewAccount = () => (
  <LinkButton to="/accounts/new" does="createAccount" kind="primary" isNew>
    Create account
  </LinkButton>
)

export function AccountsScreen() {
  const { filters } = useFilters([])
  const accounts = useCall('listAccounts', { query: filters })
  return (
    <Page
      title="Accounts"
      lead="Accounts below yours. Each has its own people, keys, senders, messages and limits."
      actions={
        <>
          <LinkButton to="/usage?group=account">Usage by account</LinkButton>
          <NewAccount />
        </>
      }
    >
      <Loaded call={accounts}>
        {(page) => (
          <>
            <Table
              label="Accounts"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/accounts/${id}`}
              columns={[
                { title: 'Name', cell: ({ name }) => name },
                { title: 'State', cell: ({ status }) => <Badge status={status} /> },
                { title: 'Pace', isNumber: true, cell: ({ pace }) => pace && `${pace}/s` },
                { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
                { title: 'Destroyed', cell: (one) => <Time at={one.destroyed_at ?? one.destroy_at} /> },
              ]}
              empty={
                <Empty title="No accounts below yours" action={<NewAccount />}>
                  Create an account for a branch or a customer. They can’t see your data.
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
