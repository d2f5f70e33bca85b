/** Values by free names: attributes, variables, metadata. */
import { Button } from '../kit/button.tsx'

export interface Pair {
  id: number
  name: string
  value: string
}

type Value = string | number | boolean | null

let lastId = 0
const pairOf = (name: string, value: string): Pair => ({ id: ++lastId, name, value })

export const pairsOf = (values: Record<string, Value>): Pair[] =>
  Object.entries(values).map(([name, value]) => pairOf(name, value === null ? '' : String(value)))

/** The values of all named pairs. An unchanged text keeps its type: 3 stays a number. */
export function valuesOf<V extends Value>(
  pairs: readonly Pair[],
  before: Record<string, V> = {},
): Record<string, V | string> {
  const values: Record<string, V | string> = {}
  for (const { name, value } of pairs) {
    const was = before[name]
    if (name.trim() !== '') values[name.trim()] = was !== undefined && String(was) === value ? was : value
  }
  return values
}

export const textsOf = (pairs: readonly Pair[]): Record<string, string> =>
  Object.fromEntries(pairs.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]))

interface PairsProps {
  label: string
  hint?: string
  pairs: readonly Pair[]
  onChange: (pairs: Pair[]) => void
  nameLabel?: string
}

export function PairsField({ label, hint, pairs, onChange, nameLabel = 'Name' }: PairsProps) {
  const set = (id: number, change: Partial<Pair>) =>
    onChange(pairs.map((pair) => (pair.id === id ? { ...pair, ...change } : pair)))
  return (
    <fieldset className="pairs">
      <legend>{label}</legend>
      {pairs.map(({ id, name, value }, n) => (
        <div key={id}>
          <input
            aria-label={`${nameLabel} ${n + 1}`}
            placeholder={nameLabel}
            value={name}
            // The cursor goes to the name of a new pair.
            autoFocus={name === '' && value === ''}
            autoComplete="off"
            onChange={(event) => set(id, { name: event.target.value })}
          />
          <input
            aria-label={`Value of ${name || `${nameLabel.toLowerCase()} ${n + 1}`}`}
            placeholder="Value"
            value={value}
            autoComplete="off"
            onChange={(event) => set(id, { value: event.target.value })}
          />
          <Button
            kind="quiet"
            aria-label={`Remove ${name || `${nameLabel.toLowerCase()} ${n + 1}`}`}
            onClick={() => onChange(pairs.filter((pair) => pair.id !== id))}
          >
            ✕
          </Button>
        </div>
      ))}
      {hint && <p className="hint">{hint}</p>}
      <p>
        <Button aria-label={`Add to ${label}`} onClick={() => onChange([...pairs, pairOf('', '')])}>
          Add
        </Button>
      </p>
    </fieldset>
  )
}
