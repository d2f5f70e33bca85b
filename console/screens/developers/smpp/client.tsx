import type { SmppCredential } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton, Dialog } from '../../../kit/dialog.tsx'
import { Loaded, Page } from '../../../kit/page.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { Badge, Copy, Facts, Moment, Time, tellCount } from '../../../kit/show.tsx'
import { alphabets, concatenations, smppBodyOf, smppDraftOf } from './draft.ts'
import { SmppForm } from './form.tsx'
import { SmppPassword } from './password.tsx'

export function SmppClientScreen() {
  const { id = '' } = useParams()
  const credential = useCall('getSmppCredential', { path: { id } }, { every: 3000 })
  return (
    <Page
      title={credential.data?.name ?? 'SMPP credential'}
      back={{ to: '/keys', title: 'API keys' }}
      {...(credential.data && {
        lead: <Badge status={credential.data.enabled ? 'enabled' : 'disabled'} />,
      })}
    >
      <Loaded call={credential}>
        {(one) => (
          <>
            <Actions key={one.id} of={one} />
            <div className="card below">
              <CredentialFacts of={one} />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const nameIn = (options: readonly (readonly [string, string])[], value: string): string =>
  options.find(([one]) => one === value)?.[1] ?? value

const CredentialFacts = ({ of }: { of: SmppCredential }) => (
  <Facts
    facts={[
      ['system_id', <Copy key="system" text={of.system_id} />],
      ['Mode', of.mode],
      ['Sessions now', `${of.sessions} of ${of.max_sessions}`],
      ['Last bound', <Time key="bound" at={of.last_bound_at} />],
      [
        'Long messages not sent',
        of.incomplete_messages > 0 ? (
          <>
            {tellCount(of.incomplete_messages, 'message')} without all parts, the last{' '}
            <Time at={of.last_incomplete_at} />
          </>
        ) : null,
      ],
      ['Window', of.window],
      ['Pace', `${tellCount(of.pace, 'segment')} per second`],
      ['Networks', of.allowed_cidrs.length > 0 ? of.allowed_cidrs.join(', ') : 'any'],
      ['data_coding 0', nameIn(alphabets, of.default_alphabet)],
      [
        'Replies',
        of.receives_replies
          ? `delivered, long ones by ${nameIn(concatenations, of.reply_concatenation)}`
          : 'not delivered',
      ],
      ['Created', <Moment key="made" at={of.created_at} />],
      ['Updated', <Moment key="changed" at={of.updated_at} />],
    ]}
  />
)

function Actions({ of }: { of: SmppCredential }) {
  const [, go] = useLocation()
  const [isOpen, setOpen] = useState(false)
  const [password, setPassword] = useState<string>()
  const update = useAction('updateSmppCredential', 'SMPP credential updated')
  const rotate = useAction('rotateSmppPassword', 'Password rotated')
  const remove = useAction('deleteSmppCredential', 'SMPP credential deleted', () => go('/keys'))
  const path = { id: of.id }
  const rotateIt = async () => {
    const done = await rotate.run({ path })
    if (done) setPassword(done.answer.password)
    return done
  }
  return (
    <>
      {password !== undefined && (
        <SmppPassword of={{ system_id: of.system_id, password }} onClose={() => setPassword(undefined)} />
      )}
      {!isOpen && update.problem && <Problem of={update.problem} />}
      <div className="buttons">
        <Button does="updateSmppCredential" onClick={() => setOpen(true)}>
          Edit
        </Button>
        {of.enabled ? (
          <ConfirmButton
            does="updateSmppCredential"
            label="Disable"
            question="Its sessions end within five seconds. It can’t bind again until you enable it."
            onConfirm={() => update.run({ path, body: { enabled: false } })}
            isBusy={update.isBusy}
            problem={update.problem}
          />
        ) : (
          <Button
            does="updateSmppCredential"
            kind="primary"
            isBusy={update.isBusy}
            onClick={() => void update.run({ path, body: { enabled: true } })}
          >
            Enable
          </Button>
        )}
        <ConfirmButton
          does="rotateSmppPassword"
          label="Rotate password"
          question="The old password stops working at once, and its sessions end within five seconds."
          onConfirm={rotateIt}
          isBusy={rotate.isBusy}
          problem={rotate.problem}
        />
        <ConfirmButton
          does="deleteSmppCredential"
          label="Delete"
          question={`Programs that bind as ${of.system_id} are refused, and their sessions ended. This cannot be undone.`}
          onConfirm={() => remove.run({ path })}
          isBusy={remove.isBusy}
          problem={remove.problem}
        />
      </div>
      {isOpen && (
        <Dialog title="Edit credential" onClose={() => setOpen(false)}>
          <SmppForm
            does="updateSmppCredential"
            start={smppDraftOf(of)}
            label="Save changes"
            onSubmit={async (draft) => {
              if (await update.run({ path, body: smppBodyOf(draft) })) setOpen(false)
            }}
            onCancel={() => setOpen(false)}
            isBusy={update.isBusy}
            problem={update.problem}
          />
        </Dialog>
      )}
    </>
  )
}
