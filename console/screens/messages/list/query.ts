/** The address's filters in the API's form. */
import type { Operations } from '@heliogram/sdk'
import { momentOfDay } from '../../../kit/moments.ts'
import { cleanNumber } from '../../../kit/number.ts'
import { typeOf } from '../../../kit/message-types.ts'

/** The API's names, so that links carry over; days include the whole day. */
export const filterNames = [
  'number',
  'status',
  'direction',
  'to',
  'from',
  'campaign',
  'contact',
  'type',
  'tag',
  'error_code',
  'test',
  'created_after',
  'created_before',
] as const

export type FilterName = (typeof filterNames)[number]
export type MessageFilter = Partial<Record<FilterName, string>>
export type MessageQuery = NonNullable<Operations['exportMessages']['query']>

const day = /^\d{4}-\d\d-\d\d$/
const tagDays = 30

/** Whether the API requires a time range, and none is given. */
export const needsTime = ({ tag, created_after, number, to, from, campaign, contact }: MessageFilter): boolean =>
  tag !== undefined && [created_after, number, to, from, campaign, contact].every((one) => one === undefined)

export function queryOf(filters: MessageFilter): MessageQuery {
  const {
    number,
    to,
    from: sender,
    direction,
    type,
    test,
    created_after: after,
    created_before: before,
    ...rest
  } = filters
  const from = needsTime(filters) ? new Date(Date.now() - tagDays * 86_400_000).toISOString() : after
  return {
    ...rest,
    ...(number !== undefined && { number: cleanNumber(number) }),
    ...(to !== undefined && { to: cleanNumber(to) }),
    ...(sender !== undefined && { from: cleanNumber(sender) }),
    ...((direction === 'outbound' || direction === 'inbound') && { direction }),
    ...(typeOf(type) && { type: typeOf(type) }),
    ...(test !== undefined && { test: test === 'true' }),
    ...(from !== undefined && { created_after: day.test(from) ? momentOfDay(from) : from }),
    ...(before !== undefined && { created_before: day.test(before) ? momentOfDay(before, true) : before }),
  }
}
