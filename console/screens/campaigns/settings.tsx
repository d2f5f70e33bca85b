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
  const { run, isBusy, problem } = useAction('updateCampaign', 'Saved, for what is sent from now on.')
  const save = async () => {
    const body = changesOf(readDraft(before, campaign.variables), readDraft(draft, campaign.variables))
    if (Object.keys(body).length === 0) return toast('Nothing was changed.')
    if (await run({ path: { campaign: campaign.id }, body })) setBefore(draft)
  }
  return (
    <Form does="updateCampaign" onSubmit={save} problem={problem}>
      <CampaignFields draft={draft} onChange={(change) => setDraft((now) => ({ ...now, ...change }))} />
      <Buttons>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Save
        </Button>
        <Button kind="quiet" onClick={() => setDraft(before)}>
          Undo changes
        </Button>
      </Buttons>
    </Form>
  )
}

function Archive({ campaign: { id, name, status } }: { campaign: Campaign }) {
  const { run, isBusy, problem } = useAction('archiveCampaign', 'The campaign is archived.')
  if (status === 'archived') return null
  return (
    <Section title="Archive">
      {isUnderWay(status) ? (
        <p className="hint">
          A campaign whose broadcast is under way is not archived: withdraw the broadcast, or cancel it, first.
        </p>
      ) : (
        <>
          <p className="hint">
            {isOpen(status)
              ? 'It accepts no more messages and contacts, and can still be read.'
              : 'It stays to be read.'}
          </p>
          <ConfirmButton
            does="archiveCampaign"
            label="Archive the campaign"
            question={
              <>
                <strong>{name}</strong> takes no more messages and contacts, and stays to be read. It cannot be opened
                again.
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
