/** How long things are kept. */
import { useState } from 'react'
import { TextField } from '../../../kit/form.tsx'
import { Group, numberOf, type Settings, type SettingsChange } from './group.tsx'

type Days = Settings['retention']

const fields: readonly (readonly [name: keyof Days, label: string, hint: string])[] = [
  ['message_body_days', 'Texts of messages', 'Days after they are over; 0: only until they are.'],
  ['reply_body_days', 'Texts of replies', 'Days; 0: two minutes.'],
  ['message_days', 'Messages without their texts', 'Days: numbers, times, outcomes.'],
  ['event_days', 'Events, and the attempts to post them', 'Days.'],
  ['audit_days', 'The audit log', 'Days; 90 at the least.'],
]

export function RetentionGroup({ of: { retention } }: { of: Settings }) {
  const [days, setDays] = useState(retention)
  const [texts, setTexts] = useState<Partial<Record<keyof Days, string>>>({})
  const body = (): SettingsChange => ({ retention: days })
  return (
    <Group
      title="How long things are kept"
      lead="What is older than a shorter time that you set goes within the hour, and does not come back."
      body={body}
    >
      <div className="fields">
        {fields.map(([name, label, hint]) => (
          <TextField
            key={name}
            label={label}
            name={`retention/${name}`}
            type="number"
            min="0"
            value={texts[name] ?? String(days[name])}
            onChange={(text) => {
              setTexts({ ...texts, [name]: text })
              const value = numberOf(text)
              if (value !== null) setDays({ ...days, [name]: value })
            }}
            hint={hint}
          />
        ))}
      </div>
    </Group>
  )
}
