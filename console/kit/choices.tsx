/** Checkboxes in groups, each with its meaning. */
import { Button } from './button.tsx'
import { useFault } from './form.tsx'

export interface Choice<Value extends string> {
  value: Value
  about: string
}

interface ChoicesProps<Value extends string> {
  label: string
  /** The API field; its faults, and those of the choices, are shown here. */
  name: string
  hint?: string
  groups: readonly { title: string; choices: readonly Choice<Value>[] }[]
  chosen: ReadonlySet<Value>
  onChange: (chosen: ReadonlySet<Value>) => void
}

export function Choices<Value extends string>({ label, name, hint, groups, chosen, onChange }: ChoicesProps<Value>) {
  const fault = useFault(name)
  const put = (values: readonly Value[], isIn: boolean) => {
    const next = new Set(chosen)
    for (const value of values) {
      if (isIn) next.add(value)
      else next.delete(value)
    }
    onChange(next)
  }
  return (
    <fieldset className="choices">
      <legend>
        {label} <span className="small">{chosen.size} chosen</span>
      </legend>
      {(fault ?? hint) && <p className={fault === undefined ? 'hint' : 'fault'}>{fault ?? hint}</p>}
      {groups.map(({ title, choices }) => {
        const values = choices.map(({ value }) => value)
        const isWhole = values.every((value) => chosen.has(value))
        return (
          <div key={title} role="group" aria-label={title} className="choice-group">
            <div className="choice-head">
              <strong>{title}</strong>
              {values.length > 1 && (
                <Button kind="quiet" onClick={() => put(values, !isWhole)}>
                  {isWhole ? 'None' : 'All'}
                  <span className="unseen"> of {title}</span>
                </Button>
              )}
            </div>
            {choices.map(({ value, about }) => (
              <label key={value} className="choice">
                <input
                  type="checkbox"
                  checked={chosen.has(value)}
                  onChange={(event) => put([value], event.target.checked)}
                />
                <span>
                  <code>{value}</code> <span className="hint">{about}</span>
                </span>
              </label>
            ))}
          </div>
        )
      })}
    </fieldset>
  )
}
