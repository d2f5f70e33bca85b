/** Who is behind a credential: keys are in the hands of those who made them. */
import { actorOf, showActorId, type Actor } from '../audit/audit.ts'
import { keepMakers } from '../audit/makers.ts'
import type { Queryable, Tx } from '../db/db.ts'
import type { Caller } from '../http.ts'
import { parseId } from '../ids.ts'

/**
 * Public ids of a user or key and of all who have ever held its secret: who made or rotated it, and so on for their keys. As the audit log
 * of the account knows it, or what is kept of what went from it: a look-up by audit_events_target and one by key_makers for each key.
 */
export async function personsBehind(db: Queryable, accountId: string, id: string): Promise<Set<string>> {
  const persons = new Set([id])
  // What is added while it runs is visited, too.
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

/** Keeps who is behind the maker of a key of an account below, which that account's log does not know. `key` is its public id. */
export async function keepPersonsBehind(tx: Tx, caller: Caller, accountId: string, key: string): Promise<void> {
  const persons = await personsBehind(tx, caller.accountId, showActorId(actorOf(caller)) ?? '')
  const makers = [...persons].map((id) => {
    const keyId = parseId('key', id)
    return keyId ? { kind: 'key' as const, id: keyId } : { kind: 'user' as const, id: parseId('usr', id) }
  })
  await keepMakers(tx, accountId, key, makers)
}
