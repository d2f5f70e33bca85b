/**
 * The schemas of an installation: that of its tables, which its connections have in their search path (open.ts), and that of its import
 * queue.
 */
import type { Queryable } from './db.ts'

// Valid without quotes, with room for a suffix.
const plain = /^[a-z_][a-z0-9_]{0,40}$/

/** The schema of the tables. @throws Error for the operator, if there is none, or its name needs quotes */
export async function schemaOf(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ schema: string | null }>('select current_schema()::text as schema')
  const schema = rows[0]?.schema ?? null
  if (schema === null)
    throw new Error(
      'its user has no schema for tables: allow it to use "public", or create a schema with its own name (create schema)',
    )
  if (!plain.test(schema))
    throw new Error(`the schema "${schema}" cannot be used: its name can have a-z, 0-9 and _, and up to 41 characters`)
  return schema
}

/** The import queue's schema, which pg-boss requires for itself. Each installation in a database has its own. */
export const queueSchemaOf = (schema: string): string => (schema === 'public' ? 'pgboss' : `${schema}_pgboss`)

/** Checked before anything is created. @throws Error for the operator, if the queue has no schema, and its user may not create one */
export async function requireQueueSchema(db: Queryable, schema: string): Promise<void> {
  const queue = queueSchemaOf(schema)
  const { rows } = await db.query<{ isThere: boolean; user: string }>(
    `select to_regnamespace($1) is not null or has_database_privilege(current_database(), 'CREATE') as "isThere", current_user::text as user`,
    [queue],
  )
  const [found] = rows
  if (found && !found.isThere)
    throw new Error(
      `there is no schema ${queue} for the queue of imports, and ${found.user} cannot create it; make it the owner of the database, or create that schema: create schema ${queue} authorization ${found.user}`,
    )
}
