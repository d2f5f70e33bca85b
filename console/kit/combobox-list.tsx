/** The combobox itself. Loaded when a screen has one. */
import { Combobox as Base } from '@base-ui/react/combobox'

export type Options = readonly (readonly [value: string, text: string])[]

export interface ComboboxProps {
  id?: string
  className?: string
  disabled?: boolean | undefined
  'aria-label'?: string
  'aria-describedby'?: string | undefined
  'aria-invalid'?: boolean
  value: string
  onChange: (value: string) => void
  options: Options
}

export default function ComboboxList({ value, onChange, options, className = 'select', ...rest }: ComboboxProps) {
  const items = options.map(([id, label]) => ({ value: id, label }))
  const chosen = items.find((item) => item.value === value) ?? { value, label: value }
  return (
    <Base.Root
      items={items}
      value={chosen}
      onValueChange={(item) => onChange(item?.value ?? '')}
      isItemEqualToValue={(one, other) => one.value === other.value}
      autoHighlight
      disabled={rest.disabled ?? false}
    >
      <Base.Trigger {...rest} className={className}>
        <Base.Value />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="positioner" align="start" sideOffset={4}>
          <Base.Popup className="popup combobox">
            <Base.Input placeholder="Type to filter" aria-label="Filter" />
            <Base.Empty>
              <p className="hint">Nothing matches.</p>
            </Base.Empty>
            <Base.List>
              {(item: { value: string; label: string }) => (
                <Base.Item key={item.value} value={item} className="item">
                  {item.label}
                </Base.Item>
              )}
            </Base.List>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}
