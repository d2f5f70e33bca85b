import { useState } from 'react'
import { SelectField, TextField } from '../../../kit/form.tsx'
import { TimezoneField } from '../../../kit/timezone-field.tsx'
import { Group, type Settings, type SettingsChange } from './group.tsx'

type OnUnknown = SettingsChange['on_unknown']

const unknowns: readonly (readonly [string, string, OnUnknown])[] = [
  ['', 'as the carrier has it', null],
  ['hold', 'hold: wait for a receipt, and never send twice', 'hold'],
  ['resend', 'resend: rather twice than not at all', 'resend'],
]

export function AccountGroup({ of }: { of: Settings }) {
  const [name, setName] = useState(of.account.name)
  const [sender, setSender] = useState(of.default_sender ?? '')
  const [country, setCountry] = useState(of.default_country ?? '')
  const [timezone, setTimezone] = useState(of.timezone)
  const [onUnknown, setOnUnknown] = useState<string>(of.on_unknown ?? '')
  const body = (): SettingsChange => ({
    account: { name: name.trim() },
    default_sender: sender.trim() || null,
    default_country: country.trim().toUpperCase() || null,
    timezone: timezone.trim(),
    on_unknown: unknowns.find(([value]) => value === onUnknown)?.[2] ?? null,
  })
  return (
    <Group title="Account and defaults" body={body}>
      <TextField
        label="Name"
        name="account/name"
        value={name}
        onChange={setName}
        hint="Name for people; used in confirmations of STOP."
        required
      />
      <div className="fields">
        <TextField
          label="Default sender"
          name="default_sender"
          value={sender}
          onChange={setSender}
          hint="Number or name of one of your senders, for messages that name none."
        />
        <TextField
          label="Default country"
          name="default_country"
          value={country}
          onChange={setCountry}
          maxLength={2}
          hint="Of campaigns that do not say: two letters, such as GB."
        />
        <TimezoneField
          label="Time zone"
          name="timezone"
          value={timezone}
          onChange={setTimezone}
          hint="Days of limits begin by it."
        />
      </div>
      <SelectField
        label="Messages whose submit was not answered"
        name="on_unknown"
        value={onUnknown}
        onChange={setOnUnknown}
        options={unknowns.map(([value, text]): [string, string] => [value, text])}
        hint={
          <a href="/docs/api/unknown-outcomes" target="_blank" rel="noreferrer">
            What that means
          </a>
        }
      />
    </Group>
  )
}
