/** Inputs for filters; each writes one filter into the address. */
import { useEffect, useId, useRef, useState } from 'react'

interface FilterProps {
  label: string
  /** From the address; none or empty: no filter. */
  value: string | undefined
  onChange: (value: string) => void
}

/** Pause in typing before a text filters. Milliseconds. */
const pauseMs = 400

interface TextProps extends FilterProps {
  placeholder?: string
  /** Whether a text is complete enough to filter after a pause; by default always. */
  isWhole?: (text: string) => boolean
}

/** A text filter, applied at a pause in typing, or at Enter. */
export function FilterText({ label, value = '', onChange, placeholder = label, isWhole = () => true }: TextProps) {
  const [text, setText] = useState(value)
  // This field's own change returns through the address, and must not undo later typing.
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

/** `options`: values with labels, the empty one first; an unknown value from the address is shown too. */
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

/** As `2026-11-23`. */
export function FilterDay({ label, value = '', onChange }: FilterProps) {
  const id = useId()
  // The browser warns about invalid days, which an address may contain.
  const day = /^\d{4}-\d\d-\d\d$/.test(value) ? value : ''
  return (
    <span className="filter-day">
      <label htmlFor={id}>{label}</label>
      <input id={id} type="date" value={day} onChange={(event) => onChange(event.target.value)} />
    </span>
  )
}
