/** From the query of a list to filters. */
import type { Db } from '../db/db.ts'
import { invalid, type FieldError } from '../errors.ts'
import { parseId } from '../ids.ts'
import { statuses } from './message.ts'
import type { MessageQuery } from './schema.ts'
import type { MessageFilters } from './store.ts'
import { messageErrors } from './taxonomy.ts'

const failed = ['undelivered', 'rejected', 'failed', 'expired']

/** Reads the filters; null: nothing can match (a campaign that the account does not have). @throws ApiError with every wrong filter. */
export async function readFilters(
  db: Db,
  accountId: string,
  query: Omit<MessageQuery, 'limit' | 'cursor'>,
): Promise<MessageFilters | null> {
  const faults: FieldError[] = []
  const asked = query.status?.split(',').map((word) => word.trim()) ?? null
  for (const word of asked ?? [])
    if (!statuses.some((status) => status === word))
      faults.push({
        pointer: '?status',
        code: 'invalid_value',
        detail: `"${word}" is not one of ${statuses.join(', ')}`,
      })
  if (query.error_code !== undefined && !(query.error_code in messageErrors))
    faults.push({
      pointer: '?error_code',
      code: 'invalid_value',
      detail: `must be one of ${Object.keys(messageErrors).join(', ')}`,
    })
  const createdAfter = readTime('created_after', query.created_after, faults)
  const createdBefore = readTime('created_before', query.created_before, faults)
  if (faults.length > 0) throw invalid(faults)
  const ofDelivery =
    query.delivery_status === undefined ? null : query.delivery_status === 'Delivered' ? ['delivered'] : failed
  const isInbound = query.direction === 'inbound'
  // A plus sign that was not escaped is a blank in a query string.
  const to = query.to?.replace(/^[+ ]/, '') ?? null
  const from = query.from?.replace(/^[+ ]/, '') ?? null
  const campaignId = query.campaign === undefined ? null : await findCampaign(db, accountId, query.campaign)
  if (query.campaign !== undefined && campaignId === null) return null
  return {
    direction: query.direction ?? (to !== null || from !== null ? 'outbound' : null),
    theirNumber: isInbound ? from : to,
    ourNumber: isInbound ? to : from,
    campaignId,
    statuses: asked && ofDelivery ? asked.filter((word) => ofDelivery.includes(word)) : (asked ?? ofDelivery),
    errorCode: query.error_code ?? null,
    type: query.type ?? null,
    tag: query.tag ?? null,
    createdAfter,
    createdBefore,
  }
}

/** A time that the calendar has: the schema's form lets leap seconds and offsets without minutes through. */
function readTime(name: string, text: string | undefined, faults: FieldError[]): Date | null {
  if (text === undefined) return null
  const time = new Date(text)
  if (!Number.isNaN(time.getTime())) return time
  faults.push({
    pointer: `?${name}`,
    code: 'invalid_format',
    detail: 'must be a time as of RFC 3339, such as 2026-11-20T12:00:00Z',
  })
  return null
}

/** The id of the account's campaign with this id or key. By primary key or campaigns (account_id, key). */
async function findCampaign(db: Db, accountId: string, campaign: string): Promise<string | null> {
  const id = parseId('cmp', campaign)
  const { rows } = await db.query<{ id: string }>(
    `select id from campaigns where account_id = $1 and ${id ? 'id = $2::uuid' : 'key = $2'}`,
    [accountId, id ?? campaign],
  )
  return rows[0]?.id ?? null
}
