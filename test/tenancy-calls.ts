import type { Row } from './tenancy-rows.ts'
import type { KnownRoute } from './tenancy-world.ts'
import type { Things } from './tenant.ts'

export interface Call {
  at: string[]
  query: string
  body: unknown
}

/** The calls of a row with one account's things, in the same order for each account. */
export function callsOf(row: Row, things: Things): Call[] {
  const named = (names: string): string[] =>
    names.split(' ').map((name) => {
      const value = things[name]
      if (value === undefined) throw new Error(`there is no ${name}`)
      return value
    })
  const places = row.at === undefined ? [[]] : [row.at].flat().map(named)
  const queries = [row.query ?? '', ...(row.queries?.(things) ?? [])]
  const bodies = row.bodies?.(things) ?? [undefined]
  return places.flatMap((at) => queries.flatMap((query) => bodies.map((body) => ({ at, query, body }))))
}

export function urlOf(route: Pick<KnownRoute, 'url'>, { at, query }: Call): string {
  const rest = [...at]
  const path = route.url.replace(/:\w+/g, () => encodeURIComponent(rest.shift() ?? ''))
  return query === '' ? path : `${path}?${query}`
}
