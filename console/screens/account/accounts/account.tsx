import type { Account } from '@heliogram/sdk'
import { useState } from 'react'
import { Link, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { KeySecret } from '../../../kit/key-secret.tsx'
import { Loaded, Page } from '../../../kit/page.tsx'
import { Badge, Copy, Facts, Moment, tellCount } from '../../../kit/show.tsx'
import { ChangeDialog } from './change.tsx'
import { CloseDialog } from './close.tsx'
import { AccountKeyDialog, type AccountKey } from './key.tsx'

export function AccountScreen() {
  const { id = '' } = useParams()
  const account = useCall('getAccount', { path: { id } })
  return (
    <Page title={account.data?.name ?? 'Account'} back={{ to: '/accounts', title: 'Accounts' }}>
      <Loaded call={account}>
        {(one) => (
          <>
            <Actions key={one.id} of={one} />
            <div className="card below">
              <AccountFacts of={one} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const AccountFacts = ({ of }: { of: Account }) => (
  <Facts
    facts={[
      ['ID', <Copy key="id" text={of.id} />],
      ['State', <Badge key="state" status={of.status} />],
      ['Pace', of.pace === null ? 'no limit' : `${tellCount(of.pace, 'segment')} per second`],
      ['Requests', of.api_per_second === null ? 'default' : `${of.api_per_second} per second`],
      ['Created', <Moment key="made" at={of.created_at} />],
      ['Closed', of.closed_at && <Moment key="closed" at={of.closed_at} />],
      ['Can be reopened until', of.destroyed_at === null && of.destroy_at && <Moment key="until" at={of.destroy_at} />],
      ['Destroyed', of.destroyed_at && <Moment key="destroyed" at={of.destroyed_at} />],
      [
        'Usage',
        <Link key="usage" href={`/usage?account=${of.id}`}>
          View usage
        </Link>,
      ],
    ]}
  />
)

function Actions({ of }: { of: Account }) {
  const [open, setOpen] = useState<'change' | 'close' | 'key'>()
  const [made, setMade] = useState<AccountKey>()
  const path = { id: of.id }
  const suspend = useAction('updateAccount', 'Account suspended')
  const resume = useAction('updateAccount', 'Account reactivated')
  const reopen = useAction('reopenAccount', 'Account reopened')
  const close = () => setOpen(undefined)
  if (of.destroyed_at !== null) return <p>This account is destroyed. Only its name, counts and records remain.</p>
  if (of.status === 'closed')
    return (
      <div className="buttons">
        <ConfirmButton
          does="reopenAccount"
          label="Reopen account"
          question="People can log in again. You need to create new API keys and enable the webhooks. Canceled messages stay canceled."
          onConfirm={() => reopen.run({ path })}
          isBusy={reopen.isBusy}
          problem={reopen.problem}
          isDanger={false}
        />
        <Button does="closeAccount" onClick={() => setOpen('close')}>
          Change destruction date
        </Button>
        {open === 'close' && <CloseDialog of={of} onClose={close} />}
      </div>
    )
  return (
    <>
      {made && <KeySecret secret={made.secret} scopes={made.scopes} onClose={() => setMade(undefined)} />}
      <div className="buttons">
        <Button does="createAccountApiKey" onClick={() => setOpen('key')}>
          Create API key
        </Button>
        <Button does="updateAccount" onClick={() => setOpen('change')}>
          Change
        </Button>
        {of.status === 'active' ? (
          <ConfirmButton
            does="updateAccount"
            label="Suspend"
            question="The account loses access within five seconds. Its data is kept."
            onConfirm={() => suspend.run({ path, body: { status: 'suspended' } })}
            isBusy={suspend.isBusy}
            problem={suspend.problem}
          />
        ) : (
          <ConfirmButton
            does="updateAccount"
            label="Reactivate"
            question="People and API keys get access again."
            onConfirm={() => resume.run({ path, body: { status: 'active' } })}
            isBusy={resume.isBusy}
            problem={resume.problem}
            isDanger={false}
          />
        )}
        <Button does="closeAccount" kind="danger" onClick={() => setOpen('close')}>
          Close account
        </Button>
      </div>
      {open === 'change' && <ChangeDialog of={of} onClose={close} />}
      {open === 'close' && <CloseDialog of={of} onClose={close} />}
      {open === 'key' && (
        <AccountKeyDialog
          of={of}
          onClose={close}
          onDone={(key) => {
            close()
            setMade(key)
          }}
        />
      )}
    </>
  )
}
