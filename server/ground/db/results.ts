import type { QueryResult } from 'pg'
import type { Queryable, Tx } from './connection.ts'

/** Changes rows of a result, and may query the same connection first; undefined: nothing to do. */
export type ResultReader = (result: QueryResult, connection: Queryable) => Promise<void> | undefined

type Callback = (error: Error | null | undefined, result: QueryResult) => void
type Query = (statement: unknown, values?: unknown, callback?: Callback) => Promise<QueryResult> | undefined

/** Passes every result of a connection to a reader first. Pg has no hook for this; a pool queries with a callback, a transaction without. */
export function readResults(connection: Tx, reader: ResultReader): void {
  const ask = connection.query.bind(connection) as Query
  const query: Query = (statement, values, callback) => {
    if (typeof values === 'function') return query(statement, undefined, values as Callback)
    if (callback)
      return ask(statement, values, (error, result) => {
        const reading = error ? undefined : reader(result, connection)
        if (!reading) callback(error, result)
        else
          reading.then(
            () => callback(null, result),
            (cause: Error) => callback(cause, result),
          )
      })
    return ask(statement, values)?.then?.(async (result) => {
      const reading = reader(result, connection)
      if (reading) await reading
      return result
    })
  }
  connection.query = query as typeof connection.query
}
