/** Rotates data keys: seals messages of a retired key with the current one. When contacts are done too, the key is destroyed. */
import { claimOne } from '../ground/db/claim-one.ts'
import { fieldsOf } from '../ground/db/array.ts'
import type { Db, Tx } from '../ground/db/db.ts'
import { noteSwept, putOff, takeRetiredKey, type RetiredKey } from '../ground/sealing/data-key-sweeps.ts'
import type { DataKeys } from '../ground/sealing/data-keys.ts'
import { openText, sealText } from '../ground/sealing/texts.ts'
import { versionOf } from '../ground/sealing/values.ts'

// A batch: the rows are locked for some 10 ms.
const pieceRows = 500

/**
 * Seals a batch of messages again; returns its size, 0 if no key is retired. Keeps texts that cannot be opened, and everything sealed with
 * a data key that this master key does not open.
 */
export async function resealNext(db: Db, keys: DataKeys): Promise<number> {
  const count = await claimOne(
    db,
    takeRetiredKey,
    (tx, retired) => resealPiece(db, tx, keys, retired),
    (retired) => putOff(db, retired),
  )
  return count ?? 0
}

/** The caller holds the lock of the key. */
async function resealPiece(db: Db, tx: Tx, keys: DataKeys, retired: RetiredKey): Promise<number> {
  const { accountId, version, sweptTo } = retired
  const found = (await keys.read(tx, new Map([[accountId, new Set([version])]]))).get(accountId)
  const old = found?.keys.get(version)
  if (!old) {
    await putOff(tx, retired)
    return 1
  }
  const current = (await keys.readCurrent(db, [accountId])).get(accountId)
  const rows = await readSealed(tx, accountId, sweptTo)
  const changed = rows.flatMap(({ id, sealed, octets }) => {
    if (!sealed || versionOf(sealed) !== version || !current) return []
    try {
      const text = openText(old, { accountId, id }, sealed)
      const place = { accountId, id, column: 'messages.octets' } as const
      // Sealed at the same moment as its text, so with the same key.
      const received = octets && sealText(current, { ...place, text: openText(old, place, octets) })
      return [{ id, sealed, resealed: sealText(current, { accountId, id, text }), received }]
    } catch {
      // Readers get the error; sealing it again would not help.
      return []
    }
  })
  if (changed.length > 0) await writeSealed(tx, accountId, changed)
  await noteSwept(tx, retired, rows.length < pieceRows ? null : (rows.at(-1)?.id ?? null))
  return rows.length + 1
}

interface SealedRow {
  id: string
  sealed: Buffer | null
  octets: Buffer | null
}

/** A batch of an account's messages, sealed or not; by primary key. Not named `bodySealed`, so that they are not opened. */
async function readSealed(tx: Tx, accountId: string, after: string | null): Promise<SealedRow[]> {
  const { rows } = await tx.query<SealedRow>({
    name: 'read-sealed',
    text: `
      select id, body_sealed as sealed, octets
      from messages
      where account_id = $1
        and id > coalesce($2, '00000000-0000-0000-0000-000000000000'::uuid)
      order by id
      limit ${pieceRows}`,
    values: [accountId, after],
  })
  return rows
}

/** Replaces sealed texts that have not changed since the read: a removed text stays removed. Locks the messages; by primary key. */
async function writeSealed(
  tx: Tx,
  accountId: string,
  changed: readonly { id: string; sealed: Buffer; resealed: Buffer; received: Buffer | null }[],
): Promise<void> {
  await tx.query({
    name: 'write-sealed',
    text: `
      update messages m
      set body_sealed = c.resealed,
        octets = c.received
      from unnest($2::uuid[], $3::bytea[], $4::bytea[], $5::bytea[]) as c (id, sealed, resealed, received)
      where m.account_id = $1
        and m.id = c.id
        and m.body_sealed = c.sealed`,
    values: [accountId, ...fieldsOf(changed, 'id', 'sealed', 'resealed', 'received')],
  })
}
