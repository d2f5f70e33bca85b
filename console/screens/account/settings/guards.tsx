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
          They stop messages before these cost money. What they have stopped is with the{' '}
          <Link href="/guards">guards</Link>.
        </>
      }
      body={body}
    >
      <div className="fields">
        <TextField
          label="Segments a day"
          name="limits/daily_segments"
          inputMode="decimal"
          value={segments}
          onChange={setSegments}
          hint={
            limits.segments_today === null
              ? 'Empty: no limit.'
              : `${formatNumber(limits.segments_today)} today. Empty: no limit.`
          }
        />
        <TextField
          label="What a day may cost"
          name="spend/daily_limit"
          inputMode="decimal"
          value={amount}
          onChange={setAmount}
          hint={
            spend.spent_today === null
              ? 'Such as 250.00. Empty: no limit.'
              : `${spend.spent_today} ${spend.currency ?? ''} today. Empty: no limit.`
          }
        />
        <TextField
          label="Currency"
          name="spend/currency"
          maxLength={3}
          value={currency}
          onChange={setCurrency}
          hint="Three letters, such as EUR."
        />
      </div>
      <div className="fields">
        <TextField
          label="Numbers in a row, an hour"
          name="velocity/per_prefix_per_hour"
          inputMode="decimal"
          value={perPrefix}
          onChange={setPerPrefix}
          hint="Messages to numbers that differ in the last four digits only; broadcasts do not count. Empty: no limit."
        />
        <TextField
          label="The same text again after"
          name="dedupe_window"
          inputMode="decimal"
          value={dedupe}
          onChange={setDedupe}
          hint="Seconds in which the same text from the same sender to the same number is refused; 0: none."
        />
        <TextField
          label="Approval above"
          name="approval/recipients_above"
          inputMode="decimal"
          value={recipients}
          onChange={setRecipients}
          hint="Broadcasts to more recipients need approval by somebody else. Empty: none does."
        />
      </div>
    </Group>
  )
}
