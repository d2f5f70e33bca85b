/**
 * SQL conditions about messages that are resent after an unknown outcome (resend.ts), over the message under an alias. Submissions of such a message
 * are read by primary key prefix; of other messages none are. `day` is a partition (`dayOf`), `within` the bounds of its id (`between $2 and $3`), so
 * that other days are not read (ground/db/span.ts).
 */

const ofDays = (within: string): string => within && `and e.message_id ${within}`

/** Whether a carrier may have it from an earlier try: then a failure of the later one does not fail it, but makes it unconfirmed again. */
export const mayBeTaken = (m: string, day = '', within = ''): string => `(${m}.possible_duplicate and exists (
        select 1 from submissions${day} e
        where e.account_id = ${m}.account_id and e.message_id = ${m}.id ${ofDays(within)} and e.is_repeated and e.state <> 'refused'))`

/** Whether nothing is left to send: late answers and receipts show that every segment was accepted. */
export const isTaken = (m: string, day = ''): string => `(${m}.possible_duplicate and (
        select count(distinct e.segment) from submissions${day} e
        where e.account_id = ${m}.account_id and e.message_id = ${m}.id and e.state = 'accepted') >= ${m}.segments)`

/** Whether a segment was, or may have been, accepted more than once. */
export const isTwice = (m: string, day = '', within = ''): string => `exists (
        select 1 from submissions${day} e
        where e.account_id = ${m}.account_id and e.message_id = ${m}.id ${ofDays(within)} and e.state in ('accepted', 'unknown')
        group by e.segment
        having count(*) > 1)`

/** `possible_duplicate` of a message that leaves its state: one that is queued for resending may not have been sent twice. */
export const staysTwice = (m: string, day = '', within = ''): string =>
  `(${m}.possible_duplicate and (${m}.status <> 'queued' or ${isTwice(m, day, within)}))`

/** Whether no segment is open now: unaccepted ones are being answered, and were skipped when the others were opened again. */
export const isBeingAnswered = (m: string, day = ''): string => `(${m}.possible_duplicate and (
        select count(distinct e.segment) from submissions${day} e
        where e.account_id = ${m}.account_id and e.message_id = ${m}.id
          and (e.state = 'accepted' or (e.state = 'unknown' and not e.is_repeated))) >= ${m}.segments)`
