import { useState } from 'react'
import { TextField } from '../../../kit/form.tsx'
import { numberFrom } from '../../../kit/typed.ts'
import { Group, type Settings, type SettingsChange } from './group.tsx'

type Days = Settings['retention']

const fields: readonly (readonly [name: keyof Days, label: string, hint: string])[] = [
  ['message_body_days', 'Message texts (days)', 'Counted from the end of the message. 0: delete at its end.'],
  ['reply_body_days', 'Reply texts (days)', '0: delete after two minutes.'],
  ['message_days', 'Messages (days)', 'Numbers, times and outcomes.'],
  ['event_days', 'Events and deliveries (days)', 'The event log and webhook attempts.'],
  ['audit_days', 'Audit log (days)', 'At least 90.'],
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
      title="Data retention"
      lead="Shortening a period deletes older data within an hour, permanently."
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
