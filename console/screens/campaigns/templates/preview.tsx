import type { Operations, Template } from '@heliogram/sdk'
import { useState } from 'react'
import { heliogram } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Fold } from '../../../kit/fold.tsx'
import { Buttons, Form, SelectField, TextField } from '../../../kit/form.tsx'
import { useTask } from '../../../kit/task.tsx'
import { PreviewText } from './preview-text.tsx'

export function TemplatePreview({ template }: { template: Template }) {
  const [values, setValues] = useState<Record<string, string>>({})
  const [language, setLanguage] = useState('')
  const [campaign, setCampaign] = useState('')
  const [contact, setContact] = useState('')
  const [preview, setPreview] = useState<Operations['previewTemplate']['answer']>()
  const look = useTask(async () => {
    // Empty means not given: then the contact's value or the default applies.
    const variables = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
    const body = {
      variables,
      ...(language && { language }),
      ...(contact.trim() && { contact: contact.trim(), campaign: campaign.trim() }),
    }
    setPreview(await heliogram.call('previewTemplate', { path: { template: template.id }, body }))
  })
  return (
    <div className="card">
      <h2>Preview</h2>
      <p className="hint">Save the template to preview your changes.</p>
      <Form onSubmit={look.run} problem={look.problem}>
        {template.variables.map(({ name, required }) => (
          <TextField
            key={name}
            label={name}
            name={`variables/${name}`}
            value={values[name] ?? ''}
            onChange={(value) => setValues((now) => ({ ...now, [name]: value }))}
            hint={required ? 'Required.' : 'Optional.'}
          />
        ))}
        <SelectField
          label="Preview language"
          name="language"
          value={language}
          onChange={setLanguage}
          options={[
            ['', `The contact’s language, or ${template.language}`],
            ...[template.language, ...Object.keys(template.languages)].map((one): [string, string] => [one, one]),
          ]}
        />
        <Fold title="For a contact">
          <div className="fields">
            <TextField
              label="Campaign"
              name="campaign"
              value={campaign}
              onChange={setCampaign}
              hint="Campaign ID or key."
            />
            <TextField
              label="Contact"
              name="contact"
              value={contact}
              onChange={setContact}
              hint="Phone number or contact ID. Its fields are filled in."
            />
          </div>
        </Fold>
        <Buttons>
          <Button type="submit" isBusy={look.isBusy}>
            Show preview
          </Button>
        </Buttons>
      </Form>
      {preview && !look.problem && <PreviewText of={preview} />}
    </div>
  )
}
