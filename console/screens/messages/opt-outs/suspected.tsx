import type { OptOutSuspicion } from '@heliogram/sdk'
import { Link, useSearchParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Empty, Loaded, Page } from '../../../kit/page.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { PhoneNumber, Time } from '../../../kit/show.tsx'
import { Pager, Table } from '../../../kit/table.tsx'

const everyMs = 5000

export function SuspectedScreen() {
  const [params] = useSearchParams()
  const cursor = params.get('cursor') ?? undefined
  const call = useCall('listSuspectedOptOuts', { query: { cursor } }, { every: everyMs })
  return (
    <Page title="Possible opt-outs" lead="Replies that may mean STOP. Decide whether each is an opt-out.">
      <Loaded call={call}>
        {(page) => (
          <>
            <Table
              label="Suspected opt-outs"
              rows={page.data}
              keyOf={({ message }) => message}
              columns={[
                {
                  title: 'Number',
                  cell: ({ number, message }) => (
                    <Link href={`/messages/${message}`}>
                      <PhoneNumber of={number} />
                    </Link>
                  ),
                },
                {
                  title: 'Reply',
                  isWide: true,
                  cell: ({ text }) => text ?? <span className="none">not shown</span>,
                },
                { title: 'When', cell: ({ created_at: at }) => <Time at={at} /> },
                { title: '', cell: (suspicion) => <Decision of={suspicion} /> },
              ]}
              empty={
                <Empty title="No replies to review">
                  Replies such as “no more texts” opt nobody out by themselves. They appear here until somebody decides.
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

function Decision({ of: { message } }: { of: OptOutSuspicion }) {
  const path = { message }
  const confirm = useAction('decideSuspectedOptOut', 'Opt-out added.')
  const dismiss = useAction('decideSuspectedOptOut', 'Reply dismissed.')
  return (
    <div className="buttons">
      <ConfirmButton
        does="decideSuspectedOptOut"
        label="Opt out"
        question="This number gets no more messages, and queued ones are canceled."
        onConfirm={() => confirm.run({ path, body: { action: 'opt_out' } })}
        isBusy={confirm.isBusy}
        problem={confirm.problem}
      />
      <Button
        does="decideSuspectedOptOut"
        isBusy={dismiss.isBusy}
        onClick={() => void dismiss.run({ path, body: { action: 'dismiss' } })}
      >
        Dismiss
      </Button>
      {dismiss.problem && <Problem of={dismiss.problem} />}
    </div>
  )
}
