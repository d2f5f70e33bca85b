/** The inputs of filters: each writes one filter into the address. */
import { useEffect, useId, useRef, useState } from 'react'

interface FilterProps {
  label: string
  /** What the address says; none or empty: everything. */
  value: string | undefined
  onChange: (value: string) => void
}

/** How long typing must pause before a text filters. Milliseconds. */
const pauseMs = 400

interface TextProps extends FilterProps {
  placeholder?: string
  /** Whether a text is whole enough to count when the typing pauses; everything otherwise. */
  isWhole?: (text: string) => boolean
}

/** A filter that is typed: it counts when the typing pauses, or at Enter. */
export function FilterText({ label, value = '', onChange, placeholder = label, isWhole = () => true }: TextProps) {
  const [text, setText] = useState(value)
  // What this field has said itself comes back through the address, and must not undo what was typed since.
  const said = useRef(value)
  useEffect(() => {
    if (value === said.current) return
    said.current = value
    setText(value)
  }, [value])
  const say = (next: string) => {
    if (next === said.current) return
    said.current = next
    onChange(next)
  }
  useEffect(() => {
    const trimmed = text.trim()
    const isPart = trimmed !== '' && !isWhole(trimmed)
    const timer = isPart ? undefined : setTimeout(() => say(trimmed), pauseMs)
    return () => clearTimeout(timer)
  })
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') say(text.trim())
      }}
    />
  )
}

/** A filter of a few values. `options`: values with what they are called, the empty one first; what else the address says is shown as it is. */
export function FilterSelect({
  label,
  value = '',
  onChange,
  options,
}: FilterProps & { options: readonly (readonly [string, string])[] }) {
  const isKnown = options.some(([option]) => option === value)
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.target.value)}>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
      {!isKnown && <option value={value}>{value}</option>}
    </select>
  )
}

/** A filter by day, as `2026-11-23`. */
export function FilterDay({ label, value = '', onChange }: FilterProps) {
  const id = useId()
  // The browser complains of what is no day, which an address may well have.
  const day = /^\d{4}-\d\d-\d\d$/.test(value) ? value : ''
  return (
    <span className="filter-day">
      <label htmlFor={id}>{label}</label>
      <input id={id} type="date" value={day} onChange={(event) => onChange(event.target.value)} />
    </span>
  )
}
