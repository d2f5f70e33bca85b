/**
 * Stores parts of long messages before they are confirmed: a client may wait for each response before the next part, or not, and may use
 * any session at any node. One row a message, one statement a part.
 */
import type { Needs } from '../events/events.ts'
import { createHash } from 'node:crypto'
import type { Db, Tx } from '../ground/db/db.ts'
import { newId } from '../ground/base/ids.ts'
import type { Texts } from '../ground/sealing/texts.ts'
import { showClientId } from './client-id.ts'
import type { Admission } from './bind.ts'
import type { Submit } from './read-submit.ts'
import { asksFor } from './state.ts'

/** How long a message waits for its next part, and how long its numbers and reference are blocked after two texts collided. */
const gatherSecondsMax = 60

export interface Gathering {
  id: string
  total: number
  /** By part number. */
  submits: Map<number, Submit>
  /** Two texts have this reference at once: neither is sent. */
  isCrossed: boolean
}

export const partIdOf = ({ id }: Gathering, part: number): string => showClientId(id, part)

export const isWhole = ({ total, submits }: Gathering): boolean => submits.size === total

interface StoredPart {
  coding: number
  udh: number
  locking: number | null
  single: number | null
  /** Base64. */
  body: string
  /** Identifies repeated parts. */
  digest: string
  /** `body` is sealed with the master key. */
  isSealed?: boolean
  registered: number
  sendAt: string | null
  validUntil: string | null
}

interface GatheringRow {
  accountId: string
  credentialId: string
  id: string
  source: string
  destination: string
  kind: 'udh8' | 'udh16' | 'sar'
  reference: number
  total: number
  parts: Record<string, StoredPart>
  isCrossed: boolean
}

/** The key of a message's parts, as in the primary key. */
export function gatheringKey({ accountId, credentialId }: Admission, { source, destination, part }: Submit): string {
  const { kind, reference, total } = part.concatenation ?? {}
  return [accountId, credentialId, source, destination, kind, reference, total].join(' ')
}

const rowColumns = `account_id as "accountId", credential_id as "credentialId", id, source, destination, kind, reference, total, parts,
  crossed_at is not null as "isCrossed"`

/**
 * Stores a part and returns all parts. Locks the message's row, by primary key: of two last parts at two nodes one sees the other. A
 * repeated part is stored once. Null: not stored, because its number has another content. If the message is complete, the part belongs to
 * the next message and is a moment too early; else the two are crossed from then on.
 */
export async function gatherPart(
  { db, texts }: Needs<'db' | 'texts'>,
  admission: Admission,
  submit: Submit,
): Promise<Gathering | null> {
  const { concatenation } = submit.part
  if (!concatenation) throw new Error('a whole message is not gathered')
  const { kind, reference, total, part } = concatenation
  const stored = storedOf(submit, texts, placeOf(admission, submit))
  const { rows } = await db.query<GatheringRow>({
    name: 'gather-smpp-part',
    text: `
      insert into smpp_gatherings as g (account_id, credential_id, source, destination, kind, reference, total, id, parts)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict (account_id, credential_id, source, destination, kind, reference, total) do update
        set parts = case when g.crossed_at is null then excluded.parts || g.parts else g.parts end,
          received_at = case when g.crossed_at is null then now() else g.received_at end,
          crossed_at = case
            when g.crossed_at is not null then g.crossed_at
            when (select count(*) from jsonb_object_keys(g.parts)) < g.total
              and g.parts -> $10::text ->> 'digest' <> excluded.parts -> $10::text ->> 'digest' then now() end
      returning ${rowColumns}`,
    values: [
      admission.accountId,
      admission.credentialId,
      submit.source,
      submit.destination,
      kind,
      reference,
      total,
      newId(),
      JSON.stringify({ [part]: stored }),
      String(part),
    ],
  })
  const [row] = rows
  if (!row) throw new Error('the part was not stored')
  const isKept = row.parts[part]?.digest === stored.digest
  return isKept || row.isCrossed ? gatheringOf(row, texts) : null
}

/** By the unique index on id. */
export async function endGathering(db: Db | Tx, id: string): Promise<void> {
  await db.query('delete from smpp_gatherings where id = $1', [id])
}

/** Removes a part that its client will repeat. By the unique index on id. */
export async function takePartBack(db: Db, id: string, part: number): Promise<void> {
  await db.query('update smpp_gatherings set parts = parts - $2::text where id = $1', [id, part])
}

/**
 * Ends a message that will not be sent, with a receipt for each part in `answered` that requested one; `err` gives the reason. An
 * `undeliverable` message counts in its credential. Returns whether this call ended it: false if another process did, or if the missing
 * part of an `undeliverable` one has just come.
 */
