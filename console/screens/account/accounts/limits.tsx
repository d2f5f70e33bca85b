import type { Account } from '@heliogram/sdk'
import { TextField } from '../../../kit/form.tsx'
import { numberOrNone } from '../../../kit/typed.ts'

interface Limits {
  pace: string
  perSecond: string
}

export const limitsOf = (account?: Account): Limits => ({
  pace: String(account?.pace ?? ''),
  perSecond: String(account?.api_per_second ?? ''),
})

export const readLimits = ({ pace, perSecond }: Limits) => ({
  pace: numberOrNone(pace),
  api_per_second: numberOrNone(perSecond),
})

export const LimitFields = ({ limits, onChange }: { limits: Limits; onChange: (limits: Limits) => void }) => (
  <div className="fields">
    <TextField
      label="Pace"
      name="pace"
      inputMode="decimal"
      value={limits.pace}
      onChange={(pace) => onChange({ ...limits, pace })}
      hint="Segments per second for the whole account. Leave empty for no limit."
    />
    <TextField
      label="Requests per second"
      name="api_per_second"
      inputMode="decimal"
      value={limits.perSecond}
      onChange={(perSecond) => onChange({ ...limits, perSecond })}
      hint="For each API key or login. Leave empty for the default."
    />
  </div>
)
