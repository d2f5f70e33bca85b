/**
 * SQL that deletes the intents of answers `a` (node_id, account_id, message_id, try), whose segment is given. Looked up by primary key and
 * deleted where they are, whatever the planner takes the table for: it is nearly always empty when somebody looks, and a join with it then
 * read each of its rows again for each answer. The number of the try is compared again, for an intent that a later claim takes over at that
 * very moment.
 */
export const endIntents = (segment: string): string => `delete from intents
    where ctid = any (array(
      select (
        select i.ctid from intents i
        where i.node_id = a.node_id and i.account_id = a.account_id and i.message_id = a.message_id and i.segment = ${segment}
          and i.try = a.try)
      from a))
      and (message_id, try) in (select message_id, try from a)`
