import type { Sender } from '@heliogram/sdk'
import { Link } from 'wouter'
import { useCall } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { Badge, PhoneNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table, type Column } from '../../../kit/table.tsx'
import { kindNamed, kindNames } from './kinds.ts'

export function SendersScreen() {
  const { filters, set, clear } = useFilters(['number', 'kind', 'country', 'carrier', 'default', 'account'])
  const kind = kindNamed(filters.kind)
  const senders = useCall('listSenders', {
    query: {
      limit: 50,
      cursor: filters.cursor,
      ...(filters.number && { number: filters.number }),
      ...(kind && { kind }),
      ...(filters.country && { country: filters.country.toUpperCase() }),
      ...(filters.carrier && { carrier: filters.carrier }),
      ...(filters.default === 'true' && { default: true }),
      ...(filters.account && { account: filters.account }),
    },
  })
  // Without access to carriers, ids are shown, without a filter.
  const carriers = useCall('listCarriers', {}, { isSide: true }).data?.data ?? []
  const accounts = useCall('listAccounts', { query: { limit: 100 } }, { isSide: true }).data?.data ?? []
  const isNarrowed = Object.keys(filters).length > 0
  return (
    <Page
      title="Senders"
      lead="Numbers and names that you send from. A message uses its own sender, then its campaign’s, then the default."
      actions={
        <LinkButton to="/senders/new" does="createSender" kind="primary" isNew>
          Add a sender
        </LinkButton>
      }
    >
      <div className="filters">
        <input
          type="search"
          aria-label="Number or name"
          placeholder="Number or name"
          defaultValue={filters.number ?? ''}
          key={filters.number}
          onBlur={({ target }) => target.value !== (filters.number ?? '') && set('number', target.value.trim())}
          onKeyDown={({ key, currentTarget }) => key === 'Enter' && set('number', currentTarget.value.trim())}
        />
        <select aria-label="Kind" value={kind ?? ''} onChange={(event) => set('kind', event.target.value)}>
          <option value="">All kinds</option>
          {Object.entries(kindNames).map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
        <Choice
          label="Carrier"
          all="All carriers"
          value={filters.carrier ?? ''}
          items={carriers}
          onChange={(value) => set('carrier', value)}
        />
        {accounts.length > 1 && (
          <Choice
            label="Account"
            all="Your account"
            value={filters.account ?? ''}
            items={accounts}
            onChange={(value) => set('account', value)}
          />
        )}
        <label>
          <input
            type="checkbox"
            checked={filters.default === 'true'}
            onChange={(event) => set('default', event.target.checked ? 'true' : '')}
          />{' '}
          Defaults only
        </label>
      </div>
      <Loaded call={senders}>
        {(page) => (
          <>
            <Table
              label="Senders"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/senders/${id}`}
              columns={[
                {
                  title: 'Sender',
                  cell: ({ number, kind: of }) => (of === 'short_code' ? number : <PhoneNumber of={number} />),
                },
                { title: 'Kind', cell: ({ kind: of }) => kindNames[of] },
                { title: 'Country', cell: ({ country }) => country },
                ...(carriers.length === 0 ? [] : [carrierColumn(carriers)]),
                { title: 'Capabilities', cell: ({ capabilities }) => capabilities.join(', ') },
                { title: 'Pace', isNumber: true, cell: ({ pace }) => pace && `${pace}/s` },
                { title: 'Default', cell: (sender) => sender.default && <Badge status="default" tone="good" /> },
                { title: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
              ]}
              empty={
                isNarrowed ? (
                  <Empty title="No matching senders" action={<Button onClick={clear}>Show all</Button>} />
                ) : (
                  <Empty
                    title="No senders yet"
                    action={
                      <LinkButton to="/senders/new" does="createSender">
                        Add a sender
                      </LinkButton>
                    }
                  >
                    Without a sender, the carrier chooses the number that recipients see, and replies don’t reach an
                    account.
                  </Empty>
                )
              }
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const carrierColumn = (carriers: readonly { id: string; name: string }[]): Column<Sender> => ({
  title: 'Carrier',
  cell: ({ carrier }) => (
    <Link href={`/carriers/${carrier}`}>{carriers.find(({ id }) => id === carrier)?.name ?? carrier}</Link>
  ),
})

interface ChoiceProps {
  label: string
  all: string
  value: string
  items: readonly { id: string; name: string }[]
  onChange: (value: string) => void
}

function Choice({ label, all, value, items, onChange }: ChoiceProps) {
  if (items.length === 0) return null
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">{all}</option>
      {items.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  )
}
