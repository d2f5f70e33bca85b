/**
 * What statements ask of messages that are sent again after an unknown outcome (resend.ts): parts of statements over the message under an
 * alias. The submissions of such a message are read by primary key prefix; of any other message nothing is. `day` is a partition (`dayOf`),
 * `within` what is known of its id (`between $2 and $3`), so that days without it are not looked into (ground/db/span.ts).
 */

const ofDays = (within: string): string => within && `and e.message_id ${within}`

/**
 * Whether a carrier may have it from an earlier try: then it has not failed, even if the later one does, but is unconfirmed
 * again.
 */
export const mayBeTaken = (m: string, day = '', within = ''): string => `(${m}.possible_duplicate and exists (
        select 1 from submissions${day} e
        where e.account_id = ${m}.account_id and e.message_id = ${m}.id ${ofDays(within)} and e.is_repeated and e.state <> 'refused'))`

/** Whether nothing is left to send: late answers and receipts have told that every segment was taken. */
export const isTaken = (m: string, day = ''): string => `(${m}.possible_duplicate and (
        select count(distinct e.segment) from submissions${day} e
        where e.account_id = ${m}.account_id and e.message_id = ${m}.id and e.state = 'accepted') >= ${m}.segments)`

/** Whether a segment was, or may have been, taken more than once. */
export const isTwice = (m: string, day = '', within = ''): string => `exists (
        select 1 from submissions${day} e
        where e.account_id = ${m}.account_id and e.message_id = ${m}.id ${ofDays(within)} and e.state in ('accepted', 'unknown')
        group by e.segment
        having count(*) > 1)`

/** `possible_duplicate` of a message that leaves its state: one that waits in line to be sent again may not have been sent twice. */
export const staysTwice = (m: string, day = '', within = ''): string =>
  `(${m}.possible_duplicate and (${m}.status <> 'queued' or ${isTwice(m, day, within)}))`

/** Whether nothing is open at this moment: what was not taken is just being answered, and was passed over when the others were opened again. */
export const isBeingAnswered = (m: string, day = ''): string => `(${m}.possible_duplicate and (
        select count(distinct e.segment) from submissions${day} e
        where e.account_id = ${m}.account_id and e.message_id = ${m}.id
          and (e.state = 'accepted' or (e.state = 'unknown' and not e.is_repeated))) >= ${m}.segments)`
