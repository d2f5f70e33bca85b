/** A broadcast: written, previewed, and started once. */
import type { Campaign } from '@heliogram/sdk'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { heliogram, useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form } from '../../../kit/form.tsx'
import { Problem } from '../../../kit/problem.tsx'
import { tellCount } from '../../../kit/show.tsx'
import { useTask } from '../../../kit/task.tsx'
import { CampaignFrame } from '../frame.tsx'
import { isOpen, isUnderWay } from '../states.ts'
import { DryRunResult, type DryRun } from './dry-run.tsx'
import { readOrder, sendDraftOf } from './draft.ts'
import { SendFields } from './fields.tsx'
import { PreviewFor } from './preview.tsx'

export function SendScreen() {
  return (
    <CampaignFrame>
      {(campaign) => (
        <>
          <Closed campaign={campaign} />
          {isOpen(campaign.status) && <Send key={campaign.id} campaign={campaign} />}
        </>
      )}
    </CampaignFrame>
  )
}

function Closed({ campaign: { id, status, contacts_count } }: { campaign: Campaign }) {
  if (!isOpen(status)) return <p className="notice">The campaign is closed and sends nothing more.</p>
  if (isUnderWay(status))
    return (
      <p className="notice">
        A campaign has one broadcast at a time, and one is under way: see <Link href={`/campaigns/${id}`}>it</Link>.
        Another may follow when it is completed.
      </p>
    )
  if (contacts_count > 0) return null
  return (
    <p className="notice">
      The campaign has no contacts yet: <Link href={`/campaigns/${id}/import`}>import a file</Link> or{' '}
      <Link href={`/campaigns/${id}/contacts`}>add them</Link>.
    </p>
  )
}

function Send({ campaign }: { campaign: Campaign }) {
  const [, go] = useLocation()
  const [draft, setDraft] = useState(() => sendDraftOf(campaign))
  const [looked, setLooked] = useState<{ order: string; result: DryRun }>()
  const [isAsking, setAsking] = useState(false)
  const order = readOrder(draft)
  const orderText = JSON.stringify(order)
  const action = useAction('sendCampaign', 'The broadcast is ordered.')
  const path = { campaign: campaign.id }
  // A preview changes nothing, so nothing is refreshed.
  const look = useTask(async () => {
    const result = await heliogram.call('sendCampaign', { path, body: { ...order, dry_run: true } })
    if (result.object === 'dry_run') setLooked({ order: orderText, result })
  })
  const send = async () => {
    const done = await action.run({ path, body: order })
    if (done?.answer.object === 'broadcast') go(`/broadcasts/${done.answer.id}`)
  }
  const ask = async () => {
    action.reset()
    if (looked?.order === orderText || (await look.run())) setAsking(true)
  }
  const isFresh = looked?.order === orderText
  return (
    <div className="columns">
      <Form does="sendCampaign" onSubmit={look.run} problem={look.problem}>
        <SendFields
          campaign={campaign}
          draft={draft}
          onChange={(change) => setDraft((now) => ({ ...now, ...change }))}
        />
        <Buttons>
          <Button type="submit" isBusy={look.isBusy}>
            Look first
          </Button>
          <Button kind="primary" isBusy={look.isBusy || action.isBusy} onClick={() => void ask()}>
            {draft.when === 'now' ? 'Send …' : 'Schedule …'}
          </Button>
        </Buttons>
      </Form>
      <div>
        {looked ? (
          <DryRunResult result={looked.result} isStale={!isFresh} campaign={campaign.id} order={order} />
        ) : (
          <div className="card">
            <p className="hint">
              <strong>Look first</strong> sends nothing: it says how many would get the text, in how many segments, what
              it would cost, and who would be passed over, and why.
            </p>
          </div>
        )}
        <PreviewFor campaign={campaign} draft={draft} />
      </div>
      {isAsking && isFresh && !look.problem && (
        <Dialog title={draft.when === 'now' ? 'Send now' : 'Schedule'} onClose={() => setAsking(false)}>
          <div className="question">
            <p>
              {tellCount(looked.result.messages, 'message')} in {tellCount(looked.result.segments, 'segment')}
              {order.audience ? ` to contacts with ${order.audience.tags.join(' or ')}` : ''}
              {looked.result.cost.map(({ amount, currency }) => `, ${amount} ${currency} by the estimate`)},{' '}
              {tellWhen(draft.when, draft.at)}.
            </p>
            {looked.result.sample && <p className="sample">{looked.result.sample}</p>}
          </div>
          {action.problem && <Problem of={action.problem} />}
          <div className="buttons">
            <Button does="sendCampaign" kind="primary" isBusy={action.isBusy} onClick={() => void send()}>
              {draft.when === 'now' ? 'Send now' : 'Schedule'}
            </Button>
            <Button onClick={() => setAsking(false)}>Not yet</Button>
          </div>
        </Dialog>
      )}
    </div>
  )
}

function tellWhen(when: 'now' | 'at' | 'local', at: string): string {
  if (when === 'now') return 'at once'
  return when === 'at' ? `from ${at.replace('T', ' ')} on` : `at ${at.replace('T', ' ')} on each recipient’s clock`
}
