/** The tables of a backup, and the state in them that belongs to running processes. */
import type { Queryable } from '../../../ground/db/db.ts'
import { migrationsTable } from '../../../ground/db/migrate.ts'
import type { BackupTable } from './format.ts'

/** Excluded tables, with reasons; a restore creates `migrations` itself. All others are included, even foreign ones. */
export const leftOut: Readonly<Record<string, string>> = {
  link_slots: 'leases of sessions by processes; the first that binds makes new ones',
  link_states: 'what processes have said of their sessions',
  node_times: 'what processes have measured',
  pace_grants: 'parts of paces that processes have taken',
  reply_sessions: 'what sessions of carriers have proved; all of them are over',
  request_demands: 'parts of limits that processes have taken',
  smpp_sessions: 'sessions of clients, which ended with their processes',
}

/**
 * Statements at the end of a restore: earlier processes no longer run. Their exchanges with carriers stay, so that the first start settles
 * them as after a crash; `nodes`, `heartbeats` and `intents` are included for this.
 */
export const endOfProcesses: Readonly<Record<string, string>> = {
  nodes: 'update nodes set fenced_at = now() where fenced_at is null',
  outbox: 'update outbox set leased_by = null, leased_until = null where leased_by is not null',
  smpp_deliveries: 'update smpp_deliveries set leased_by = null, leased_until = null where leased_by is not null',
  link_id_forms: 'update link_id_forms set leased_until = null where leased_until is not null',
}

export interface FoundTable extends BackupTable {
  /** Where its rows are: the table, or its partitions, days in order. */
  parts: { name: string; part: string; bytes: number }[]
}

interface Row {
  name: string
  columns: string[]
  transactionColumns: string[]
  refersTo: string[]
}

/** The tables of a backup, all but `leftOut`, each after the tables that it references. */
export async function findTables(db: Queryable): Promise<FoundTable[]> {
  const { rows } = await db.query<Row>(
    `select
       c.relname as name,
       array_agg(a.attname::text order by a.attnum) as columns,
       coalesce(array_agg(a.attname::text order by a.attnum) filter (where a.atttypid = 'xid8'::regtype), '{}') as "transactionColumns",
       array(
         select distinct r.relname::text
         from pg_constraint f
         join pg_class r on r.oid = f.confrelid
         where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid
         order by 1
       ) as "refersTo"
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     where c.relnamespace = current_schema()::regnamespace
       and c.relkind in ('r', 'p')
       and not c.relispartition
       and c.relname <> all ($1)
     group by c.oid
     order by c.relname`,
    [[migrationsTable, ...Object.keys(leftOut)]],
  )
  const parts = await findParts(db)
  return inOrder(rows).map(({ name, columns, transactionColumns }) => {
    const own = parts.filter(({ parent }) => parent === name)
    return {
      name,
      columns,
      transactionColumns,
      days: own.filter(({ part }) => /^\d{8}$/.test(part)).map(({ part }) => `_${part}`),
      parts: own,
    }
  })
}

export async function findTableNames(db: Queryable): Promise<Set<string>> {
  const { rows } = await db.query<{ name: string }>(
    `select relname::text as name
     from pg_class
     where relnamespace = current_schema()::regnamespace
       and relkind in ('r', 'p')
       and not relispartition`,
  )
  return new Set(rows.map(({ name }) => name))
}

/** The parts of each table: day partitions first. */
async function findParts(db: Queryable): Promise<(FoundTable['parts'][number] & { parent: string })[]> {
  const { rows } = await db.query<{ parent: string; name: string; bytes: number }>(
    `select coalesce(p.relname, c.relname) as parent, c.relname as name, pg_table_size(c.oid)::float8 as bytes
     from pg_class c
     left join pg_inherits i on i.inhrelid = c.oid
     left join pg_class p on p.oid = i.inhparent
     where c.relnamespace = current_schema()::regnamespace
       and c.relkind = 'r'
     order by 1, 2`,
  )
  return rows.map((row) => ({ ...row, part: row.name === row.parent ? 'all' : row.name.slice(row.parent.length + 1) }))
}

/** @throws if foreign keys form a cycle, which no order can load. */
function inOrder(tables: readonly Row[]): Row[] {
  const left = new Map(tables.map((table) => [table.name, table]))
  const ordered: Row[] = []
  while (left.size > 0) {
    const free = [...left.values()].filter(({ refersTo }) => !refersTo.some((name) => left.has(name)))
    if (free.length === 0) throw new Error(`tables refer to each other in a circle: ${[...left.keys()].join(', ')}`)
    for (const table of free) {
      ordered.push(table)
      left.delete(table.name)
    }
  }
  return ordered
}
