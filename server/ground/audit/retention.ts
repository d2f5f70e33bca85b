/** Prunes old audit events from the start of a chain; its anchor becomes the hash of the last one removed. */
import { contentOf, hashEvent, noHash, type AuditRow } from './audit.ts'
import { inTransaction, type Db, type Tx } from '../db/db.ts'
import { inTurn } from '../db/in-turn.ts'

const pieceMax = 1000

/** Prunes the logs of all accounts in batches; by the primary key of accounts, and audit_events_seq. Safe in several processes. */
export async function pruneAudit(db: Db): Promise<void> {
  const { rows } = await db.query<{ accountId: string }>(
    `
    select c.account_id as "accountId"
    from audit_chains c
    join accounts a on a.id = c.account_id
    join lateral (
      select e.id
      from audit_events e
      where e.account_id = c.account_id
        and e.seq > c.pruned_seq
      order by e.seq
      limit 1
    ) e on true
    where ${isOld('e.id')}`,
  )
  await inTurn(rows, async ({ accountId }) => {
    while ((await inTransaction(db, (tx) => prunePiece(tx, accountId))) >= pieceMax);
  })
}

/**
 * Deletes the next expired events of a chain, and returns their number. A mismatch is evidence: it stays, with all after it. Locks the end
 * of the chain, so that changes of the account wait for the batch.
 */
async function prunePiece(tx: Tx, accountId: string): Promise<number> {
  const { rows: chains } = await tx.query<{ prunedSeq: number; prunedHash: Buffer | null }>({
    name: 'lock-pruned-audit-chain',
    text: `
      select pruned_seq as "prunedSeq", pruned_hash as "prunedHash"
      from audit_chains
      where account_id = $1
      for update`,
    values: [accountId],
  })
  const [chain] = chains
  if (!chain) return 0
  const { rows: events } = await tx.query<Omit<AuditRow, 'previousHash'> & { isOld: boolean }>({
    name: 'read-old-audit-events',
    text: `
      select e.account_id as "accountId", e.id, e.seq, e.actor_kind as "actorKind", e.actor_id as "actorId",
        e.action, e.target, e.ip, e.request_id as "requestId", e.before, e.after, e.hash, ${isOld('e.id')} as "isOld"
      from audit_events e
      join accounts a on a.id = e.account_id
      where e.account_id = $1
        and e.seq > $2
      order by e.seq
      limit $3`,
    values: [accountId, chain.prunedSeq, pieceMax],
  })
  let hash = chain.prunedHash ?? noHash
  let seq = chain.prunedSeq
  for (const event of events) {
    if (!event.isOld || event.seq !== seq + 1 || !hashEvent(hash, contentOf(event)).equals(event.hash)) break
    ;({ seq, hash } = event)
  }
  if (seq === chain.prunedSeq) return 0
  // The maker of a key must be known for as long as the key.
  await tx.query({
    name: 'prune-audit-events',
    text: `
      with gone as (
        delete from audit_events
        where account_id = $1
          and seq > $2
          and seq <= $3
        returning target, actor_kind, actor_id, action
      ), kept as (
        insert into key_makers (account_id, target, actor_kind, actor_id)
        select distinct $1::uuid, target, actor_kind, actor_id
        from gone
        where action in ('api_key.created', 'api_key.rotated')
          and target is not null
        on conflict do nothing
      )
      update audit_chains
      set pruned_seq = $3, pruned_hash = $4
      where account_id = $1`,
    values: [accountId, chain.prunedSeq, seq, hash],
  })
  return seq - chain.prunedSeq
}

/** SQL: whether an id's time (RFC 9562 §5.7) is past the log retention of account `a`. */
const isOld = (id: string): string =>
  `('x' || translate(left(${id}::text, 13), '-', ''))::bit(48)::bigint < extract(epoch from now() - make_interval(days => a.audit_days)) * 1000`
