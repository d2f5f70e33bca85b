/** The fields of a list's filters. What is typed counts at Enter, or when the field is left. */
import { useEffect, useState } from 'react'

interface FilterProps {
  label: string
  value: string | undefined
  onChange: (value: string) => void
}

export function FilterText({ label, value = '', onChange }: FilterProps) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  const use = () => {
    if (text.trim() !== value) onChange(text.trim())
  }
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      spellCheck={false}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={use}
      onKeyDown={(event) => {
        if (event.key === 'Enter') use()
      }}
    />
  )
}

/** `options`: values with what they are called; the empty value is the first, and means all. */
export function FilterSelect({
  label,
  value = '',
  options,
  onChange,
}: FilterProps & { options: readonly (readonly [string, string])[] }) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      {options.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** A day (UTC), as `2026-11-23`. */
export function FilterDay({ label, value = '', onChange }: FilterProps) {
  return (
    <label className="filter-day">
      {label} <input type="date" value={value} onChange={(event) => onChange(event.target.value)} />
    </label>
  )
}
