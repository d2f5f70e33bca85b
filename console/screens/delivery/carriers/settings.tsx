/** Typed values survive live updates. */
import type { Carrier } from '@heliogram/sdk'
import { useState } from 'react'
import { useAction } from '../../../api.ts'
import { Button } from '../../../kit/button.tsx'
import { Buttons, CheckField, Form, TextArea, TextField } from '../../../kit/form.tsx'
import { numberFrom } from '../../../kit/typed.ts'
import { CarrierDangers } from './danger.tsx'
import { draftOf, readAll, readChanges, type Draft } from './fields.ts'
import { adapters, httpGroups } from './http-fields.ts'
import { SettingField, SettingGroups } from './settings-fields.tsx'
import { smppGroups } from './smpp-fields.ts'

export function SettingsPart({ carrier }: { carrier: Carrier }) {
  const adapter = 'adapter' in carrier.settings ? carrier.settings.adapter : null
  const groups = adapter === null ? smppGroups : httpGroups(adapter)
  const fields = groups.flatMap((group) => group.fields)
  const specs = adapter === null ? [] : (adapters[adapter]?.secrets ?? [])
  const [before, setBefore] = useState(() => carrier)
  const [draft, setDraft] = useState<Draft>(() => draftOf(fields, carrier.settings))
  const [name, setName] = useState(carrier.name)
  const [pace, setPace] = useState(String(carrier.pace))
  const [priority, setPriority] = useState(String(carrier.priority))
  const [password, setPassword] = useState('')
  const [secrets, setSecrets] = useState<Draft>({})
  const [removed, setRemoved] = useState<readonly string[]>([])
  const [secretsText, setSecretsText] = useState('')
  const update = useAction('updateCarrier', 'Settings updated. The links drain and bind again.')
  const settings = readChanges(fields, draftOf(fields, before.settings), draft)
  const named = adapter === 'generic' ? readSecrets(secretsText) : readAll(specs, secrets)
  const changedSecrets = { ...named, ...Object.fromEntries(removed.map((secret) => [secret, null])) }
  const body = {
    ...(name !== before.name && { name }),
    ...(pace !== String(before.pace) && { pace: numberFrom(pace) }),
    ...(priority !== String(before.priority) && { priority: numberFrom(priority) }),
    ...(Object.keys(settings).length > 0 && { settings }),
    ...(password !== '' && { password }),
    ...(Object.keys(changedSecrets).length > 0 && { secrets: changedSecrets }),
  }
  const submit = async () => {
    const done = await update.run({ path: { id: carrier.id }, body })
    if (!done) return
    setBefore(done.answer)
    setDraft(draftOf(fields, done.answer.settings))
    setPassword('')
    setSecrets({})
    setRemoved([])
    setSecretsText('')
  }
  const kept = carrier.has_password ? 'Leave empty to keep the stored one.' : 'None is stored.'
  return (
    <div className="narrow">
      <Form does="updateCarrier" onSubmit={submit} problem={update.problem}>
        <div className="fields">
          <TextField label="Name" name="name" hint="For your team." value={name} onChange={setName} />
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
        <SettingGroups
          groups={groups}
          draft={draft}
          set={(field, value) => setDraft((now) => ({ ...now, [field]: value }))}
        />
        {adapter === null && (
          <TextField
            label="New password"
            name="password"
            type="password"
            autoComplete="new-password"
            hint={kept}
            value={password}
            onChange={setPassword}
          />
        )}
        {specs.map((spec) => (
          <div key={spec.name} className="form">
            <SettingField
              spec={{
                ...spec,
                label: `New ${spec.label}`,
                hint: `${spec.hint ?? ''} Leave empty to keep the stored one.`.trim(),
              }}
              part="secrets"
              draft={secrets}
              set={(field, value) => setSecrets((now) => ({ ...now, [field]: value }))}
            />
            {spec.isOptional && (
              <CheckField
                label={`Remove ${spec.label}`}
                name={`remove/${spec.name}`}
                value={removed.includes(spec.name)}
                onChange={(isGone) =>
                  setRemoved((now) => (isGone ? [...now, spec.name] : now.filter((one) => one !== spec.name)))
                }
              />
            )}
          </div>
        ))}
        {adapter === 'generic' && (
          <TextArea
            label="Other secrets"
            name="secrets"
            hint={
              named === null
                ? 'This is not JSON yet: {"name": "value"}.'
                : 'As {"name": "value"}; null removes one, and those that are not named stay as they are.'
            }
            value={secretsText}
            onChange={setSecretsText}
            spellCheck={false}
          />
        )}
        <Buttons>
          <Button
            kind="primary"
            type="submit"
            isBusy={update.isBusy}
            disabled={named === null || Object.keys(body).length === 0}
          >
            Save settings
          </Button>
        </Buttons>
      </Form>
      <CarrierDangers carrier={carrier} />
    </div>
  )
}

/** Null if the text is not a JSON object. */
function readSecrets(text: string): Record<string, unknown> | null {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}
