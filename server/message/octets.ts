/** Octets of replies that do not match their declared coding. Kept, sealed and deleted with their texts. */
import type { Queryable } from '../ground/db/db.ts'
import type { Texts } from '../ground/sealing/texts.ts'

/** The octets of a reply, if any can be opened; by primary key. Sealed if the text is. */
export async function findOctets(
  db: Queryable,
  texts: Texts | undefined,
  place: { accountId: string; id: string },
): Promise<Buffer | null> {
  const { rows } = await db.query<{ octets: Buffer | null; isSealed: boolean }>({
    name: 'find-octets',
    text: `select octets, body_sealed is not null as "isSealed" from messages where account_id = $1 and id = $2`,
    values: [place.accountId, place.id],
  })
  const [row] = rows
  if (!row?.octets || !row.isSealed) return row?.octets ?? null
  try {
    return (await texts?.openOctets(place, row.octets)) ?? null
  } catch {
    // The text cannot be opened either.
    return null
  }
}
