import { Type, type Static } from 'typebox'
import { nowMs } from '../ground/db/clock.ts'
import type { Db } from '../ground/db/db.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import { QueryTime, readTime } from '../ground/http/http.ts'
import { parseId } from '../ground/base/ids.ts'
import type { MessageFilters } from './list.ts'
import { indexedStatuses } from './status-tables.ts'
import { failures, messageTypes, statuses } from '../message/message.ts'
import { readNumberFilter } from '../ground/numbers/filter.ts'
import { findCampaignId } from '../message/store.ts'
import { messageErrors } from '../message/taxonomy.ts'

const number = (description: string) => Type.Optional(Type.String({ maxLength: 40, description }))

/** Query fields that select messages; besides them `metadata[name]=value`, see `messageQueryOptions`. */
export const messageQuery = {
  status: Type.Optional(Type.String({ maxLength: 200, description: `Comma list of ${statuses.join(', ')}.` })),
  delivery_status: Type.Optional(Type.Enum(['Delivered', 'Failed'])),
  direction: Type.Optional(Type.Enum(['outbound', 'inbound'])),
  to: number('Outbound messages to this number; with direction=inbound, replies to it.'),
  from: number('Outbound messages from this number; with direction=inbound, replies from it.'),
  number: number("A person's number: messages to it and from it, in one list. With `direction`, only those."),
  campaign: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Id or key of a campaign.', examples: ['spring-sale'] }),
  ),
  contact: Type.Optional(Type.String({ maxLength: 255, description: 'Id of a contact.' })),
  error_code: Type.Optional(Type.String({ maxLength: 64, description: 'Why it failed, or is unconfirmed.' })),
  type: Type.Optional(Type.Enum([...messageTypes])),
  tag: Type.Optional(Type.String({ maxLength: 64 })),
  created_after: Type.Optional(QueryTime('Created at or after this time.')),
  created_before: Type.Optional(QueryTime('Created before this time.')),
  updated_after: Type.Optional(QueryTime('Last changed at or after this time.')),
  updated_before: Type.Optional(QueryTime('Last changed before this time.')),
  segments_gte: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 255, description: 'With at least this many segments.' }),
  ),
  test: Type.Optional(Type.Boolean({ description: 'Sent in test mode, or not.' })),
}

const metadataName = /^metadata\[(.{1,40})\]$/

export const messageQueryOptions = {
  additionalProperties: false,
  patternProperties: { [metadataName.source]: { type: 'string', maxLength: 500 } },
}

const MessageQuery = Type.Object(messageQuery)
export type MessageQuery = Static<typeof MessageQuery>

/** Longest period for searches without an index, in days; one more is permitted, for clocks and slow clients. */
const searchDays = 31
const dayMs = 86_400_000

const rule = {
  led: `number, to (with direction=inbound: from), contact, campaign, error_code, delivery_status=Failed, or a status of ${indexedStatuses.join(', ')}`,
  searched: ['tag', 'metadata[…]', 'segments_gte', 'updated_after', 'updated_before'],
}

/**
 * Reads the filters; null: nothing can match (a status that another filter excludes). @throws ApiError with every wrong filter, or
 * `filter_combination_not_allowed` unless `isChecked`: the filters of a cursor were checked.
 */
export async function readFilters(
  db: Db,
  accountId: string,
  query: MessageQuery,
  isChecked = false,
): Promise<MessageFilters | null> {
  const faults: FieldError[] = []
  const refuse = (name: string, code: FieldError['code'], detail: string): void =>
    void faults.push({ pointer: `?${name}`, code, detail })
  const asked = query.status?.split(',').map((word) => word.trim()) ?? null
  for (const word of asked ?? [])
    if (!statuses.some((status) => status === word))
      refuse('status', 'invalid_value', `"${word}" is not one of ${statuses.join(', ')}`)
  if (query.error_code !== undefined && !Object.hasOwn(messageErrors, query.error_code))
    refuse('error_code', 'invalid_value', `must be one of ${Object.keys(messageErrors).join(', ')}`)
  const contactId = query.contact === undefined ? null : parseId('ctc', query.contact)
  if (query.contact !== undefined && contactId === null)
    refuse('contact', 'invalid_format', 'must be the id of a contact, such as ctc_01kbh2v0jzf3tr8d5w4ncq6m7x')
  const isInbound = query.direction === 'inbound'
  const to = readNumberFilter('to', query.to, isInbound ? 'address' : 'recipient', faults)
  const from = readNumberFilter('from', query.from, isInbound ? 'person' : 'address', faults)
  const person = readNumberFilter('number', query.number, 'person', faults)
  const beside = isInbound ? 'from' : 'to'
  if (query.number !== undefined && query[beside] !== undefined)
    refuse(beside, 'invalid_value', 'must not be combined with `number`, which already selects the person')
  const campaignId = query.campaign === undefined ? null : await findCampaignId(db, accountId, query.campaign)
  if (query.campaign !== undefined && campaignId === null)
    refuse('campaign', 'campaign_not_found', 'is not a campaign of this account')
  if (faults.length > 0) throw invalid(faults)
  const ofDelivery =
    query.delivery_status === undefined ? null : query.delivery_status === 'Delivered' ? ['delivered'] : [...failures]
  const metadata = Object.entries(query).flatMap(([name, value]) => {
    const [, key] = metadataName.exec(name) ?? []
    return key === undefined ? [] : [[key, String(value)] as const]
  })
  const filters = {
    direction: query.direction ?? (to !== null || from !== null ? 'outbound' : null),
    theirNumber: person ?? (isInbound ? from : to),
    ourNumber: isInbound ? to : from,
    campaignId,
    contactId,
    statuses: asked && ofDelivery ? asked.filter((word) => ofDelivery.includes(word)) : (asked ?? ofDelivery),
    errorCode: query.error_code ?? null,
    type: query.type ?? null,
    tag: query.tag ?? null,
    metadata: metadata.length > 0 ? Object.fromEntries(metadata) : null,
    createdAfter: readTime(query.created_after),
    createdBefore: readTime(query.created_before),
    updatedAfter: readTime(query.updated_after),
    updatedBefore: readTime(query.updated_before),
    segmentsMin: query.segments_gte ?? null,
    isTest: query.test ?? null,
  }
  if (!isChecked) refuseSearch(filters)
  return filters.statuses?.length === 0 ? null : filters
}

/** A search without an index needs another filter with one, or a period that is short enough to scan. */
function refuseSearch(filters: MessageFilters): void {
  const { tag, metadata, segmentsMin, updatedAfter, updatedBefore, createdAfter, createdBefore } = filters
  const searched = [tag, metadata, segmentsMin, updatedAfter, updatedBefore].some((filter) => filter !== null)
  const { theirNumber, campaignId, contactId, errorCode, statuses: asked } = filters
  const isLed =
    [theirNumber, campaignId, contactId, errorCode].some((filter) => filter !== null) ||
    asked?.every((status) => indexedStatuses.some((one) => one === status))
  if (!searched || isLed) return
  const end = createdBefore?.getTime() ?? nowMs()
  if (createdAfter !== null && end - createdAfter.getTime() <= (searchDays + 1) * dayMs) return
  throw new ApiError('filter_combination_not_allowed', {
    detail: `${rule.searched.join(', ')} are searched only among messages that another filter finds: add ${rule.led}; or created_after, at most ${searchDays} days before created_before or now. All other filters can be combined.`,
  })
}
