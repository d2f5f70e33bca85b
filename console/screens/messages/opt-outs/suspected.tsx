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
    <Page title="Possible opt-outs" lead="Replies that may mean STOP: nothing was done about them yet">
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
                  title: 'What they wrote',
                  isWide: true,
                  cell: ({ text }) => text ?? <span className="none">not shown</span>,
                },
                { title: 'When', cell: ({ created_at: at }) => <Time at={at} /> },
                { title: 'What it means', cell: (suspicion) => <Decision of={suspicion} /> },
              ]}
              empty={
                <Empty title="Nothing to decide">
                  A reply that only looks like STOP, such as “no more texts”, opts nobody out by itself. It appears here
                  until somebody says what it means.
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
  const confirm = useAction('decideSuspectedOptOut', 'The person is out: nothing is sent to them.')
  const dismiss = useAction('decideSuspectedOptOut', 'It did not mean STOP.')
  return (
    <div className="buttons">
      <ConfirmButton
        does="decideSuspectedOptOut"
        label="Opt out"
        question="It meant STOP: nothing is sent to the person any more, and what waits for them is canceled."
        onConfirm={() => confirm.run({ path, body: { action: 'opt_out' } })}
        isBusy={confirm.isBusy}
        problem={confirm.problem}
      />
      <Button
        does="decideSuspectedOptOut"
        isBusy={dismiss.isBusy}
        onClick={() => void dismiss.run({ path, body: { action: 'dismiss' } })}
      >
        It is no STOP
      </Button>
      {dismiss.problem && <Problem of={dismiss.problem} />}
    </div>
  )
}
