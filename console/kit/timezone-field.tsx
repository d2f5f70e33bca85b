/** IANA names. */
import { SelectField } from './form.tsx'

interface TimezoneFieldProps {
  label?: string
  name?: string
  value: string
  onChange: (value: string) => void
  hint?: string
}

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')]

export const TimezoneField = ({ label = 'Time zone', name = 'timezone', ...rest }: TimezoneFieldProps) => (
  <SelectField label={label} name={name} {...rest} options={zones.map((zone) => [zone, zone.replaceAll('_', ' ')])} />
)
