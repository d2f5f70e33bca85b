/** A list of options that typing filters, for lists too long to look through. */
import { lazy, Suspense } from 'react'
import type { ComboboxProps, Options } from './combobox-list.tsx'
import { loadPart } from './outdated.ts'

export type { Options }

/** Longer lists can be filtered. Others use the browser's own select, which a phone shows as its own. */
export const longList = 15

const List = lazy(() => loadPart(() => import('./combobox-list.tsx')))

export function Combobox(props: ComboboxProps) {
  const { value, options, onChange: _, className = 'select', ...rest } = props
  const shown = options.find(([one]) => one === value)?.[1] ?? value
  return (
    <Suspense
      fallback={
        <button type="button" {...rest} className={className}>
          {shown}
        </button>
      }
    >
      <List {...props} className={className} />
    </Suspense>
  )
}
