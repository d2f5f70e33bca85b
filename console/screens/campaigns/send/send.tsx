/** A broadcast: written, reviewed, and started once. */
import type { Campaign } from '@heliogram/sdk'
import { useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import { heliogram } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, Form } from '../../../kit/form.tsx'
import { useTask } from '../../../kit/task.tsx'
import { CampaignFrame } from '../frame.tsx'
import { isOpen, isUnderWay } from '../states.ts'
import type { DryRun } from './dry-run.tsx'
import { readOrder, sendDraftOf, type SendDraft } from './draft.ts'
import { SendFields } from './fields.tsx'
import { PreviewFor } from './preview.tsx'
import { Review } from './review.tsx'

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
  if (!isOpen(status)) return <p className="notice">This campaign is closed. It can’t send more messages.</p>
  if (isUnderWay(status))
    return (
      <p className="notice">
        This campaign already has a broadcast in progress, and sends one at a time.{' '}
        <Link href={`/campaigns/${id}`}>View the campaign’s broadcasts</Link>.
      </p>
    )
  if (contacts_count > 0) return null
  return (
    <p className="notice">
      This campaign has no contacts yet. <Link href={`/campaigns/${id}/import`}>Import contacts</Link> or{' '}
      <Link href={`/campaigns/${id}/contacts`}>add a contact</Link> first.
    </p>
  )
}

function Send({ campaign }: { campaign: Campaign }) {
  const [params, setParams] = useSearchParams()
  const [draft, setDraft] = useState(() => sendDraftOf(campaign))
  const [looked, setLooked] = useState<{ order: string; result: DryRun }>()
  const order = readOrder(draft)
  // A dry run changes nothing, so nothing is refreshed.
  const lookAt = async (one: SendDraft) => {
    const body = readOrder(one)
    const result = await heliogram.call('sendCampaign', {
      path: { campaign: campaign.id },
      body: { ...body, dry_run: true },
    })
    if (result.object === 'dry_run') setLooked({ order: JSON.stringify(body), result })
  }
  const look = useTask(() => lookAt(draft))
  const review = async () => {
    if (await look.run()) setParams({ step: 'review' })
  }
  // Edits after a review, and a reload, lead back to the fields.
  if (params.get('step') === 'review' && looked?.order === JSON.stringify(order))
    return (
      <Review
        campaign={campaign}
        draft={draft}
        order={order}
        result={looked.result}
        onBack={() => setParams({})}
        onSmart={() => {
          const smart = { ...draft, isSmart: true }
          void lookAt(smart).then(() => setDraft(smart))
        }}
      />
    )
  return (
    <div className="beside">
      <Form does="sendCampaign" onSubmit={review} problem={look.problem}>
        <SendFields
          campaign={campaign}
          draft={draft}
          onChange={(change) => setDraft((now) => ({ ...now, ...change }))}
        />
        <Buttons>
          <Button type="submit" kind="primary" isBusy={look.isBusy}>
            Review broadcast
          </Button>
          <span className="hint">Nothing is sent yet.</span>
        </Buttons>
      </Form>
      <PreviewFor campaign={campaign} draft={draft} />
    </div>
  )
}
