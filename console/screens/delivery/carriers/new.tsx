import type { OperationRequest } from '@heliogram/sdk'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { useAction } from '../../../api.ts'
import { Button, LinkButton } from '../../../kit/button.tsx'
import { Buttons, CheckField, Form, SelectField, TextArea, TextField } from '../../../kit/form.tsx'
import { Page } from '../../../kit/page.tsx'
import { numberFrom } from '../../../kit/typed.ts'
import { initialDraft, readAll, type Draft } from './fields.ts'
import { adapters, httpGroups } from './http-fields.ts'
import { SettingField, SettingGroups } from './settings-fields.tsx'
import { smppGroups } from './smpp-fields.ts'

type NewCarrier = OperationRequest<'createCarrier'>['body']

export function NewCarrierScreen() {
  const [, go] = useLocation()
  const create = useAction('createCarrier', 'Carrier added.')
  const [kind, setKind] = useState('smpp')
  const [name, setName] = useState('')
  const [isEnabled, setEnabled] = useState(true)
  const [pace, setPace] = useState('10')
  const [priority, setPriority] = useState('100')
  const [password, setPassword] = useState('')
  const [secretsText, setSecretsText] = useState('{\n  "token": ""\n}')
  const groupsOf = (of: string) => (of === 'smpp' ? smppGroups : httpGroups(of))
  const [draft, setDraft] = useState<Draft>(() => initialDraft(groupsOf('smpp').flatMap(({ fields }) => fields)))
  const [secrets, setSecrets] = useState<Draft>({})
  const groups = groupsOf(kind)
  const fields = groups.flatMap((group) => group.fields)
  const choose = (next: string) => {
    setKind(next)
    setDraft(initialDraft(groupsOf(next).flatMap((group) => group.fields)))
    setSecrets({})
    create.reset()
  }
  const submit = async () => {
    const settings = readAll(fields, draft)
    const common = { name, enabled: isEnabled, pace: numberFrom(pace), priority: numberFrom(priority) }
    const adapter = adapters[kind]
    const body =
      adapter === undefined
        ? { ...common, kind: 'smpp', settings, password }
        : {
            ...common,
            kind: 'http',
            settings: { adapter: kind, ...settings },
            secrets: kind === 'generic' ? readJson(secretsText) : readAll(adapter.secrets, secrets),
          }
    // Unchecked text: the API reports faults beside the fields.
    const done = await create.run({ body: body as NewCarrier })
    if (done) go(`/carriers/${done.answer.id}`)
  }
  return (
    <Page title="Add a carrier" back={{ to: '/carriers', title: 'Carriers' }}>
      <div className="narrow">
        <Form does="createCarrier" onSubmit={submit} problem={create.problem}>
          <div className="fields">
            <SelectField
              label="Protocol"
              name="settings/adapter"
              value={kind}
              onChange={choose}
              options={[
                ['smpp', 'SMPP 3.4'],
                ...Object.entries(adapters).map(([value, { title }]) => [value, `HTTP: ${title}`] as const),
              ]}
            />
            <TextField label="Name" name="name" hint="For your team." value={name} onChange={setName} autoFocus />
          </div>
          <SettingGroups
            groups={groups.slice(0, 1)}
            draft={draft}
            set={(field, value) => setDraft((now) => ({ ...now, [field]: value }))}
          />
          {kind === 'smpp' && (
            <TextField
              label="Password"
              name="password"
              type="password"
              autoComplete="new-password"
              hint="To bind with, in ASCII; stored encrypted and never shown again."
              value={password}
              onChange={setPassword}
            />
          )}
          {adapters[kind]?.secrets.map((spec) => (
            <SettingField
              key={`${kind} ${spec.name}`}
              spec={spec}
              part="secrets"
              draft={secrets}
              set={(field, value) => setSecrets((now) => ({ ...now, [field]: value }))}
            />
          ))}
          {kind === 'generic' && (
            <TextArea
              label="Secrets"
              name="secrets"
              hint="By name, as the request names them; stored encrypted and never shown again."
              value={secretsText}
              onChange={setSecretsText}
              spellCheck={false}
            />
          )}
          <SettingGroups
            groups={groups.slice(1)}
            draft={draft}
            set={(field, value) => setDraft((now) => ({ ...now, [field]: value }))}
          />
          <div className="fields">
            <TextField
              label="Pace"
              name="pace"
              hint="Segments a second that the carrier allows."
              inputMode="decimal"
              value={pace}
              onChange={setPace}
            />
            <TextField
              label="Priority"
              name="priority"
              hint="Lower values are used first."
              inputMode="numeric"
              value={priority}
              onChange={setPriority}
            />
          </div>
          <CheckField
            label="Enabled"
            name="enabled"
            hint="Connects as soon as you save."
            value={isEnabled}
            onChange={setEnabled}
          />
          <p className="hint">
            {kind !== 'smpp' &&
              'The carrier needs two callback URLs from you, for receipts and replies. You see them after adding it. '}
            <a href="/docs/carriers" target="_blank" rel="noreferrer">
              Read about carriers
            </a>
          </p>
          <Buttons>
            <Button kind="primary" type="submit" isBusy={create.isBusy}>
              Add carrier
            </Button>
            <LinkButton to="/carriers">Cancel</LinkButton>
          </Buttons>
        </Form>
      </div>
    </Page>
  )
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
