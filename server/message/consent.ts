/** The ledger of consent: who agreed or withdrew, when, how, and by whose action. Rows are added and read, never changed. */
import { columns, fieldsOf } from '../ground/db/array.ts'
import { nowMs } from '../ground/db/clock.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import type { FieldError } from '../ground/base/errors.ts'
import { newId } from '../ground/base/ids.ts'
import type { PagePlace } from '../ground/http/page.ts'
import { listRows, type Value } from '../ground/http/search.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { spellingsOf } from '../ground/numbers/number.ts'

export const consentStatuses = ['opted_in', 'opted_out', 'unknown'] as const
export type ConsentStatus = (typeof consentStatuses)[number]
/** Sources: the person, a caller, a list of opt-outs, a contact, the review of a suspicion, or a carrier. */
const consentSources = ['reply', 'api', 'import', 'contact', 'review', 'carrier'] as const
export type ConsentSource = (typeof consentSources)[number]

/** The proof, for answers to complaints. */
export interface ConsentEvidence {
  method?: string
  source?: string
  text?: string
  obtained_at?: string
  ip?: string
  reason?: string
  keyword?: string
}

export interface NewConsent {
  number: string
  status: ConsentStatus
  source: ConsentSource
  /** Public id of the key, user or import that recorded it; null: the person. */
  actor: string | null
  campaignId: string | null
  messageId: string | null
  evidence: ConsentEvidence
}

/** A row of the ledger, without the number; a lookup by the number finds it. */
export interface ConsentRow extends Omit<NewConsent, 'number'> {
  id: string
  recordedAt: Date
}

// The clock of the source may run a little ahead.
const aheadMsMax = 60_000

/** Errors of the time of a consent: it cannot be in the future. Ignores values that are not times. */
export function refuseObtained(pointer: string, obtainedAt: unknown): FieldError[] {
  const isAhead = typeof obtainedAt === 'string' && Date.parse(obtainedAt) > nowMs() + aheadMsMax
  return isAhead ? [{ pointer, code: 'out_of_range', detail: 'must not be in the future' }] : []
}

/** The keyed hash of a number, for numbers that an account has forgotten. 3 µs. */
export function hashNumber(vault: Vault, accountId: string, number: string): Buffer {
  return vault.mac(`number ${accountId}`, number)
}

/** Keyed hashes of all forms of a number, current one first; at most one other, from before its country renumbered. */
export const hashForms = (vault: Vault, accountId: string, number: string): Buffer[] =>
  spellingsOf(number).map((form) => hashNumber(vault, accountId, form))

/** Adds entries to the ledger in the caller's transaction, in the given order; with `isOnce` only those it lacks (index consents_number). */
export async function recordConsents(
  tx: Tx,
  vault: Vault,
  accountId: string,
  entries: readonly NewConsent[],
  isOnce: boolean = false,
): Promise<void> {
  if (entries.length === 0) return
  await tx.query({
    name: 'record-consents',
    text: `
      insert into consents (account_id, id, number_hmac, status, source, actor, campaign_id, message_id, evidence)
      select $1, e.*
      from unnest($2::uuid[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::uuid[], $9::jsonb[])
        as e (id, number_hmac, status, source, actor, campaign_id, message_id, evidence)
      where not $10 or not exists (
        select from consents c
        where c.account_id = $1
          and c.number_hmac = e.number_hmac
          and c.status = e.status
          and c.source = e.source
          and c.campaign_id = e.campaign_id
          and c.evidence = e.evidence
      )`,
    values: [
      accountId,
      ...columns([
        entries.map(() => newId()),
        entries.map(({ number }) => hashNumber(vault, accountId, number)),
        ...fieldsOf(entries, 'status', 'source', 'actor', 'campaignId', 'messageId'),
        entries.map(({ evidence }) => JSON.stringify(evidence)),
      ]),
      isOnce,
    ],
  })
}

/** One page of a number's entries by consents_number, in the order that `buildPage` expects, with one row more than `limit`. */
export function listConsents(
  db: Queryable,
  vault: Vault,
  accountId: string,
  number: string,
  ...place: PagePlace
): Promise<ConsentRow[]> {
  const columns = `id, status, source, actor, campaign_id as "campaignId", message_id as "messageId", evidence,
    recorded_at as "recordedAt"`
  const found = (value: Value): string[] => [`number_hmac = any (${value(hashForms(vault, accountId, number))})`]
  return listRows(db, { table: 'consents', columns, accountId, found }, ...place)
}
