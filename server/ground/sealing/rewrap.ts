/** Reseals values of another master key, in small batches; repeatable, and concurrent with everything else. */
import type { Db } from '../db/db.ts'
import { secretColumns, type SecretColumn } from './secret-columns.ts'
import { sealedPrefix, type Vault } from './vault.ts'

export interface Rewrapped {
  changed: number
  /** Values whose row changed at the same moment: left for the next pass. */
  missed: number
  /** Values that no key of the file opens, and that stay unchanged; `table.column` of each. */
  unopenable: string[]
}

// Rows per statement: each takes two AES operations, and one write.
const pieceRows = 500

/**
 * One pass over everything. It may miss concurrent writes: only a pass without changes, after all processes use the new key, proves
 * completion.
 */
export async function rewrapAll(db: Db, vault: Vault, newest: Buffer): Promise<Rewrapped> {
  const done = nothing()
  const add = ({ changed, missed, unopenable }: Rewrapped): void => {
    done.changed += changed
    done.missed += missed
    done.unopenable.push(...unopenable)
  }
  for (const column of secretColumns) add(await rewrapColumn(db, vault, newest, column))
  add(await rewrapGatherings(db, vault, newest))
  return done
}

const nothing = (): Rewrapped => ({ changed: 0, missed: 0, unopenable: [] })

interface Found {
  place: string
  purpose: string
  value: Buffer | string
}

/** A column, by ctid: a row written meanwhile has another, and is left for the next pass. */
async function rewrapColumn(db: Db, vault: Vault, newest: Buffer, one: SecretColumn): Promise<Rewrapped> {
  const { table, column, purpose, form, where = 'true' } = one
  const prefix = sealedPrefix(newest)
  const done = nothing()
  for (let after = '(0,0)'; ;) {
    const { rows } = await db.query<Found>(
      `select ctid::text as place, ${purpose} as purpose, ${column} as value
       from ${table}
       where ctid > $1::tid
         and ${column} is not null
         and ${where}
         and ${form === 'bytea' ? `substring(${column} for ${prefix.length}) <> $2` : `not starts_with(${column}, $2)`}
       limit ${pieceRows}`,
      [after, form === 'bytea' ? prefix : base64Prefix(prefix)],
    )
    const changed = rows.flatMap((row) => {
      const sealed = typeof row.value === 'string' ? Buffer.from(row.value, 'base64') : row.value
      // The last octet of the prefix shares a base64 digit with the next one.
      if (sealed.subarray(0, prefix.length).equals(prefix)) return []
      const rewrapped = sealAgain(vault, sealed, row.purpose)
      if (rewrapped) return [{ ...row, rewrapped: form === 'bytea' ? rewrapped : rewrapped.toString('base64') }]
      if (form !== 'mixed') done.unopenable.push(`${table}.${column}`)
      return []
    })
    if (changed.length > 0) {
      const type = form === 'bytea' ? 'bytea' : 'text'
      const { rowCount } = await db.query(
        `update ${table} t
         set ${column} = r.rewrapped
         from unnest($1::tid[], $2::${type}[], $3::${type}[]) as r (place, value, rewrapped)
         where t.ctid = r.place
           and t.${column} = r.value`,
        [
          changed.map(({ place }) => place),
          changed.map(({ value }) => value),
          changed.map(({ rewrapped }) => rewrapped),
        ],
      )
      done.changed += rowCount ?? 0
      done.missed += changed.length - (rowCount ?? 0)
    }
    const last = rows.at(-1)
    if (!last || rows.length < pieceRows) return done
    after = last.place
  }
}

/** Three octets are four digits; the other two of five are two digits and a part. */
const base64Prefix = (prefix: Buffer): string => prefix.toString('base64').slice(0, Math.floor((prefix.length * 8) / 6))

function sealAgain(vault: Vault, sealed: Buffer, purpose: string): Buffer | null {
  try {
    return vault.seal(vault.open(sealed, purpose), purpose)
  } catch {
    return null
  }
}

interface Gathering {
  id: string
  purpose: string
  parts: Record<string, { body: string; isSealed?: boolean }>
}

/** Parts of incomplete messages of SMPP clients: few, for a minute. Compare and set. */
async function rewrapGatherings(db: Db, vault: Vault, newest: Buffer): Promise<Rewrapped> {
  const prefix = sealedPrefix(newest)
  const done = nothing()
  const { rows } = await db.query<Gathering>(
    `select id, parts, concat_ws('|', 'smpp_gatherings.parts', account_id, credential_id, source, destination) as purpose
     from smpp_gatherings`,
  )
  for (const { id, parts, purpose } of rows) {
    let isChanged = false
    const rewrapped = Object.entries(parts).map(([number, part]) => {
      const sealed = Buffer.from(part.body, 'base64')
      if (!part.isSealed || sealed.subarray(0, prefix.length).equals(prefix)) return [number, part]
      const body = sealAgain(vault, sealed, purpose)?.toString('base64')
      if (body === undefined) done.unopenable.push('smpp_gatherings.parts')
      else isChanged = true
      return [number, { ...part, body: body ?? part.body }]
    })
    if (!isChanged) continue
    const { rowCount } = await db.query(`update smpp_gatherings set parts = $2 where id = $1 and parts = $3`, [
      id,
      JSON.stringify(Object.fromEntries(rewrapped)),
      JSON.stringify(parts),
    ])
    if (rowCount === 1) done.changed++
    else done.missed++
  }
  return done
}
