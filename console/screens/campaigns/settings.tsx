import type { Campaign } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../api.ts'
import { Button } from '../../kit/button.tsx'
import { ConfirmButton } from '../../kit/dialog.tsx'
import { Buttons, Form } from '../../kit/form.tsx'
import { Section } from '../../kit/page.tsx'
import { toast } from '../../kit/toast.tsx'
import { changesOf, draftOf, readDraft } from './draft.ts'
import { CampaignFields } from './fields.tsx'
import { CampaignFrame } from './frame.tsx'
import { isOpen, isUnderWay } from './states.ts'

export function CampaignSettingsScreen() {
  return (
    <CampaignFrame>
      {(campaign) => (
        <div className="narrow">
          <Settings key={campaign.id} campaign={campaign} />
          <Archive campaign={campaign} />
        </div>
      )}
    </CampaignFrame>
  )
}

function Settings({ campaign }: { campaign: Campaign }) {
  // As loaded or last saved: only differences are sent, so that other users' changes stay.
  const [before, setBefore] = useState(() => draftOf(campaign))
  const [draft, setDraft] = useState(before)
  const { run, isBusy, problem } = useAction('updateCampaign', 'Campaign saved.')
  const save = async () => {
    const body = changesOf(readDraft(before, campaign.variables), readDraft(draft, campaign.variables))
    if (Object.keys(body).length === 0) return toast('No changes to save.')
    if (await run({ path: { campaign: campaign.id }, body })) setBefore(draft)
  }
  return (
    <Form does="updateCampaign" onSubmit={save} problem={problem}>
      <CampaignFields
        campaign={campaign.id}
        draft={draft}
        onChange={(change) => setDraft((now) => ({ ...now, ...change }))}
      />
      <Buttons>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Save campaign
        </Button>
        <Button kind="quiet" onClick={() => setDraft(before)}>
          Discard changes
        </Button>
      </Buttons>
    </Form>
  )
}

function Archive({ campaign: { id, name, status } }: { campaign: Campaign }) {
  const { run, isBusy, problem } = useAction('archiveCampaign', 'Campaign archived.')
  if (status === 'archived') return null
  return (
    <Section title="Archive">
      {isUnderWay(status) ? (
        <p className="hint">
          This campaign has a broadcast in progress. Stop or withdraw the broadcast before you archive the campaign.
        </p>
      ) : (
        <>
          <p className="hint">
            {isOpen(status)
              ? 'An archived campaign accepts no more contacts or messages. Its results stay.'
              : 'The results of an archived campaign stay.'}
          </p>
          <ConfirmButton
            does="archiveCampaign"
            label="Archive campaign"
            question={
              <>
                <strong>{name}</strong> accepts no more contacts or messages. Its results stay. You can’t undo this.
              </>
            }
            onConfirm={() => run({ path: { campaign: id } })}
            isBusy={isBusy}
            problem={problem}
          />
        </>
      )}
    </Section>
  )
}
