/** The rows of status_mappings. A carrier has some hundreds at most; they are read whole. */
import type { Handling, MessageErrorCode } from '../message/taxonomy.ts'
import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Db, Tx } from '../ground/db/db.ts'
import type { HttpSettings } from '../links/carrier-settings.ts'

const mappingColumns = 'kind, stat, code, error_code as error, handling, note'

/** By primary key prefix. */
export async function listMappings(db: Db | Tx, carrierId: string): Promise<Mapping[]> {
  const { rows } = await db.query<Mapping>(
    `select ${mappingColumns}
     from status_mappings
     where carrier_id = $1
     order by kind desc, stat, code`,
    [carrierId],
  )
  return rows
}

export async function readMappings(db: Db): Promise<(Mapping & { carrierId: string })[]> {
  const { rows } = await db.query<Mapping & { carrierId: string }>(
    `select carrier_id as "carrierId", ${mappingColumns} from status_mappings`,
  )
  return rows
}

/**
 * The carrier of each link, and a mark that changes with every change of a table or of an HTTP carrier: an updated row has its transaction's number, a
 * deleted one is missing.
 */
export async function readMark(db: Db): Promise<{ mark: string; carrierOfLink: Record<string, string> }> {
  const { rows } = await db.query<{ mark: string; carrierOfLink: Record<string, string> }>({
    name: 'mark-mappings',
    text: `
      select string_agg(count || ' ' || xids, ' ' order by kind) as mark,
        (select coalesce(json_object_agg(id, carrier_id), '{}') from links) as "carrierOfLink"
      from (
        select 1 as kind, count(*) as count, coalesce(sum(xmin::text::bigint), 0) as xids from status_mappings
        union all
        select 2, count(*), coalesce(sum(xmin::text::bigint), 0) from carriers where kind = 'http'
      ) t`,
  })
  return rows[0] ?? { mark: '', carrierOfLink: {} }
}

/** Settings of carriers with an HTTP API, which name their adapter. */
export async function readHttpSettings(db: Db): Promise<{ carrierId: string; settings: HttpSettings }[]> {
  const { rows } = await db.query<{ carrierId: string; settings: HttpSettings }>(
    `select id as "carrierId", settings from carriers where kind = 'http'`,
  )
  return rows
}

/** Replaces rows with the same keys; no key may occur twice. Locks these rows, by primary key. */
export async function mergeMappings(tx: Tx, carrierId: string, mappings: readonly Mapping[]): Promise<void> {
  await tx.query(
    `insert into status_mappings (carrier_id, kind, stat, code, error_code, handling, note)
     select $1::uuid, m.kind, m.stat, m.code, m.error_code, m.handling, m.note
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[])
       as m (kind, stat, code, error_code, handling, note)
     on conflict (carrier_id, kind, stat, code) do update
       set error_code = excluded.error_code, handling = excluded.handling, note = excluded.note, updated_at = now()`,
    [carrierId, ...columns(fieldsOf(mappings, 'kind', 'stat', 'code', 'error', 'handling', 'note'))],
  )
}

/** Deletes a carrier's rows, all or those with these keys; returns the count. By primary key. */
export async function deleteMappings(
  tx: Tx,
  carrierId: string,
  keys: Partial<Pick<Mapping, 'kind' | 'stat' | 'code'>> = {},
): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from status_mappings
     where carrier_id = $1
       and ($2::text is null or kind = $2)
       and ($3::text is null or stat = $3)
       and ($4::text is null or code = $4)`,
    [carrierId, keys.kind ?? null, keys.stat ?? null, keys.code ?? null],
  )
  return rowCount ?? 0
}

export const mappingKinds = ['submit', 'receipt'] as const

/** A row of a carrier's table, in canonical form: see `canonicalStatus`, `canonicalWord` and `canonicalErr`. */
export interface Mapping {
  /** A refused submit, or a receipt. */
  kind: (typeof mappingKinds)[number]
  /** The word of a receipt; empty: any. Always empty for a submit. */
  stat: string
  /** The command_status or HTTP carrier's code of a submit; the `err` of a receipt, empty: any. */
  code: string
  error: MessageErrorCode
  handling: Handling
  note: string | null
}
