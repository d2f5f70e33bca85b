/** Keeps the makers of keys for as long as the keys, even after their audit events are pruned. */
import type { Tx } from '../db/db.ts'
import type { Actor } from './audit.ts'

/** `key` is its public id. An earlier entry stays. */
export async function keepMakers(
  tx: Tx,
  accountId: string,
  key: string,
  makers: readonly Pick<Actor, 'kind' | 'id'>[],
): Promise<void> {
  await tx.query({
    name: 'keep-makers-of-key',
    text: `
      insert into key_makers (account_id, target, actor_kind, actor_id)
      select $1, $2, m.kind, m.id
      from unnest($3::text[], $4::uuid[]) as m (kind, id)
      on conflict do nothing`,
    values: [accountId, key, makers.map(({ kind }) => kind), makers.map(({ id }) => id)],
  })
}
