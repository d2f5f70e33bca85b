import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { now as readNow } from '../ground/db/clock.ts'
import { invalid, type FieldError } from '../ground/base/errors.ts'
import { QueryTime } from '../ground/http/http.ts'
import { readQuery } from '../ground/http/faults.ts'

export const spanQuery = {
  from: Type.Optional(QueryTime('From the hour of this time. Hours and days are in UTC.')),
  to: Type.Optional(QueryTime('To this time, exclusive unless it is within an hour.')),
}

/** `to` is excluded. Both are full hours. */
export interface Span {
  from: Date
  to: Date
}

/** Reads a query's span and its other fields, and reports all faults together (`readQuery`). Half a span is not read. */
export const readSpanOf = <Query extends { from?: string; to?: string }, T>(
  request: FastifyRequest & { query: Query },
  read: (span: { from?: string; to?: string }, query: Partial<Query>) => T | Promise<T>,
): Promise<T> =>
  readQuery(request, (query) => {
    const { from, to } = query
    const isWhole = from === request.query.from && to === request.query.to
    return read({ ...(isWhole && from !== undefined && { from }), ...(isWhole && to !== undefined && { to }) }, query)
  })

const hourMs = 3_600_000
// RFC 3339 has years of four digits.
const lastHourMs = Date.UTC(9999, 11, 31, 23)

export const startOfHour = (time: Date): Date => new Date(Math.floor(time.getTime() / hourMs) * hourMs)
export const endOfHour = (time: Date): Date =>
  new Date(Math.min(Math.ceil(time.getTime() / hourMs) * hourMs, lastHourMs))

/**
 * Reads a span; `defaultFrom` is the start if only the end is given.
 * @throws ApiError `validation_failed` if it is empty or too long.
 */
export function readSpan(
  query: { from?: string; to?: string },
  daysMax: number,
  defaultFrom: (to: Date) => Date,
  now: Date = readNow(),
): Span {
  const errors: FieldError[] = []
  const to = endOfHour(query.to === undefined ? now : new Date(query.to))
  const from = startOfHour(query.from === undefined ? defaultFrom(to) : new Date(query.from))
  if (from >= to) errors.push({ pointer: '?to', code: 'invalid_value', detail: 'must be later than `from`' })
  else if (to.getTime() - from.getTime() > daysMax * 24 * hourMs)
    errors.push({ pointer: '?from', code: 'out_of_range', detail: `must be at most ${daysMax} days before the end` })
  if (errors.length > 0) throw invalid(errors)
  return { from, to }
}
