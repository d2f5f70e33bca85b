import type { Template } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Buttons, Form } from '../../../kit/form.tsx'
import { Loaded, Page, Section } from '../../../kit/page.tsx'
import { Copy, Facts, Moment } from '../../../kit/show.tsx'
import { readTemplate, templateDraftOf, TemplateFields } from './fields.tsx'
import { TemplatePreview } from './preview.tsx'

export function TemplateScreen() {
  const { id } = useParams<{ id: string }>()
  const [isGone, setGone] = useState(false)
  // A deleted template is not fetched again while the list loads.
  const call = useCall('getTemplate', { path: { template: id } }, { enabled: !isGone })
  return (
    <Page
      title={call.data?.name ?? 'Template'}
      back={{ to: '/templates', title: 'Templates' }}
      actions={call.data && <DeleteTemplate template={call.data} onGone={setGone} />}
    >
      <Loaded call={call}>
        {(template) => (
          <>
            <div className="columns">
              <EditTemplate key={template.id} template={template} />
              <TemplatePreview key={`preview ${template.id}`} template={template} />
            </div>
            <Section title="Details">
              <Facts
                facts={[
                  ['Created', <Moment key="created" at={template.created_at} />],
                  ['Updated', <Moment key="changed" at={template.updated_at} />],
                  ['Template ID', <Copy key="id" text={template.id} />],
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function EditTemplate({ template }: { template: Template }) {
  const [before, setBefore] = useState(() => templateDraftOf(template))
  const [draft, setDraft] = useState(before)
  const { run, isBusy, problem } = useAction('updateTemplate', 'Template saved.')
  const save = async () => {
    if (await run({ path: { template: template.id }, body: readTemplate(draft) })) setBefore(draft)
  }
  return (
    <Form does="updateTemplate" onSubmit={save} problem={problem}>
      <TemplateFields draft={draft} onChange={(change) => setDraft((now) => ({ ...now, ...change }))} />
      <Buttons>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Save template
        </Button>
        <Button kind="quiet" onClick={() => setDraft(before)}>
          Discard changes
        </Button>
      </Buttons>
    </Form>
  )
}

function DeleteTemplate({ template, onGone }: { template: Template; onGone: (isGone: boolean) => void }) {
  const [, go] = useLocation()
  const { run, isBusy, problem } = useAction('deleteTemplate', 'Template deleted.')
  const remove = async () => {
    onGone(true)
    const done = await run({ path: { template: template.id } })
    if (done) go('/templates')
    else onGone(false)
    return done
  }
  return (
    <ConfirmButton
      does="deleteTemplate"
      label="Delete template"
      question="Messages and broadcasts that exist keep their text. API calls that name the template fail from now on. A template that an open campaign uses can’t be deleted."
      onConfirm={remove}
      isBusy={isBusy}
      problem={problem}
    />
  )
}
