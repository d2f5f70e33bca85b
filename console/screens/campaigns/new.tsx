import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../api.ts'
import { Button, LinkButton } from '../../kit/button.tsx'
import { Buttons, Form } from '../../kit/form.tsx'
import { Page } from '../../kit/page.tsx'
import { CampaignFields } from './fields.tsx'
import { draftOf, given, readDraft } from './draft.ts'

export function NewCampaignScreen() {
  const [, go] = useLocation()
  const [draft, setDraft] = useState(() => draftOf())
  const { run, isBusy, problem } = useAction('createCampaign', 'Campaign created. Next, add contacts.')
  const create = async () => {
    const made = await run({
      body: { ...given(readDraft(draft)), name: draft.name, ...(draft.key && { key: draft.key.trim() }) },
    })
    if (made) go(`/campaigns/${made.answer.id}`)
  }
  return (
    <Page title="New campaign" back={{ to: '/campaigns', title: 'Campaigns' }}>
      <div className="narrow">
        <Form does="createCampaign" onSubmit={create} problem={problem}>
          <CampaignFields draft={draft} isNew onChange={(change) => setDraft((now) => ({ ...now, ...change }))} />
          <Buttons>
            <Button kind="primary" type="submit" isBusy={isBusy}>
              Create campaign
            </Button>
            <LinkButton to="/campaigns" kind="quiet">
              Cancel
            </LinkButton>
          </Buttons>
        </Form>
      </div>
    </Page>
  )
}
