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
      fallback_timezone: zone.trim(),
    },
  })
  return (
    <Group
      title="Quiet hours"
      lead="Messages wait for the end of the recipient’s night. Codes are never held."
      body={body}
    >
      <CheckField label="Keep quiet hours" name="quiet_hours/enabled" value={isOn} onChange={setOn} />
      <div className="fields">
        <TextField
          label="From"
          name="quiet_hours/start"
          type="time"
          value={start}
          onChange={setStart}
          hint="In the recipient's time zone."
        />
        <TextField
          label="To"
          name="quiet_hours/end"
          type="time"
          value={end}
          onChange={setEnd}
          hint="The first minute that is not quiet any more."
        />
        <TimezoneField
          label="Time zone of the others"
          name="quiet_hours/fallback_timezone"
          value={zone}
          onChange={setZone}
          hint="Of those whose own is not known, and whose number is of no country."
        />
      </div>
      <CheckField label="Marketing waits" name="quiet_hours/applies_to" value={isMarketing} onChange={setMarketing} />
      <CheckField
        label="Transactional messages wait, too"
        name="quiet_hours/applies_to/1"
        value={isTransactional}
        onChange={setTransactional}
      />
    </Group>
  )
}
