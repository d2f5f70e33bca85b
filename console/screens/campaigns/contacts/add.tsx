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
      <Button does="createContact" data-key="n" onClick={() => setOpen(true)}>
        Add contact
      </Button>
      {isOpen && <AddDialog campaign={campaign} onClose={() => setOpen(false)} />}
    </>
  )
}

function AddDialog({ campaign, onClose }: { campaign: string; onClose: () => void }) {
  const [draft, setDraft] = useState(() => contactDraftOf())
  const { run, isBusy, problem } = useAction('createContact', 'Contact added.')
  const existing = problem instanceof HeliogramError && problem.code === 'contact_exists' ? problem.problem : undefined
  const existingId = existing?.['existing_id']
  const add = async () => {
    const { attributes: _attributes, ...contact } = readContact(draft)
    const body = { ...given(contact), attributes: textsOf(draft.attributes), phone_number: draft.phoneNumber.trim() }
    if (await run({ path: { campaign }, body })) onClose()
  }
  return (
    <Dialog title="Add contact" onClose={onClose}>
      <Form does="createContact" onSubmit={add} problem={problem}>
        <ContactFields draft={draft} isNew onChange={(change) => setDraft((now) => ({ ...now, ...change }))} />
        {typeof existingId === 'string' && (
          <p className="notice">
            This campaign already has a contact with this number.{' '}
            <Link href={`/campaigns/${campaign}/contacts/${existingId}`}>View contact</Link>
          </p>
        )}
        <Buttons>
          <Button kind="primary" type="submit" isBusy={isBusy}>
            Add contact
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </Buttons>
      </Form>
    </Dialog>
  )
}
