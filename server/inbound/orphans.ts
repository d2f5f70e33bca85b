/**
 * Orphans: replies to unknown numbers, or from national numbers of an unknown country. They are kept, shown to the operator, and given to the account
 * that registers the number, or once the carrier has a country.
 */
import type { Queryable, Tx } from '../ground/db/db.ts'
import { isUnavailable } from '../ground/db/failure.ts'
import { wayOf, type Position } from '../ground/http/page.ts'
import type { Texts } from '../ground/sealing/texts.ts'
import type { EraseStep } from '../events/face.ts'
import { readPersonIn } from '../links/number-form.ts'
import { findOwner } from '../message/owner.ts'
import { completeNumber } from '../ground/numbers/written.ts'
import { storeReply, type ReplyContext } from './reply.ts'

export interface OrphanRow {
  id: string
  linkId: string
  carrierId: string | null
  source: string
  destination: string
  /** Null if it cannot be opened. */
  body: string | null
  /** As received, if they do not match their declared coding. */
  octets: Buffer | null
  isSealed: boolean
  receivedAt: Date
}

const columns = `o.id, o.link_id as "linkId", l.carrier_id as "carrierId", o.source, o.destination, o.body, o.octets, o.is_sealed as "isSealed",
  o.received_at as "receivedAt"`

/** One page in the order that `buildPage` expects, with one row more than `limit`. By the primary key. */
export async function listOrphans(
  db: Queryable,
  texts: Texts | undefined,
  { carrierId, number }: { carrierId: string | null; number: string | null },
  limit: number,
  position: Position | null,
): Promise<OrphanRow[]> {
  const { beyond, order } = wayOf(position)
  const { rows } = await db.query<OrphanRow>(
    `select ${columns}
     from orphan_replies o
     left join links l on l.id = o.link_id
     where ($1::uuid is null or l.carrier_id = $1)
       and ($2::text is null or o.destination = $2)
       and ($3::uuid is null or o.id ${beyond} $3)
     order by o.id ${order}
     limit $4`,
    [carrierId, number, position?.id ?? null, limit + 1],
  )
  return rows.map((row) => openOrphan(texts, row))
}

export interface OrphanCount {
  number: string
  count: number
  lastAt: Date
  lastId: string
}

/** The numbers with such replies at a carrier, the most frequent first. By orphan_replies_destination. */
export async function countOrphans(db: Queryable, carrierId: string, limit: number): Promise<OrphanCount[]> {
  const { rows } = await db.query<OrphanCount>(
    `select o.destination as number, count(*)::int as count, max(o.received_at) as "lastAt", max(o.id::text)::uuid as "lastId"
     from links l
     join orphan_replies o on o.link_id = l.id
     where l.carrier_id = $1
     group by o.destination
     order by count(*) desc, o.destination
     limit $2`,
    [carrierId, limit],
  )
  return rows
}

function openOrphan(texts: Texts | undefined, row: OrphanRow): OrphanRow {
  if (!row.isSealed) return row
  try {
    const octets = texts?.openLoose(Buffer.from(row.body ?? '', 'base64'), `orphan_replies.body|${row.id}`)
    const received = row.octets && texts?.openLoose(row.octets, `orphan_replies.octets|${row.id}`)
    return { ...row, body: octets?.toString() ?? null, octets: received ?? null }
  } catch {
    // The reader sees that there is a text.
    return { ...row, body: null, octets: null }
  }
}

/**
 * Assigns the replies to a number to a sender of its carrier; they are given to it within seconds. Returns the count; null if there is no such reply,
 * or the sender is of another carrier. Index orphan_replies_destination.
 */
export async function assignOrphans(tx: Tx, id: string, senderId: string): Promise<number | null> {
  const { rowCount } = await tx.query(
    `update orphan_replies o
     set destination = s.number
     from orphan_replies one
     join links l on l.id = one.link_id
     join senders s on s.carrier_id = l.carrier_id and s.id = $2
     where one.id = $1 and o.link_id = one.link_id and o.destination = one.destination`,
    [id, senderId],
  )
  return (rowCount ?? 0) === 0 ? null : rowCount
}

/** Deletes a reply and the earlier ones to its number; later ones are unread. Returns the count. Index orphan_replies_destination. */
export async function dismissOrphans(tx: Tx, id: string): Promise<number> {
  const { rowCount } = await tx.query(
    `delete from orphan_replies o
     using orphan_replies one
     where one.id = $1 and o.link_id = one.link_id and o.destination = one.destination and o.id <= one.id`,
    [id],
  )
  return rowCount ?? 0
}

// An answer to an older reply would be a surprise.
const oldMs = 3_600_000

/**
 * Gives replies whose number now has a sender to its account, oldest first, STOP included. An old START is ignored, because the person may have
 * changed their mind since. Returns the count.
 */
export async function giveOrphans(context: ReplyContext, limit: number, now: Date): Promise<number> {
  let given = 0
  let after = '00000000-0000-0000-0000-000000000000'
  for (;;) {
    const { rows } = await context.db.query<OrphanRow & { country: string | null; isKnown: boolean }>(
      // First the few numbers: one may have very many replies. Index orphan_replies_destination.
      `with numbers as materialized (
         select n.link_id, n.destination
         from (select distinct link_id, destination from orphan_replies) n
         where exists (
           select from links l
           join senders s on s.carrier_id = l.carrier_id
           where l.id = n.link_id
             and (s.number = n.destination or right(s.number, 6) = right(n.destination, 6) or starts_with(n.destination, s.number)))
       )
       select ${columns}, coalesce(l.settings ->> 'country', c.settings ->> 'country') as country,
         -- What could not be read when it came can be with a country, or with a new sender.
         coalesce(l.settings ->> 'country', c.settings ->> 'country', '') <> ''
           or exists (select from senders s where s.carrier_id = l.carrier_id and s.created_at > o.received_at)
           or exists (
             select from senders s
             join accounts a on a.id = s.account_id
             where s.carrier_id = l.carrier_id and s.number = o.destination
               and coalesce(s.country, a.settings ->> 'default_country') is not null) as "isKnown"
       from numbers n
       join orphan_replies o using (link_id, destination)
       join links l on l.id = o.link_id
       join carriers c on c.id = l.carrier_id
       where o.id > $1
       order by o.id
       limit $2`,
      [after, limit],
    )
    for (const row of rows) {
      after = row.id
      const { linkId, destination, body, octets, receivedAt } = openOrphan(context.texts, row)
      if (body === null || (!row.isKnown && /^\d{7,}$/.test(row.source) && completeNumber(row.source) === null))
        continue
      const source = readPersonIn(row.source, undefined, row.country ?? '')
      const isOld = now.getTime() - receivedAt.getTime() > oldMs
      const reply = { linkId, source, destination, text: body, octets, isPartial: false, isOld }
      try {
        const result = await storeReply(context, reply, async (tx) => {
          if (!(await findOwner(tx, reply))) return 'none'
          const { rowCount } = await tx.query(`delete from orphan_replies where id = $1`, [row.id])
          return rowCount === 1 ? 'doubtful' : 'none'
        })
        if (result === 'stored') given++
      } catch (error) {
        // An account whose key cannot be opened does not block the others.
        if (isUnavailable(error)) throw error
      }
    }
    if (rows.length < limit) return given
  }
}

/** No account owns them, so any account's erasure of the person deletes them. Index orphan_replies_source. */
export const orphanStep: EraseStep = {
  name: 'orphan_replies',
  async run(tx, { number }) {
    await tx.query(`delete from orphan_replies where source = $1`, [number])
    return { next: null }
  },
}
