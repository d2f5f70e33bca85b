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
    <Page title={user.data?.email ?? 'A person'} back={{ to: '/people', title: 'People' }}>
      <Loaded call={user}>
        {(one) => (
          <>
            <div className="card">
              <Facts
                facts={[
                  ['Id', <Copy key="id" text={one.id} />],
                  ['State', <Badge key="state" status={one.status} />],
                  ['Role', one.role],
                  ['Second factor', one.totp ? 'is asked for at login' : 'none'],
                  ['Joined', <Moment key="came" at={one.created_at} />],
                  ['Changed', <Moment key="changed" at={one.updated_at} />],
                  [
                    'What they changed',
                    mayAudit && (
                      <Link key="audit" href={`/audit?actor=${one.id}`}>
                        in the audit log
                      </Link>
                    ),
                  ],
                ]}
              />
            </div>
            {isMe ? (
              <p className="below">
                This is you: nobody changes themselves. Your password and second factor are at{' '}
                <Link href="/me">your login</Link>.
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
  const change = useAction('updateUser', 'The role is changed')
  const turn = useAction('updateUser', status === 'active' ? 'They are kept out' : 'They may log in again')
  const remove = useAction('deleteUser', 'They are removed', () => go('/people'))
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
              hint="With another role their logins end, and their open invitations."
            />
            <Buttons>
              <Button type="submit" isBusy={change.isBusy} disabled={next === role}>
                Change the role
              </Button>
            </Buttons>
          </Form>
        </div>
      </Section>
      <Section title="Keep them out">
        <div className="buttons">
          <ConfirmButton
            does="updateUser"
            label={status === 'active' ? 'Disable' : 'Enable'}
            isDanger={status === 'active'}
            question={
              status === 'active'
                ? `The logins of ${email} end, and they cannot log in until somebody enables them.`
                : `${email} can log in again.`
            }
            onConfirm={() => turn.run({ path, body: { status: status === 'active' ? 'disabled' : 'active' } })}
            isBusy={turn.isBusy}
            problem={turn.problem}
          />
          <ConfirmButton
            does="deleteUser"
            label="Remove"
            question={`The login of ${email} ends for good. Keys that they made belong to the account and stay.`}
            onConfirm={() => remove.run({ path })}
            isBusy={remove.isBusy}
            problem={remove.problem}
          />
        </div>
      </Section>
    </>
  )
}
