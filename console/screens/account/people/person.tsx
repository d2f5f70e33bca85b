import type { User } from '@heliogram/sdk'
import { useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Buttons, Form, SelectField } from '../../../kit/form.tsx'
import { Allowed, useMay } from '../../../kit/may.tsx'
import { Loaded, Page, Section } from '../../../kit/page.tsx'
import { Badge, Copy, Facts, Moment } from '../../../kit/show.tsx'
import { useLogin } from '../../../session/login.ts'
import { roleOf, rolesFor } from './roles.ts'

export function PersonScreen() {
  const { id = '' } = useParams()
  const user = useCall('getUser', { path: { id } })
  const mayAudit = useMay('listAuditEvents')
  const me = useLogin()?.user
  const isMe = me?.id === id
  const mayChange = (role: string) => rolesFor(me?.role).some(([one]) => one === role)
  return (
    <Page title={user.data?.email ?? 'Person'} back={{ to: '/people', title: 'People' }}>
      <Loaded call={user}>
        {(one) => (
          <>
            <div className="card">
              <Facts
                facts={[
                  ['ID', <Copy key="id" text={one.id} />],
                  ['State', <Badge key="state" status={one.status} />],
                  ['Role', one.role],
                  ['Second factor', one.totp ? 'on' : 'off'],
                  ['Joined', <Moment key="came" at={one.created_at} />],
                  ['Changed', <Moment key="changed" at={one.updated_at} />],
                  [
                    'Activity',
                    mayAudit && (
                      <Link key="audit" href={`/audit?actor=${one.id}`}>
                        View in the audit log
                      </Link>
                    ),
                  ],
                ]}
              />
            </div>
            {isMe ? (
              <p className="below">
                This is you. You can’t change your own role. Change your password and second factor in{' '}
                <Link href="/me">Your login</Link>.
              </p>
            ) : (
              mayChange(one.role) && (
                <Allowed to="updateUser">
                  <Changes key={one.id} of={one} />
                </Allowed>
              )
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Changes({ of: { id, email, role, status } }: { of: User }) {
  const [, go] = useLocation()
  const own = useLogin()?.user.role
  const [next, setNext] = useState<string>(role)
  const path = { id }
  const change = useAction('updateUser', 'Role changed')
  const turn = useAction('updateUser', status === 'active' ? 'User disabled' : 'User enabled')
  const remove = useAction('deleteUser', 'User removed', () => go('/people'))
  return (
    <>
      <Section title="Role">
        <div className="narrow">
          <Form
            does="updateUser"
            onSubmit={() => change.run({ path, body: { role: roleOf(next) } })}
            problem={change.problem}
          >
            <SelectField
              label="Role"
              name="role"
              value={next}
              onChange={setNext}
              options={rolesFor(own)}
              hint="Changing the role ends their sessions and the invitations they created."
            />
            <Buttons>
              <Button type="submit" isBusy={change.isBusy} disabled={next === role}>
                Change role
              </Button>
            </Buttons>
          </Form>
        </div>
      </Section>
      <Section title="Access">
        <div className="buttons">
          <ConfirmButton
            does="updateUser"
            label={status === 'active' ? 'Disable' : 'Enable'}
            isDanger={status === 'active'}
            question={
              status === 'active'
                ? `${email} is logged out and can’t log in until somebody enables them.`
                : `${email} can log in again.`
            }
            onConfirm={() => turn.run({ path, body: { status: status === 'active' ? 'disabled' : 'active' } })}
            isBusy={turn.isBusy}
            problem={turn.problem}
          />
          <ConfirmButton
            does="deleteUser"
            label="Remove"
            question={`${email} permanently loses access. API keys they created stay with the account.`}
            onConfirm={() => remove.run({ path })}
            isBusy={remove.isBusy}
            problem={remove.problem}
          />
        </div>
      </Section>
    </>
  )
}
