/** Faults of the API outside of fields. */
import { HeliogramError } from '@heliogram/sdk'

/** What is wrong with a field, and with what is in it, for controls that are none of kit/form: `events`, `scopes`. */
export function faultOf(problem: Error | null, name: string): string | undefined {
  if (!(problem instanceof HeliogramError)) return undefined
  const told = problem.errors
    .filter(({ pointer }) => pointer === `#/${name}` || pointer.startsWith(`#/${name}/`))
    .map(({ detail }) => detail)
  return told.length > 0 ? [...new Set(told)].join(' ') : undefined
}
