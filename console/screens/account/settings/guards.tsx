import { useState } from 'react'
import { Link } from 'wouter'
import { TextField } from '../../../kit/form.tsx'
import { formatNumber } from '../../../kit/show.tsx'
import { numberOrNone } from '../../../kit/typed.ts'
import { Group, textOf, type Settings, type SettingsChange } from './group.tsx'

export function GuardsGroup({ of: { limits, spend, velocity, dedupe_window, approval } }: { of: Settings }) {
  const [segments, setSegments] = useState(textOf(limits.daily_segments))
  const [amount, setAmount] = useState(textOf(spend.daily_limit))
  const [currency, setCurrency] = useState(spend.currency ?? '')
  const [perPrefix, setPerPrefix] = useState(textOf(velocity.per_prefix_per_hour))
  const [dedupe, setDedupe] = useState(String(dedupe_window))
  const [recipients, setRecipients] = useState(textOf(approval.recipients_above))
  const body = (): SettingsChange => ({
    limits: { daily_segments: numberOrNone(segments) },
    spend: { daily_limit: amount.trim() || null, currency: currency.trim().toUpperCase() || null },
    velocity: { per_prefix_per_hour: numberOrNone(perPrefix) },
    dedupe_window: numberOrNone(dedupe) ?? 0,
    approval: { recipients_above: numberOrNone(recipients) },
  })
  return (
    <Group
      title="Guards"
      lead={
        <>
          Limits that stop messages before they cost money. See what they stopped in <Link href="/guards">guards</Link>.
        </>
      }
      body={body}
    >
      <div className="fields">
        <TextField
          label="Segments per day"
          name="limits/daily_segments"
          inputMode="decimal"
          value={segments}
          onChange={setSegments}
          hint={
            limits.segments_today === null
              ? 'Leave empty for no limit.'
              : `${formatNumber(limits.segments_today)} today. Leave empty for no limit.`
          }
        />
        <TextField
          label="Spend per day"
          name="spend/daily_limit"
          inputMode="decimal"
          value={amount}
          onChange={setAmount}
          hint={
            spend.spent_today === null
              ? 'For example 250.00. Leave empty for no limit.'
              : `${spend.spent_today} ${spend.currency ?? ''} today. Leave empty for no limit.`
          }
        />
        <TextField
          label="Currency"
          name="spend/currency"
          maxLength={3}
          value={currency}
          onChange={setCurrency}
          hint="For example EUR."
        />
      </div>
      <div className="fields">
        <TextField
          label="Sequential-number limit (per hour)"
          name="velocity/per_prefix_per_hour"
          inputMode="decimal"
          value={perPrefix}
          onChange={setPerPrefix}
          hint="Messages to numbers that differ only in the last four digits. Broadcasts don’t count. Leave empty for no limit."
        />
        <TextField
          label="Duplicate window (seconds)"
          name="dedupe_window"
          inputMode="decimal"
          value={dedupe}
          onChange={setDedupe}
          hint="Refuses the same text from the same sender to the same number within this time. 0: off."
        />
        <TextField
          label="Approval needed above (recipients)"
          name="approval/recipients_above"
          inputMode="decimal"
          value={recipients}
          onChange={setRecipients}
          hint="Larger broadcasts need approval by another person. Leave empty for none."
        />
      </div>
    </Group>
  )
}
