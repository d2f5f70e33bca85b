import { useState } from 'react'
import { countryOptions } from '../../../kit/country.ts'
import { SelectField, TextField } from '../../../kit/form.tsx'
import { TimezoneField } from '../../../kit/timezone-field.tsx'
import { Group, type Settings, type SettingsChange } from './group.tsx'

type OnUnknown = SettingsChange['on_unknown']

const unknowns: readonly (readonly [string, string, OnUnknown])[] = [
  ['', 'Use the carrier’s setting', null],
  ['hold', 'Hold as unconfirmed, and never send twice', 'hold'],
  ['resend', 'Send again, even if it may arrive twice', 'resend'],
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
    default_country: country || null,
    timezone,
    on_unknown: unknowns.find(([value]) => value === onUnknown)?.[2] ?? null,
  })
  return (
    <Group title="Account and defaults" body={body}>
      <TextField
        label="Name"
        name="account/name"
        value={name}
        onChange={setName}
        hint="Shown to people, and in replies to STOP."
        required
      />
      <div className="fields">
        <TextField
          label="Default sender"
          name="default_sender"
          value={sender}
          onChange={setSender}
          hint="Used when a message names no sender."
        />
        <SelectField
          label="Default country"
          name="default_country"
          value={country}
          onChange={setCountry}
          options={[['', 'None'], ...countryOptions]}
          hint="For national numbers in campaigns without a country."
        />
        <TimezoneField
          label="Time zone"
          name="timezone"
          value={timezone}
          onChange={setTimezone}
          hint="Times are shown, and daily limits start, in this zone."
        />
      </div>
      <SelectField
        label="When the carrier doesn’t answer"
        name="on_unknown"
        value={onUnknown}
        onChange={setOnUnknown}
        options={unknowns.map(([value, text]): [string, string] => [value, text])}
        hint={
          <a href="/docs/api/unknown-outcomes" target="_blank" rel="noreferrer">
            How unanswered messages are handled
          </a>
        }
      />
    </Group>
  )
}