export async function refuseGathering(
  db: Db | Tx,
  { id, submits }: Gathering,
  state: 'rejected' | 'undeliverable',
  answered: number[],
  err: string,
): Promise<boolean> {
  const { rows } = await db.query<{ ended: number }>(
    `with ended as (
       delete from smpp_gatherings
       where id = $1 and ($3 <> 'undeliverable' or received_at < now() - make_interval(secs => $6))
       returning account_id, credential_id, id, source, destination, total, received_at
     ), counted as (
       update smpp_credentials c
       set incomplete = c.incomplete + 1, incomplete_at = now()
       from ended e
       where $3 = 'undeliverable' and c.account_id = e.account_id and c.id = e.credential_id
     ), told as (
     insert into smpp_deliveries (account_id, credential_id, id, part, kind, subject_id, parts, source, destination, state, err,
       submitted_at, done_at)
     select e.account_id, e.credential_id, $2, p.part, 'receipt', e.id, e.total, e.destination, e.source, $3, $7,
       e.received_at, now()
     from ended e
     cross join unnest($4::int[], $5::int[]) as p (part, flags)
     where ${asksFor('p.flags', '$3::text')}
     )
     select count(*)::int as ended from ended`,
    [
      id,
      newId(),
      state,
      answered,
      answered.map((part) => submits.get(part)?.registeredDelivery ?? 0),
      gatherSecondsMax,
      err,
    ],
  )
  return rows[0]?.ended === 1
}

/** An overdue gathering. If complete, its node died before sending it. */
export interface LateGathering {
  accountId: string
  credentialId: string
  /** @throws if a sealed part cannot be opened. */
  open: () => Gathering
}

/** Overdue gatherings, by smpp_gatherings_received_at, after the oldest `skip`. */
export async function listLate(
  { db, texts }: Needs<'db' | 'texts'>,
  limit: number,
  skip: number = 0,
): Promise<LateGathering[]> {
  const { rows } = await db.query<GatheringRow>(
    `select ${rowColumns}
     from smpp_gatherings
     where received_at < now() - make_interval(secs => $1)
     order by received_at, id
     limit $2 offset $3`,
    [gatherSecondsMax, limit, skip],
  )
  return rows.map((row) => ({
    accountId: row.accountId,
    credentialId: row.credentialId,
    open: () => gatheringOf(row, texts),
  }))
}

/** Binds a sealed part to its place; a repeated part has the same one. */
const placeOf = (
  { accountId, credentialId }: { accountId: string; credentialId: string },
  { source, destination }: { source: string; destination: string },
): string => `smpp_gatherings.parts|${accountId}|${credentialId}|${source}|${destination}`

function storedOf(
  { part, registeredDelivery, sendAt, validUntil }: Submit,
  texts: Texts | undefined,
  place: string,
): StoredPart {
  const sealed = texts?.isSealing ? texts.sealLoose(part.body, place) : null
  return {
    coding: part.data_coding,
    udh: part.udhLength,
    locking: part.shift.locking ?? null,
    single: part.shift.single ?? null,
    body: (sealed ?? part.body).toString('base64'),
    digest: digestOf(part, texts, place),
    ...(sealed && { isSealed: true }),
    registered: registeredDelivery,
    sendAt: sendAt?.toISOString() ?? null,
    validUntil: validUntil?.toISOString() ?? null,
  }
}

/** A digest of a part; keyed if texts are sealed. */
function digestOf({ data_coding, body }: Submit['part'], texts: Texts | undefined, place: string): string {
  const octets = Buffer.concat([Buffer.of(data_coding), body])
  return texts?.isSealing
    ? texts.hashLoose(octets, place).toString('base64')
    : createHash('sha256').update(octets).digest('base64')
}

function gatheringOf(row: GatheringRow, texts: Texts | undefined): Gathering {
  const { id, source, destination, kind, reference, total, parts, isCrossed } = row
  const ordered = Object.entries(parts).sort(([a], [b]) => Number(a) - Number(b))
  const submits = ordered.map(([number, stored]): [number, Submit] => [
    Number(number),
    {
      source,
      destination,
      registeredDelivery: stored.registered,
      sendAt: stored.sendAt === null ? null : new Date(stored.sendAt),
      validUntil: stored.validUntil === null ? null : new Date(stored.validUntil),
      part: {
        concatenation: { kind, reference, total, part: Number(number) },
        data_coding: stored.coding,
        udhLength: stored.udh,
        shift: {
          ...(stored.locking !== null && { locking: stored.locking }),
          ...(stored.single !== null && { single: stored.single }),
        },
        body: bodyOf(stored, texts, placeOf(row, row)),
      },
    },
  ])
  return { id, total, submits: new Map(submits), isCrossed }
}

/** @throws if it is sealed and was changed, or with another master key. */
function bodyOf({ body, isSealed }: StoredPart, texts: Texts | undefined, place: string): Buffer {
  const octets = Buffer.from(body, 'base64')
  return isSealed && texts ? texts.openLoose(octets, place) : octets
}
