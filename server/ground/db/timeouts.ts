/**
 * A statement that lifts an administrator's timeouts for its transaction or session: they are for requests, and work at a start may take
 * hours. By the catalog, because PostgreSQL before 17 does not know all of them.
 */
export const liftTimeouts = (isLocal: boolean): string =>
  `select set_config(name, '0', ${isLocal})
   from pg_settings
   where name in ('lock_timeout', 'statement_timeout', 'transaction_timeout')`
