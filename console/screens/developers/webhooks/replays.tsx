import type { Replay, Webhook } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Badge, formatNumber, Moment, Progress, Time } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { ReplayDialog } from './replay-dialog.tsx'

export function Replays({ webhook }: { webhook: Webhook }) {
  const [isOpen, setOpen] = useState(false)
  const replays = useCall(
    'listReplays',
    { path: { id: webhook.id }, query: { limit: 10 } },
    { every: (page) => (page?.data.some(({ status }) => status === 'running') ? 2000 : 15_000) },
  )
  return (
    <Section
      title="Replays"
      actions={
        <Button does="replayWebhook" disabled={!webhook.enabled} onClick={() => setOpen(true)}>
          Replay events …
        </Button>
      }
    >
      <Loaded call={replays}>
        {({ data }) => (
          <Table
            label="Replays"
            rows={data}
            keyOf={({ id }) => id}
            columns={[
              {
                title: 'Events',
                cell: ({ since, until }) => (
                  <>
                    <Moment at={since} /> – <Moment at={until} />
                  </>
                ),
              },
              { title: 'Filter', cell: ({ types, only_failed }) => whichOf(types, only_failed) },
              { title: 'State', cell: (replay) => <ReplayState of={replay} /> },
              {
                title: 'Succeeded',
                isNumber: true,
                cell: ({ delivered, events }) => `${formatNumber(delivered)} of ${formatNumber(events)}`,
              },
              { title: 'Failed', isNumber: true, cell: ({ failed }) => formatNumber(failed) },
              { title: 'Started', cell: ({ created_at }) => <Time at={created_at} /> },
              { title: '', cell: (replay) => replay.status === 'running' && <CancelReplay of={replay} /> },
            ]}
            empty={
              <Empty title="No replays yet">If your server missed events, replay them. They keep their IDs.</Empty>
            }
          />
        )}
      </Loaded>
      {isOpen && <ReplayDialog webhook={webhook} onClose={() => setOpen(false)} />}
    </Section>
  )
}

const whichOf = (types: readonly string[], isOnlyFailed: boolean): string =>
  [isOnlyFailed ? 'failed only' : '', types.length > 2 ? `${types.length} types` : types.join(', ')]
    .filter((one) => one !== '')
    .join(', ')

function ReplayState({ of }: { of: Replay }) {
  const { status, since, until, replayed_until, canceled_reason, events, delivered, failed } = of
  if (status !== 'running')
    return (
      <>
        <Badge status={status} />{' '}
        {canceled_reason && <span className="small">{canceled_reason.replace('_', ' ')}</span>}
      </>
    )
  const [from, to, now] = [since, until, replayed_until].map((at) => Date.parse(at))
  const isFound = now === to
  return (
    <span title={isFound ? 'All events found; sending the last ones' : 'Searching the event log'}>
      <Badge status={status} />
      {isFound ? (
        <Progress done={delivered + failed} of={events} label="Events sent" />
      ) : (
        <Progress done={(now ?? 0) - (from ?? 0)} of={(to ?? 0) - (from ?? 0)} label="Progress through the event log" />
      )}
    </span>
  )
}

function CancelReplay({ of: { id, webhook } }: { of: Replay }) {
  const { run, isBusy, problem } = useAction('cancelReplay', 'Replay canceled')
  return (
    <ConfirmButton
      does="cancelReplay"
      label="Cancel replay"
      question="Events that have not been sent yet are not sent."
      onConfirm={() => run({ path: { id: webhook, replay: id } })}
      isBusy={isBusy}
      problem={problem}
    />
  )
}
