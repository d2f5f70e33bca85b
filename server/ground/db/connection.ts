import type { ClientConfig, Pool, PoolClient, QueryConfig, QueryResult, QueryResultRow } from 'pg'

/** A pool; every statement on it is its own transaction. */
export type Db = Pool

/** One connection inside `inTransaction`. */
export type Tx = PoolClient

/** For single statements, inside a transaction or not. */
export interface Queryable {
  query<Row extends QueryResultRow>(
    query: string | QueryConfig<unknown[]>,
    values?: unknown[],
  ): Promise<QueryResult<Row>>
}

/** A URL, which may list several hosts, or the parts of one (`host` may be the folder of a unix socket). */
export type Connection = Pick<
  ClientConfig,
  'connectionString' | 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl'
>
