/**
 * CTEs that map carriers' ids to segments, from a select of link_id, carrier_message_id, raw_id, account_id, message_id, segment and segments. If a
 * carrier gives an id again, it belongs to the later message. The other's row stays, with its message in place of a link: no receipt matches it
 * there, since the id is ambiguous, but the search for messages without a receipt finds it (`no-receipt.ts`). Old rows are looked up only after a
 * conflict (xmax set), as they were before the statement, by primary key.
 */
export const knownIds = (select: string): string => `known as (
    insert into carrier_ids (link_id, carrier_message_id, raw_id, account_id, message_id, segment, segments)
    ${select}
    on conflict (link_id, carrier_message_id) do update
      set raw_id = excluded.raw_id, account_id = excluded.account_id, message_id = excluded.message_id,
        segment = excluded.segment, segments = excluded.segments, at = now()
    returning link_id, carrier_message_id, message_id, xmax <> 0 as is_again
  ), replaced as (
    insert into carrier_ids (link_id, carrier_message_id, raw_id, account_id, message_id, segment, segments, at)
    select c.message_id, c.carrier_message_id, c.raw_id, c.account_id, c.message_id, c.segment, c.segments, c.at
    from known k
    join carrier_ids c on c.link_id = k.link_id and c.carrier_message_id = k.carrier_message_id
    where k.is_again
      and c.message_id <> k.message_id
    on conflict do nothing
  )`
