/** A list of options that typing filters, for lists too long to look through. */
import { Combobox as Base } from '@base-ui/react/combobox'
import type { ComponentProps } from 'react'

export type Options = readonly (readonly [value: string, text: string])[]

/** Longer lists can be filtered. Others use the browser's own select, which a phone shows as its own. */
export const longList = 15

interface ComboboxProps extends Omit<ComponentProps<'button'>, 'value' | 'onChange'> {
  value: string
  onChange: (value: string) => void
  options: Options
}

export function Combobox({ value, onChange, options, className, ...rest }: ComboboxProps) {
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
      <Base.Trigger {...rest} className={className ?? 'select'}>
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
