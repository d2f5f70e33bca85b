import { HeliogramError } from '@heliogram/sdk'
import { useState } from 'react'
import { Link } from 'wouter'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Buttons, Form } from '../../../kit/form.tsx'
import { given } from '../draft.ts'
import { textsOf } from '../../../compose/pairs.tsx'
import { contactDraftOf, readContact } from './draft.ts'
import { ContactFields } from './fields.tsx'

export function AddContact({ campaign }: { campaign: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button does="createContact" kind="primary" data-key="n" onClick={() => setOpen(true)}>
        Add a contact
      </Button>
      {isOpen && <AddDialog campaign={campaign} onClose={() => setOpen(false)} />}
    </>
  )
}

function AddDialog({ campaign, onClose }: { campaign: string; onClose: () => void }) {
  const [draft, setDraft] = useState(() => contactDraftOf())
  const { run, isBusy, problem } = useAction('createContact', 'The contact is there.')
  const existing = problem instanceof HeliogramError && problem.code === 'contact_exists' ? problem.problem : undefined
  const existingId = existing?.['existing_id']
  const add = async () => {
    const { attributes: _attributes, ...contact } = readContact(draft)
    const body = { ...given(contact), attributes: textsOf(draft.attributes), phone_number: draft.phoneNumber.trim() }
    if (await run({ path: { campaign }, body })) onClose()
  }
  return (
    <Dialog title="Add a contact" onClose={onClose}>
      <Form does="createContact" onSubmit={add} problem={problem}>
        <ContactFields draft={draft} isNew onChange={(change) => setDraft((now) => ({ ...now, ...change }))} />
        {typeof existingId === 'string' && (
          <p className="notice">
            The number is in this campaign already:{' '}
            <Link href={`/campaigns/${campaign}/contacts/${existingId}`}>open its contact</Link>.
          </p>
        )}
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Add
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
