/** A list's filters are in its address, so that it can be saved and shared. */
import { useSearchParams } from 'wouter'

interface Filters<Name extends string> {
  /** Only filters that are set, and the list's `cursor`. */
  filters: Partial<Record<Name | 'cursor', string>>
  /** Sets one, and returns to the first page. */
  set: (name: Name, value: string) => void
  clear: () => void
  isNarrowed: boolean
  field: (name: Name) => { value: string; onChange: (value: string) => void }
}

export function useFilters<Name extends string>(names: readonly Name[]): Filters<Name> {
  const [params, setParams] = useSearchParams()
  const filters = Object.fromEntries(
    [...names, 'cursor'].flatMap((name) => {
      const value = params.get(name)
      return value ? [[name, value]] : []
    }),
  ) as Partial<Record<Name | 'cursor', string>>
  const set = (name: Name, value: string) =>
    setParams(
      (now) => {
        const next = new URLSearchParams(now)
        next.delete('cursor')
        if (value === '') next.delete(name)
        else next.set(name, value)
        return next
      },
      { replace: true },
    )
  const clear = () => setParams(new URLSearchParams())
  const isNarrowed = names.some((name) => filters[name] !== undefined)
  const field = (name: Name) => ({ value: filters[name] ?? '', onChange: (value: string) => set(name, value) })
  return { filters, set, clear, isNarrowed, field }
}
