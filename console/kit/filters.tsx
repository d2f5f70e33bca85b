/** What a list is narrowed to stands in its address, so that it can be kept and sent to others. */
import { useSearchParams } from 'wouter'

/** The filters of a list by name, only those that are set, with its `cursor`; and a way to set one, which begins at the first page again. */
export function useFilters<Name extends string>(
  names: readonly Name[],
): { filters: Partial<Record<Name | 'cursor', string>>; set: (name: Name, value: string) => void; clear: () => void } {
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
  return { filters, set, clear }
}
