/** A list of options that typing filters, for lists too long to look through. */
import { lazy, Suspense } from 'react'
import type { ComboboxProps, Options } from './combobox-list.tsx'

export type { Options }

/** Longer lists can be filtered. Others use the browser's own select, which a phone shows as its own. */
export const longList = 15

/** Until it is loaded, and if the server is away, the browser's own select does. */
function Plain({ value, options, onChange, className = 'select', ...rest }: ComboboxProps) {
  return (
    <select {...rest} className={className} value={value} onChange={(event) => onChange(event.target.value)}>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  )
}

const List = lazy(() => import('./combobox-list.tsx').catch(() => ({ default: Plain })))

export const Combobox = (props: ComboboxProps) => (
  <Suspense fallback={<Plain {...props} />}>
    <List {...props} />
  </Suspense>
)
