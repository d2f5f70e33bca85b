import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Buttons, Form } from '../../../kit/form.tsx'
import { Page } from '../../../kit/page.tsx'
import { readTemplate, templateDraftOf, TemplateFields } from './fields.tsx'

export function NewTemplateScreen() {
  const [, go] = useLocation()
  const [draft, setDraft] = useState(() => templateDraftOf())
  const { run, isBusy, problem } = useAction('createTemplate', 'Template created.')
  const create = async () => {
    const made = await run({ body: readTemplate(draft) })
    if (made) go(`/templates/${made.answer.id}`)
  }
  return (
    <Page title="New template" back={{ to: '/templates', title: 'Templates' }}>
      <div className="narrow">
        <Form does="createTemplate" onSubmit={create} problem={problem}>
          <TemplateFields draft={draft} onChange={(change) => setDraft((now) => ({ ...now, ...change }))} />
          <Buttons>
            <Button kind="primary" type="submit" isBusy={isBusy}>
              Create template
            </Button>
            <LinkButton to="/templates" kind="quiet">
              Cancel
            </LinkButton>
          </Buttons>
        </Form>
      </div>
    </Page>
  )
}
