/** A link's own settings; empty ones are the carrier's. */
import type { Carrier, LinkSettings, OperationRequest } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, CheckField, Form, TextField } from '../../../kit/form.tsx'
import { numberOrNone } from '../../../kit/typed.ts'
import { draftOf, readChanges, type Draft } from './fields.ts'
import { SettingGroups } from './settings-fields.tsx'
import { smppConnection } from './smpp-fields.ts'

type Settings = NonNullable<OperationRequest<'createLink'>['body']['settings']>

const fields = smppConnection.flatMap((group) => group.fields)

export function LinkForm({
  carrier,
  link,
  onDone,
}: {
  carrier: Carrier
  link: LinkSettings | null
  onDone: () => void
}) {
  const create = useAction('createLink', 'Link added. Connecting now.')
  const update = useAction('updateLink', 'Link updated. It drains and binds again.')
  const action = link ? update : create
  const before = { ...draftOf(fields, link?.settings ?? {}), tls: write(link?.settings['tls']) }
  const [draft, setDraft] = useState<Draft>(before)
  const [isEnabled, setEnabled] = useState(link?.enabled ?? true)
  const [pace, setPace] = useState(link?.pace === null || link === null ? '' : String(link.pace))
  const [password, setPassword] = useState('')
  const [isCarriers, setCarriers] = useState(false)
  const submit = async () => {
    // Unchecked text: the API reports faults beside the fields.
    const settings = readChanges(fields, before, draft) as Settings
    const body = {
      enabled: isEnabled,
      pace: numberOrNone(pace),
      ...(carrier.kind !== 'http' && Object.keys(settings).length > 0 && { settings }),
      ...(password !== '' && { password }),
      ...(isCarriers && { password: null }),
    }
    const done = link
      ? await update.run({ path: { id: link.id }, body })
      : await create.run({ path: { id: carrier.id }, body })
    if (done) onDone()
  }
  return (
    <Form does={link ? 'updateLink' : 'createLink'} onSubmit={submit} problem={action.problem}>
      <CheckField label="Enabled" name="enabled" value={isEnabled} onChange={setEnabled} />
      <TextField
        label="Pace"
        name="pace"
        hint={`Segments per second. Leave empty for the carrier’s, ${carrier.pace}.`}
        inputMode="decimal"
        value={pace}
        onChange={setPace}
      />
      {carrier.kind !== 'http' && (
        <>
          <SettingGroups
            groups={smppConnection}
            isOverride
            draft={draft}
            set={(name, value) => setDraft((now) => ({ ...now, [name]: value }))}
          />
          <TextField
            label="Password"
            name="password"
            type="password"
            autoComplete="new-password"
            hint={
              link?.has_password
                ? 'It has one of its own. Empty: it stays as it is.'
                : 'Empty: the carrier’s. Stored encrypted and never shown.'
            }
            value={password}
            onChange={setPassword}
          />
          {link?.has_password && (
            <CheckField
              label="The carrier’s password again"
              name="carriers-password"
              value={isCarriers}
              onChange={setCarriers}
            />
          )}
        </>
      )}
      <Buttons>
        <Button kind="primary" type="submit" isBusy={action.isBusy}>
          {link ? 'Save link' : 'Add link'}
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </Buttons>
    </Form>
  )
}

const write = (isTls: unknown): string => (typeof isTls === 'boolean' ? String(isTls) : '')
