/** A template's text for one contact: the API renders other texts only in a dry run. */
import type { Campaign, Operations } from '@heliogram/sdk'
import { useState } from 'react'
import { alphabetOf } from '../../../compose/rare.ts'
import { heliogram } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, Form, TextField } from '../../../kit/form.tsx'
import { Section } from '../../../kit/page.tsx'
import { useTask } from '../../../kit/task.tsx'
import { textsOf } from '../../../compose/pairs.tsx'
import { PreviewText } from '../templates/preview-text.tsx'
import type { SendDraft } from './draft.ts'

export function PreviewFor({ campaign, draft }: { campaign: Campaign; draft: SendDraft }) {
  const template =
    draft.textKind === 'template' ? draft.template : draft.textKind === 'campaign' ? campaign.template : null
  const [contact, setContact] = useState('')
  const [preview, setPreview] = useState<Operations['previewTemplate']['answer']>()
  const look = useTask(async () => {
    if (!template) return
    const body = {
      campaign: campaign.id,
      contact: contact.trim(),
      variables: { ...campaign.variables, ...textsOf(draft.variables) },
      ...alphabetOf(draft),
    }
    setPreview(await heliogram.call('previewTemplate', { path: { template }, body }))
  })
  if (!template) return null
  return (
    <Section title="Preview for a contact">
      <Form onSubmit={look.run} problem={look.problem}>
        <TextField
          label="Contact"
          name="contact"
          value={contact}
          onChange={setContact}
          hint="A phone number or contact ID of this campaign."
        />
        <Buttons>
          <Button type="submit" isBusy={look.isBusy} disabled={contact.trim() === ''}>
            Show preview
          </Button>
        </Buttons>
      </Form>
      {preview && !look.problem && <PreviewText of={preview} />}
    </Section>
  )
}
