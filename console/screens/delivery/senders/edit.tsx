import type { Sender } from '@heliogram/sdk'
import { useLocation, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Loaded, Page, Section } from '../../../kit/page.tsx'
import { Copy, Facts, Time } from '../../../kit/show.tsx'
import { kindNames } from './kinds.ts'
import { ChangeSender, NewSender } from './sender-form.tsx'

const back = { to: '/senders', title: 'Senders' }

export function NewSenderScreen() {
  return (
    <Page title="Add a sender" back={back}>
      <NewSender />
    </Page>
  )
}

export function SenderScreen() {
  const { id } = useParams<{ id: string }>()
  const sender = useCall('getSender', { path: { id } })
  const { data } = sender
  return (
    <Page
      title={data ? tellNumber(data) : 'Sender'}
      back={back}
      {...(data && {
        lead: `${kindNames[data.kind]}${data.country ? ` of ${data.country}` : ''}${data.default ? ', the default of its account' : ''}`,
        actions: <DeleteSender sender={data} />,
      })}
    >
      <Loaded call={sender}>
        {(one) => (
          <>
            <ChangeSender key={one.id} sender={one} />
            <Section title="Details">
              <Facts
                facts={[
                  ['ID', <Copy key="id" text={one.id} />],
                  ['Account', <code key="account">{one.account}</code>],
                  ['Added', <Time key="created" at={one.created_at} />],
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const tellNumber = ({ kind, number }: Sender): string =>
  kind === 'alphanumeric' || kind === 'short_code' ? number : `+${number}`

function DeleteSender({ sender }: { sender: Sender }) {
  const [, go] = useLocation()
  const remove = useAction('deleteSender', 'Sender deleted.')
  return (
    <ConfirmButton
      does="deleteSender"
      label="Delete"
      question={
        <p>
          Replies to {tellNumber(sender)} will no longer reach an account. Queued messages from it wait until the
          account has this sender again, or until they expire.
        </p>
      }
      onConfirm={async () => {
        const done = await remove.run({ path: { id: sender.id } })
        if (done) go('/senders')
        return done
      }}
      isBusy={remove.isBusy}
      problem={remove.problem}
    />
  )
}
