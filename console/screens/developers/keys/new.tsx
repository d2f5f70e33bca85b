import type { Answer } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Buttons, Form } from '../../../kit/form.tsx'
import { emptyKey, keyBodyOf, KeyFields } from '../../../kit/key-fields.tsx'
import { KeySecret } from '../../../kit/key-secret.tsx'
import { Page } from '../../../kit/page.tsx'

export function NewKeyScreen() {
  const [, go] = useLocation()
  const [draft, setDraft] = useState(emptyKey)
  const [made, setMade] = useState<Answer<'createApiKey'>>()
  const { run, isBusy, problem } = useAction('createApiKey', 'API key created')
  const create = async () => {
    const done = await run({ body: keyBodyOf(draft) })
    if (done) setMade(done.answer)
  }
  return (
    <Page title={made ? `Save the key ${made.name}` : 'Create API key'} back={{ to: '/keys', title: 'API keys' }}>
      <div className="narrow">
        {made ? (
          <KeySecret
            secret={made.secret}
            scopes={made.scopes}
            close="I’ve saved it — continue"
            onClose={() => go(`/keys/${made.id}`)}
          />
        ) : (
          <Form does="createApiKey" onSubmit={create} problem={problem}>
            <KeyFields draft={draft} onChange={setDraft} />
            <Buttons>
              <Button kind="primary" type="submit" isBusy={isBusy}>
                Create API key
              </Button>
              <LinkButton to="/keys" kind="quiet">
                Cancel
              </LinkButton>
            </Buttons>
          </Form>
        )}
      </div>
    </Page>
  )
}
