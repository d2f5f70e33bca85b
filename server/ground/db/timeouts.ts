/** Limits that an administrator has set for the database or our role. They are for requests; what is done once, at a start, may take hours. */

/** A statement that lifts them for its transaction, or its session. By the catalog: PostgreSQL before 17 does not know all of them. */
export const liftTimeouts = (isLocal: boolean): string =>
  `select set_config(name, '0', ${isLocal})
   from pg_settings
   where name in ('lock_timeout', 'statement_timeout', 'transaction_timeout')`
