/** The persons behind a credential: everyone who created or rotated a key may know its secret. */
import { actorOf, showActorId, type Actor } from '../ground/audit/audit.ts'
import { keepMakers } from '../ground/audit/makers.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import type { Caller } from '../ground/http/http.ts'
import { parseId, showId } from '../ground/base/ids.ts'

/**
 * Public ids of a user or key and of all who have ever held its secret: those who created or rotated it, and so on for their keys. Uses
 * the account's audit log, and what is kept of deleted parts: a look-up by audit_events_target and one by key_makers for each key.
 */
export async function personsBehind(db: Queryable, accountId: string, id: string): Promise<Set<string>> {
  const persons = new Set([id])
  // The loop also visits ids added while it runs.
  for (const one of persons) {
    if (!one.startsWith('key_')) continue
    const { rows } = await db.query<Actor>({
      name: 'find-makers-of-key',
      text: `
        select actor_kind as kind, actor_id as id
        from audit_events
        where account_id = $1
          and target = $2
          and action in ('api_key.created', 'api_key.rotated')
        union
        select actor_kind, actor_id
        from key_makers
        where account_id = $1
          and target = $2`,
      values: [accountId, one],
    })
    for (const actor of rows) {
      const shown = showActorId(actor)
      if (shown) persons.add(shown)
    }
  }
  return persons
}

/** Those who invited one of these users after a time; earlier users were invited before. By the primary keys: an account has few invitations. */
export async function invitersSince(
  db: Queryable,
  accountId: string,
  persons: ReadonlySet<string>,
  since: Date,
): Promise<string[]> {
  const ids = [...persons].flatMap((one) => parseId('usr', one) ?? [])
  const { rows } = await db.query<{ invitedBy: string }>({
    name: 'find-inviters-since',
    text: `
      select i.invited_by as "invitedBy"
      from users u
      join invitations i on i.account_id = u.account_id and lower(i.email) = lower(u.email) and i.accepted_at is not null
      where u.account_id = $1
        and u.id = any ($2::uuid[])
        and u.created_at > $3
        and i.invited_by is not null`,
    values: [accountId, ids, since],
  })
  // A user or a key: their ids never collide.
  return rows.flatMap(({ invitedBy }) => [showId('usr', invitedBy), showId('key', invitedBy)])
}

/** Keeps the persons behind the maker of a key of an account below, whose log does not know them. `key` is its public id. */
export async function keepPersonsBehind(tx: Tx, caller: Caller, accountId: string, key: string): Promise<void> {
  const persons = await personsBehind(tx, caller.accountId, showActorId(actorOf(caller)) ?? '')
  const makers = [...persons].map((id) => {
    const keyId = parseId('key', id)
    return keyId ? { kind: 'key' as const, id: keyId } : { kind: 'user' as const, id: parseId('usr', id) }
  })
  await keepMakers(tx, accountId, key, makers)
}
