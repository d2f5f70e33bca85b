/** Marketing messages wait in quiet hours, by the recipient's clock. */
import { useState } from 'react'
import { CheckField, TextField } from '../../../kit/form.tsx'
import { TimezoneField } from '../../../kit/timezone-field.tsx'
import { Group, type Settings, type SettingsChange } from './group.tsx'

export function QuietHoursGroup({ of: { quiet_hours } }: { of: Settings }) {
  const [isOn, setOn] = useState(quiet_hours.enabled)
  const [start, setStart] = useState(quiet_hours.start)
  const [end, setEnd] = useState(quiet_hours.end)
  const [isMarketing, setMarketing] = useState(quiet_hours.applies_to.includes('marketing'))
  const [isTransactional, setTransactional] = useState(quiet_hours.applies_to.includes('transactional'))
  const [zone, setZone] = useState(quiet_hours.fallback_timezone)
  const body = (): SettingsChange => ({
    quiet_hours: {
      enabled: isOn,
      start,
      end,
      applies_to: [
        ...(isMarketing ? (['marketing'] as const) : []),
        ...(isTransactional ? (['transactional'] as const) : []),
      ],
      fallback_timezone: zone,
    },
  })
  return (
    <Group
      title="Quiet hours"
      lead="Messages wait until the recipient’s quiet hours end. One-time codes are never held."
      body={body}
    >
      <CheckField label="Enable quiet hours" name="quiet_hours/enabled" value={isOn} onChange={setOn} />
      <div className="fields">
        <TextField
          label="From"
          name="quiet_hours/start"
          type="time"
          value={start}
          onChange={setStart}
          hint="In the recipient’s time zone."
        />
        <TextField
          label="To"
          name="quiet_hours/end"
          type="time"
          value={end}
          onChange={setEnd}
          hint="Sending resumes at this time."
        />
        <TimezoneField
          label="Fallback time zone"
          name="quiet_hours/fallback_timezone"
          value={zone}
          onChange={setZone}
          hint="Used when a recipient’s time zone is unknown."
        />
      </div>
      <CheckField
        label="Hold marketing messages"
        name="quiet_hours/applies_to"
        value={isMarketing}
        onChange={setMarketing}
      />
      <CheckField
        label="Hold transactional messages"
        name="quiet_hours/applies_to/1"
        value={isTransactional}
        onChange={setTransactional}
      />
    </Group>
  )
}
