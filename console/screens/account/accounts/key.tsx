import type { Account, Answer } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form } from '../../../kit/form.tsx'
import { emptyKey, keyBodyOf, KeyFields } from '../../../kit/key-fields.tsx'
import { allScopes } from '../../../kit/scopes.ts'

export type AccountKey = Answer<'createAccountApiKey'>

/** Scopes of the installation and of the parent account are not for keys of accounts below. */
const scopesBelow = allScopes.filter((scope) => !/^(carriers|routes|accounts):/.test(scope))

interface AccountKeyProps {
  of: Account
  onClose: () => void
  onDone: (key: AccountKey) => void
}

export function AccountKeyDialog({ of, onClose, onDone }: AccountKeyProps) {
  const [draft, setDraft] = useState(emptyKey)
  const { run, isBusy, problem } = useAction('createAccountApiKey', 'API key created')
  const create = async () => {
    const done = await run({ path: { id: of.id }, body: keyBodyOf(draft) })
    if (done) onDone(done.answer)
  }
  return (
    <Dialog title={`Create API key for ${of.name}`} onClose={onClose}>
      <Form does="createAccountApiKey" onSubmit={create} problem={problem}>
        <KeyFields draft={draft} onChange={setDraft} scopes={scopesBelow} />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Create API key
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
