/** Sent unchanged; CSV by default. */
import { useId } from 'react'

export function FileField({
  label,
  hint,
  accept = '.csv,text/csv',
  onChange,
}: {
  label: string
  hint: string
  accept?: string
  onChange: (file: File | null) => void
}) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept={accept}
        aria-describedby={`${id}-about`}
        onChange={(event) => onChange(event.target.files?.[0] ?? null)}
      />
      <p id={`${id}-about`} className="hint">
        {hint}
      </p>
    </div>
  )
}

/** Sets the type for the API: browsers report another one if a spreadsheet is installed, or none. */
export const withType = (file: File): Blob =>
  new Blob([file], { type: file.name.endsWith('.json') ? 'application/json' : 'text/csv' })
