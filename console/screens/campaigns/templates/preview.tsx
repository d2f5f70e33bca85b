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
      <p className="hint">Of the texts as they are saved.</p>
      <Form onSubmit={look.run} problem={look.problem}>
        {template.variables.map(({ name, required }) => (
          <TextField
            key={name}
            label={name}
            name={`variables/${name}`}
            value={values[name] ?? ''}
            onChange={(value) => setValues((now) => ({ ...now, [name]: value }))}
            hint={required ? 'Nothing stands in for it.' : 'It may be left out.'}
          />
        ))}
        <SelectField
          label="In"
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
            <TextField label="Campaign" name="campaign" value={campaign} onChange={setCampaign} hint="Its id or key." />
            <TextField
              label="Contact"
              name="contact"
              value={contact}
              onChange={setContact}
              hint="Its number or id; its fields are the values."
            />
          </div>
        </Fold>
        <Buttons>
          <Button type="submit" isBusy={look.isBusy}>
            Show the text
          </Button>
        </Buttons>
      </Form>
      {preview && !look.problem && <PreviewText of={preview} />}
    </div>
  )
}
