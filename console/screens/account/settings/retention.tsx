import { useState } from 'react'
import { TextField } from '../../../kit/form.tsx'
import { numberFrom } from '../../../kit/typed.ts'
import { Group, type Settings, type SettingsChange } from './group.tsx'

type Days = Settings['retention']

const fields: readonly (readonly [name: keyof Days, label: string, hint: string])[] = [
  ['message_body_days', 'Texts of messages', 'Days after they are over; 0: only until they are.'],
  ['reply_body_days', 'Texts of replies', 'Days; 0: two minutes.'],
  ['message_days', 'Messages without their texts', 'Days: numbers, times, outcomes.'],
  ['event_days', 'Events, and the attempts to post them', 'Days.'],
  ['audit_days', 'The audit log', 'Days; 90 at the least.'],
]

const textsOf = (days: Days): Record<keyof Days, string> => ({
  message_body_days: String(days.message_body_days),
  reply_body_days: String(days.reply_body_days),
  message_days: String(days.message_days),
  event_days: String(days.event_days),
  audit_days: String(days.audit_days),
})

export function RetentionGroup({ of: { retention } }: { of: Settings }) {
  const [days, setDays] = useState(() => textsOf(retention))
  const body = (): SettingsChange => ({
    retention: {
      message_body_days: numberFrom(days.message_body_days),
      reply_body_days: numberFrom(days.reply_body_days),
      message_days: numberFrom(days.message_days),
      event_days: numberFrom(days.event_days),
      audit_days: numberFrom(days.audit_days),
    },
  })
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
            inputMode="decimal"
            value={days[name]}
            onChange={(text) => setDays({ ...days, [name]: text })}
            hint={hint}
          />
        ))}
      </div>
    </Group>
  )
}
