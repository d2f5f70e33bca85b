/**
 * Rows of `attempts`. A row is one POST, and later ones of the same flush to the same endpoint that got the same answer: their events
 * and times are in arrays. The nth of these has the id of the row with n as its last four digits.
 */

/** Events of a row have the same first ten characters: they were made within four seconds, which bounds the rows that may hold one. */
const nearDigits = 10
const [nearFirst, nearLast] = ['000-0000-0000-000000000000', 'fff-ffff-ffff-ffffffffffff']
const idDigits = 32

/** The id of the row of an attempt. */
export const rowIdOf = (attemptId: string): string => `${attemptId.slice(0, idDigits)}0000`

/** The same for all events that may be in one row. */
export const nearOf = (eventId: string): string => eventId.slice(0, nearDigits)

/** SQL for the attempts of a row under the alias, from the first on. */
export const attemptsIn = (a: string): string => `(
  select ${a}.id, ${a}.event_id, ${a}.created_at, ${a}.connect_ms, ${a}.first_byte_ms, ${a}.duration_ms
  union all
  select overlay(${a}.id::text placing lpad(to_hex(n), 4, '0') from ${idDigits + 1})::uuid, more.event_id,
    ${a}.created_at + ${a}.more_timings[4 * n - 3] * interval '1 millisecond', ${a}.more_timings[4 * n - 2], ${a}.more_timings[4 * n - 1],
    ${a}.more_timings[4 * n]
  from unnest(${a}.more_event_ids) with ordinality more (event_id, n)
)`

/** An SQL condition: a later post of the row under the alias has the event (attempts_more). */
export const hasLater = (a: string, eventId: string): string => `
  ${a}.more_event_ids is not null
  and ${a}.event_id between (left(${eventId}::text, ${nearDigits}) || '${nearFirst}')::uuid and (left(${eventId}::text, ${nearDigits}) || '${nearLast}')::uuid
  and ${eventId} = any (${a}.more_event_ids)`

/** An SQL condition: an account's event was taken, with conditions for the row `taken` (attempts_event, attempts_more). */
export const isTaken = (accountId: string, eventId: string, and: string): string => `
  exists (
    select from attempts taken
    where taken.account_id = ${accountId} and taken.event_id = ${eventId} and taken.outcome = 'ok' and taken.id > ${eventId} ${and}
    union all
    select from attempts taken
    where taken.account_id = ${accountId} and ${hasLater('taken', eventId)} and taken.id > ${eventId} ${and}
  )`
