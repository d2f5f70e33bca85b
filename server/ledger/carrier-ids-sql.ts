/**
 * CTEs that map carriers' ids to segments, from a select of link_id, carrier_message_id, raw_id, account_id, message_id, segment and segments.
 * An id that a carrier gives again is the later message's. The row of the other stays, under its message in place of a link: no receipt finds
 * it there, since its id tells of two messages now, and the look for messages without one does (`no-receipt.ts`). Looked up only where the
 * insert has met a row, which then has an xmax: as the row was before the statement, by primary key.
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
