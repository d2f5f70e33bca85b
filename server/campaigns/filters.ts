import { Type, type Static } from 'typebox'
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { createdQuery, readTime } from '../ground/http/http.ts'
import { messageTypes } from '../message/message.ts'
import { campaignStatuses } from './campaign-schema.ts'
import type { CampaignFilters } from './store.ts'

export const campaignQuery = {
  name: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 120,
      description: 'Campaigns whose name and key contain all of these words, or parts of words, ignoring case.',
      examples: ['autumn sale'],
    }),
  ),
  status: Type.Optional(
    Type.String({
      maxLength: 200,
      description: `Comma list of ${campaignStatuses.join(', ')}.`,
      examples: ['active,sending'],
    }),
  ),
  type: Type.Optional(Type.Enum([...messageTypes], { description: 'Campaigns with this default type.' })),
  tag: Type.Optional(
    Type.String({ maxLength: 1000, description: 'Campaigns with the tag; with all of a comma list.' }),
  ),
  ...createdQuery,
}

const Query = Type.Object(campaignQuery)

/** @throws ApiError with every wrong filter. */
export function readCampaignFilters(query: Partial<Static<typeof Query>>): CampaignFilters {
  const faults: FieldError[] = []
  const refuse = (name: string, detail: string): void =>
    void faults.push({ pointer: `?${name}`, code: 'invalid_value', detail })
  const statuses = listOf(query.status)
  for (const status of statuses ?? [])
    if (!campaignStatuses.some((one) => one === status))
      refuse('status', `"${status}" is not one of ${campaignStatuses.join(', ')}`)
  const tags = listOf(query.tag)
  if (tags?.includes('')) refuse('tag', 'must be tags separated by commas')
  if (faults.length > 0) throw invalid(faults)
  return {
    name: query.name ?? null,
    statuses,
    type: query.type ?? null,
    tags,
    createdAfter: readTime(query.created_after),
    createdBefore: readTime(query.created_before),
  }
}

const listOf = (text: string | undefined): string[] | null => text?.split(',').map((one) => one.trim()) ?? null
