/**
 * SQL that deletes the intents of answers `a` (node_id, account_id, message_id, try) for a segment. A look-up by primary key and delete in
 * place, whatever the planner expects of the table: it is nearly always empty when analyzed, and then a join read all its rows again for
 * each answer. Compares the try again, because a later claim may take the intent over at that moment.
 */
export const endIntents = (segment: string): string => `delete from intents
    where ctid = any (array(
      select (
        select i.ctid from intents i
        where i.node_id = a.node_id and i.account_id = a.account_id and i.message_id = a.message_id and i.segment = ${segment}
          and i.try = a.try)
      from a))
      and (message_id, try) in (select message_id, try from a)`
