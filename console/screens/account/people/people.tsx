import { useState } from 'react'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { useFilters } from '../../../kit/filters.tsx'
import { Empty, Loaded, Page, Section } from '../../../kit/page.tsx'
import { Badge, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'
import { InvitationCode, InviteDialog, type Invited } from './invite.tsx'

export function PeopleScreen() {
  const { filters } = useFilters([])
  const users = useCall('listUsers', { query: filters }, { every: 5000 })
  const [isOpen, setOpen] = useState(false)
  const [invited, setInvited] = useState<Invited>()
  return (
    <Page
      title="People"
      lead="People who can log in to this account. A role says what they can do."
      actions={
        <Button does="createInvitation" kind="primary" data-key="n" onClick={() => setOpen(true)}>
          Invite somebody
        </Button>
      }
    >
      {invited && <InvitationCode of={invited} onClose={() => setInvited(undefined)} />}
      <Loaded call={users}>
        {(page) => (
          <>
            <Table
              label="People"
              rows={page.data}
              keyOf={({ id }) => id}
              to={({ id }) => `/people/${id}`}
              columns={[
                { title: 'E-mail address', cell: ({ email }) => email },
                { title: 'Role', cell: ({ role }) => role },
                { title: 'State', cell: ({ status }) => <Badge status={status} /> },
                { title: 'Second factor', cell: ({ totp }) => (totp ? 'yes' : <span className="none">no</span>) },
                { title: 'Joined', cell: ({ created_at }) => <Time at={created_at} /> },
              ]}
              empty={<Empty title="No people yet">People appear here after they accept an invitation.</Empty>}
            />
            <Pager page={page} />
          </>
        )}
      </Loaded>
      <Invitations />
      {isOpen && (
        <InviteDialog
          onClose={() => setOpen(false)}
          onDone={(one) => {
            setOpen(false)
            setInvited(one)
          }}
        />
      )}
    </Page>
  )
}

function Invitations() {
  const invitations = useCall('listInvitations', { query: { limit: 100 } }, { every: 5000 })
  return (
    <Section title="Open invitations">
      <Loaded call={invitations}>
        {({ data }) => (
          <Table
            label="Invitations"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              { title: 'E-mail address', cell: ({ email }) => email },
              { title: 'Role', cell: ({ role }) => role },
              { title: 'Created', cell: ({ created_at }) => <Time at={created_at} /> },
              { title: 'Expires', cell: ({ expires_at }) => <Time at={expires_at} /> },
              { title: '', cell: ({ id, email }) => <Withdraw id={id} email={email} /> },
            ]}
            empty={
              <Empty title="No open invitations">
                Heliogram sends no email. You share the invitation link yourself.
              </Empty>
            }
          />
        )}
      </Loaded>
    </Section>
  )
}

function Withdraw({ id, email }: { id: string; email: string }) {
  const { run, isBusy, problem } = useAction('deleteInvitation', 'Invitation withdrawn')
  return (
    <ConfirmButton
      does="deleteInvitation"
      label="Withdraw"
      question={`The invitation for ${email} will no longer work.`}
      onConfirm={() => run({ path: { id } })}
      isBusy={isBusy}
      problem={problem}
    />
  )
}
