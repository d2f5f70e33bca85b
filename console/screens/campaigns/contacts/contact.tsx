import type { Campaign, Contact } from '@heliogram/sdk'
import { useState } from 'react'
import { Link, useLocation, useParams } from 'wouter'
import { useAction, useCall } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { ConfirmButton } from '../../../kit/dialog.tsx'
import { Buttons, Form } from '../../../kit/form.tsx'
import { Empty, Loaded, Section } from '../../../kit/page.tsx'
import { Badge, Facts, Moment, PhoneNumber, Time } from '../../../kit/show.tsx'
import { Table } from '../../../kit/table.tsx'
import { toast } from '../../../kit/toast.tsx'
import { changesOf } from '../draft.ts'
import { CampaignFrame } from '../frame.tsx'
import { attributeChanges, contactDraftOf, readContact } from './draft.ts'
import { ContactFields } from './fields.tsx'

export function ContactScreen() {
  return <CampaignFrame>{(campaign) => <OneContact campaign={campaign} />}</CampaignFrame>
}

function OneContact({ campaign }: { campaign: Campaign }) {
  const { contact: id } = useParams<{ contact: string }>()
  const [isGone, setGone] = useState(false)
  // A deleted contact is not fetched again while the list loads.
  const call = useCall('getContact', { path: { campaign: campaign.id, contact: id } }, { enabled: !isGone })
  return (
    <Loaded call={call}>
      {(contact) => (
        <>
          <div className="section-head">
            <h2>
              <PhoneNumber of={contact.phone_number} /> <Badge status={contact.status} />
            </h2>
            <div className="actions">
              <Link href={`/campaigns/${campaign.id}/contacts`}>All contacts</Link>
              <DeleteContact contact={contact} onGone={setGone} />
            </div>
          </div>
          {contact.status === 'opted_out' && (
            <p className="notice">
              This number has opted out and gets no messages.{' '}
              <Link href={`/opt-outs/${contact.phone_number}`}>View opt-out</Link>
            </p>
          )}
          {contact.fields_unavailable && (
            <p className="notice">
              The name, external ID, attributes and consent are encrypted and can’t be decrypted. Ask your operator.
            </p>
          )}
          <div className="columns">
            <EditContact key={contact.id} contact={contact} />
            <div>
              <Section title="Details">
                <Facts
                  facts={[
                    ['Country', contact.country],
                    ['Line type', contact.line_type],
                    ['Last message', contact.last_message_at && <Moment at={contact.last_message_at} />],
                    ['Added', <Moment key="added" at={contact.created_at} />],
                    ['Changed', <Moment key="changed" at={contact.updated_at} />],
                    ['Contact ID', <code key="id">{contact.id}</code>],
                  ]}
                />
              </Section>
              <Messages contact={contact.id} />
            </div>
          </div>
        </>
      )}
    </Loaded>
  )
}

function EditContact({ contact }: { contact: Contact }) {
  // As loaded or last saved.
  const [before, setBefore] = useState(contact)
  const [draft, setDraft] = useState(() => contactDraftOf(contact))
  const { run, isBusy, problem } = useAction('updateContact', 'Contact saved.')
  const save = async () => {
    const now = readContact(draft, before)
    const { attributes, ...changes } = changesOf(readContact(contactDraftOf(before), before), now)
    const body = { ...changes, ...(attributes && { attributes: attributeChanges(before.attributes, attributes) }) }
    if (Object.keys(body).length === 0) return toast('No changes to save.')
    const saved = await run({ path: { campaign: contact.campaign, contact: contact.id }, body })
    if (!saved) return
    setBefore(saved.answer)
    setDraft(contactDraftOf(saved.answer))
  }
  return (
    <Form does="updateContact" onSubmit={save} problem={problem}>
      <ContactFields draft={draft} onChange={(change) => setDraft((now) => ({ ...now, ...change }))} />
      <Buttons>
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Save contact
        </Button>
        <Button kind="quiet" onClick={() => setDraft(contactDraftOf(before))}>
          Discard changes
        </Button>
      </Buttons>
    </Form>
  )
}

function DeleteContact({ contact, onGone }: { contact: Contact; onGone: (isGone: boolean) => void }) {
  const [, go] = useLocation()
  const { run, isBusy, problem } = useAction('deleteContact', 'Contact deleted.')
  const remove = async () => {
    onGone(true)
    const done = await run({ path: { campaign: contact.campaign, contact: contact.id } })
    if (done) go(`/campaigns/${contact.campaign}/contacts`)
    else onGone(false)
    return done
  }
  return (
    <ConfirmButton
      does="deleteContact"
      label="Delete contact"
      question="The contact is removed from this campaign, and a running broadcast skips it. Its messages and an opt-out of the number stay."
      onConfirm={remove}
      isBusy={isBusy}
      problem={problem}
    />
  )
}

function Messages({ contact }: { contact: string }) {
  const messages = useCall('listMessages', { query: { contact, limit: 10 } }, { every: 5000 })
  return (
    <Section title="Messages" actions={<Link href={`/messages?contact=${contact}`}>View all messages</Link>}>
      <Loaded call={messages}>
        {({ data }) => (
          <Table
            label="Messages"
            rows={data}
            keyOf={({ id }) => id}
            to={({ id }) => `/messages/${id}`}
            columns={[
              { title: 'When', cell: ({ created_at }) => <Time at={created_at} /> },
              { title: 'Status', cell: ({ status }) => <Badge status={status} /> },
              {
                title: 'Text',
                isWide: true,
                cell: ({ message }) => message ?? <span className="none">not shown</span>,
              },
            ]}
            empty={<Empty title="No messages yet">Messages to and from this contact appear here.</Empty>}
          />
        )}
      </Loaded>
    </Section>
  )
}
