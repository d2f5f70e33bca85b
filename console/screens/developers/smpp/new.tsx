import type { Answer } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { Page } from '../../../kit/page.tsx'
import { emptySmpp, smppBodyOf, type SmppDraft } from './draft.ts'
import { SmppForm } from './form.tsx'
import { SmppPassword } from './password.tsx'

export function NewSmppClientScreen() {
  const [, go] = useLocation()
  const [made, setMade] = useState<Answer<'createSmppCredential'>>()
  const { run, isBusy, problem } = useAction('createSmppCredential', 'SMPP credential created')
  const create = async (draft: SmppDraft) => {
    const done = await run({ body: smppBodyOf(draft) })
    if (done) setMade(done.answer)
  }
  return (
    <Page
      title={made ? 'Save the password' : 'Create SMPP credential'}
      back={{ to: '/keys', title: 'API keys' }}
      {...(!made && { lead: 'For a program that connects over SMPP 3.4.' })}
    >
      <div className="narrow">
        {made ? (
          <SmppPassword of={made} close="I’ve saved it — continue" onClose={() => go(`/keys/smpp/${made.id}`)} />
        ) : (
          <SmppForm
            does="createSmppCredential"
            start={emptySmpp}
            label="Create credential"
            onSubmit={create}
            onCancel={() => go('/keys')}
            isBusy={isBusy}
            problem={problem}
          />
        )}
      </div>
    </Page>
  )
}
