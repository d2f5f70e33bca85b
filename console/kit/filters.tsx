/** What a list is narrowed to stands in its address, so that it can be kept and sent to others. */
import { useSearchParams } from 'wouter'

interface Filters<Name extends string> {
  /** By name, only those that are set, with the `cursor` of the list. */
  filters: Partial<Record<Name | 'cursor', string>>
  /** Sets one, which begins at the first page again. */
  set: (name: Name, value: string) => void
  clear: () => void
  /** One of them is set. */
  isNarrowed: boolean
  /** What an input of one needs. */
  field: (name: Name) => { value: string; onChange: (value: string) => void }
}

/** The filters of a list. */
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
