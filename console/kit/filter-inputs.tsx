/** Inputs for filters; each writes one filter into the address. */
import { useEffect, useId, useRef, useState, type ReactNode } from 'react'
import { Combobox, longList, type Options } from './combobox.tsx'

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
  /** For all but a list’s main field. */
  isChip?: boolean
  /** What to type, shown while the text is not complete. */
  hint?: string
}

/** A text filter, applied at a pause in typing, or at Enter. */
export function FilterText({
  label,
  value = '',
  onChange,
  placeholder = label,
  isWhole = () => true,
  isChip = false,
  hint,
}: TextProps) {
  const [isFocused, setFocused] = useState(false)
  const id = useId()
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
  const trimmed = text.trim()
  const isPart = trimmed !== '' && !isWhole(trimmed)
  useEffect(() => {
    const timer = isPart ? undefined : setTimeout(() => say(trimmed), pauseMs)
    return () => clearTimeout(timer)
  })
  const isHinted = isPart && hint !== undefined
  const input = (
    <input
      type="search"
      className={isChip ? 'chip-value' : undefined}
      aria-label={label}
      aria-describedby={isHinted ? id : undefined}
      placeholder={placeholder}
      autoComplete="off"
      spellCheck={false}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') say(trimmed)
      }}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    />
  )
  const clear = () => {
    setText('')
    say('')
  }
  const field = isChip ? (
    <Chip label={label} isSet={isFocused || text !== ''} onClear={text === '' ? undefined : clear}>
      {input}
    </Chip>
  ) : (
    input
  )
  if (hint === undefined) return field
  return (
    <span className="filter-text">
      {field}
      {isHinted && (
        <span id={id} className="hint" role="status">
          {hint}
        </span>
      )}
    </span>
  )
}

/** A filter that is set, such as "Status is delivered", with a button that removes it; or the button that sets it. */
function Chip({
  label,
  verb = '',
  isSet,
  onClear,
  children,
}: {
  label: string
  /** Between the label and the value. */
  verb?: string
  isSet: boolean
  /** Without it the filter always has a value. */
  onClear?: (() => void) | undefined
  children: ReactNode
}) {
  return (
    <span className={isSet ? 'chip set' : 'chip'}>
      <span className="chip-name">{isSet ? `${label}${verb}` : `+ ${label}`}</span>
      {children}
      {isSet && onClear && (
        <button type="button" className="chip-clear" onClick={onClear}>
          <span aria-hidden>✕</span>
          <span className="unseen">Remove filter {label}</span>
        </button>
      )}
    </span>
  )
}

/** `options`: values with labels, the empty one first; an unknown value from the address is shown too. */
export function FilterSelect({ label, value = '', onChange, options }: FilterProps & { options: Options }) {
  const isKnown = options.some(([option]) => option === value)
  const all: Options = isKnown ? options : [...options, [value, value]]
  // Some filters are never empty, such as the grouping of a table.
  const isClearable = all[0]?.[0] === ''
  return (
    <Chip
      label={label}
      verb=" is"
      isSet={value !== '' || !isClearable}
      onClear={isClearable ? () => onChange('') : undefined}
    >
      {all.length > longList ? (
        <Combobox className="chip-value" aria-label={label} value={value} onChange={onChange} options={all} />
      ) : (
        <select
          className="chip-value"
          aria-label={label}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          {all.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Chip>
  )
}

/** As `2026-11-23`. */
export function FilterDay({ label, value = '', onChange }: FilterProps) {
  // The browser warns about invalid days, which an address may contain.
  const day = /^\d{4}-\d\d-\d\d$/.test(value) ? value : ''
  return (
    <Chip label={label} isSet={day !== ''} onClear={() => onChange('')}>
      <input
        className="chip-value"
        type="date"
        aria-label={label}
        value={day}
        onChange={(event) => onChange(event.target.value)}
        onClick={({ currentTarget }) => currentTarget.showPicker()}
      />
    </Chip>
  )
}
