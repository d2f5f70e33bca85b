/** IANA names, with suggestions. */
import { useId } from 'react'
import { TextField } from './form.tsx'

interface TimezoneFieldProps {
  label?: string
  name?: string
  value: string
  onChange: (value: string) => void
  hint?: string
}

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]

export function TimezoneField({ label = 'Time zone', name = 'timezone', ...rest }: TimezoneFieldProps) {
  const id = useId()
  return (
    <div>
      <TextField label={label} name={name} {...rest} list={id} placeholder="Europe/London" spellCheck={false} />
      <datalist id={id}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </div>
  )
}
