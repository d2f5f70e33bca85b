/** A time zone by its IANA name, with those that there are. */
import { useId } from 'react'
import { TextField } from '../../../kit/form.tsx'

interface TimezoneProps {
  label: string
  name: string
  value: string
  onChange: (value: string) => void
  hint?: string
}

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')]

export function TimezoneField(props: TimezoneProps) {
  const id = useId()
  return (
    <div>
      <TextField {...props} list={id} spellCheck={false} />
      <datalist id={id}>
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </div>
  )
}
