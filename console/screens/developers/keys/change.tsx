import type { ApiKey } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Choices } from '../../../kit/choices.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form, TextArea, TextField } from '../../../kit/form.tsx'
import { wordsOf } from '../../../kit/typed.ts'
import { groupScopes, scopesIn, type Scope } from '../../../kit/scopes.ts'

export function ChangeKeyDialog({ of, onClose }: { of: ApiKey; onClose: () => void }) {
  const [own] = useState(() => scopesIn(of.scopes))
  const [name, setName] = useState(of.name)
  const [networks, setNetworks] = useState(of.ip_allow.join('\n'))
  const [scopes, setScopes] = useState<ReadonlySet<Scope>>(new Set(own))
  const { run, isBusy, problem } = useAction('updateApiKey', 'API key updated')
  const change = async () => {
    const body = { name: name.trim(), ip_allow: wordsOf(networks), scopes: [...scopes] }
    if (await run({ path: { id: of.id }, body })) onClose()
  }
  return (
    <Dialog title="Edit key" onClose={onClose}>
      <Form does="updateApiKey" onSubmit={change} problem={problem}>
        <TextField label="Name" name="name" value={name} onChange={setName} required />
        <TextArea
          label="Allowed networks"
          name="ip_allow"
          rows={2}
          value={networks}
          onChange={setNetworks}
          hint="IP addresses and networks that may use the key. Leave empty to allow all."
          spellCheck={false}
        />
        <Choices
          label="Scopes"
          name="scopes"
          hint="You can remove access. To add access, create another key."
          groups={groupScopes(own)}
          chosen={scopes}
          onChange={setScopes}
        />
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Save changes
          </Button>
          <Button kind="quiet" onClick={onClose}>
            Cancel
          </Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
