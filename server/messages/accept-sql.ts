import { perDay } from '../db/partitions.ts'

/**
 * The accept statement. It answers per row and never fails the batch for one of them: campaigns, senders, opt-outs and keys are
 * joined, not left to constraints (one violation would undo all rows). It takes FOR SHARE on this node's row, so that a fenced node
 * leases nothing, and locks no other row that exists. A carrier that is disabled or down holds its messages; only where there is none at
 * all is a message refused. Served by the primary keys of what it joins and by senders (number, carrier_id).
 *
 * $1–$22 are columns of the drafts, $23 the time, $24 this node (or null), $25 the default validity in seconds.
 */
export const acceptStatement = perDay(
  'accept',
  (day) => `
  with me as materialized (
    select id from nodes where id = $24::uuid and fenced_at is null for share
  ), draft as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::int[],
      $10::uuid[], $11::text[], $12::timestamptz[], $13::int[], $14::text[], $15::jsonb[], $16::jsonb[], $17::jsonb[],
      $18::boolean[], $19::text[], $20::text[], $21::bytea[], $22::uuid[])
    with ordinality as d (account_id, id, their_number, sender, body, type, encoding, characters, segments,
      campaign_id, campaign_key, send_at, validity, callback_url, metadata, tags, warnings,
      is_test, operation, key, fingerprint, link_id, n)
  ), judged as materialized (
    select
      d.n, d.account_id, d.id, d.their_number, d.body, d.encoding, d.characters, d.segments, d.send_at,
      d.metadata, d.tags, d.warnings, d.is_test, d.operation, d.key, d.fingerprint,
      coalesce(d.type, c.type, 'transactional') as type,
      c.id as campaign_id,
      ct.id as contact_id,
      s.number as sender,
      coalesce(d.callback_url, c.callback_url) as callback_url,
      coalesce(d.send_at, $23::timestamptz) + make_interval(secs => coalesce(d.validity, c.validity_period, $25)) as expires_at,
      route.carrier_id,
      case when d.send_at is null and me.id is not null then li.id end as link_id,
      k.resource_id as known_id,
      k.fingerprint as known_fingerprint,
      case
        when k.key is not null then null
        when a.status <> 'active' then 'account_suspended'
        when (d.campaign_id is not null or d.campaign_key is not null) and c.id is null then 'campaign_not_found'
        when c.status in ('archived', 'canceled') then 'campaign_closed'
        when coalesce(d.sender, c.sender) is not null and s.number is null then 'sender_not_found'
        when o.number is not null then 'recipient_opted_out'
        when route.carrier_id is null then 'no_route_available'
      end as refusal
    from draft d
    join accounts a on a.id = d.account_id
    left join me on true
    left join idempotency_keys k
      on k.account_id = d.account_id
      and k.operation = d.operation
      and k.key = d.key
    left join lateral (
      select id, status, type, sender, callback_url, validity_period from campaigns
      where account_id = d.account_id and id = d.campaign_id
      union all
      select id, status, type, sender, callback_url, validity_period from campaigns
      where account_id = d.account_id and key = d.campaign_key
      limit 1
    ) c on d.campaign_id is not null or d.campaign_key is not null
    left join contacts ct
      on ct.account_id = d.account_id
      and ct.campaign_id = c.id
      and ct.phone_number = d.their_number
    left join lateral (
      select number, carrier_id from senders
      where account_id = d.account_id and number = coalesce(d.sender, c.sender)
      union all
      select number, carrier_id from senders
      where account_id = d.account_id and is_default and coalesce(d.sender, c.sender) is null
      limit 1
    ) s on true
    left join opt_outs o
      on o.account_id = d.account_id
      and o.number = d.their_number
    left join lateral (
      select id as carrier_id from carriers
      where s.carrier_id is null or id = s.carrier_id
      order by enabled desc, priority, id
      limit 1
    ) route on true
    left join links li
      on li.id = d.link_id
      and li.carrier_id = route.carrier_id
  ), keys as (
    insert into idempotency_keys (account_id, operation, key, fingerprint, resource_id)
    select account_id, operation, key, fingerprint, id
    from judged
    where key is not null and refusal is null and known_fingerprint is null
    on conflict do nothing
    returning resource_id
  ), accepted as materialized (
    select j.* from judged j
    where j.refusal is null
      and (j.key is null or j.id in (select resource_id from keys))
  ), stored as (
    insert into messages${day} (account_id, id, type, status, their_number, our_number, body, encoding, characters, segments,
      campaign_id, contact_id, callback_url, metadata, tags, warnings, is_test, send_at, expires_at,
      created_at, updated_at, queued_at, carrier_id, link_id, attempts, node_id)
    select account_id, id, type,
      case when link_id is not null then 'sending' when send_at is not null then 'scheduled' else 'queued' end,
      their_number, sender, body, encoding, characters, segments, campaign_id, contact_id, callback_url, metadata,
      case when tags is not null then array(select jsonb_array_elements_text(tags)) end, warnings, is_test, send_at, expires_at,
      $23, $23, case when send_at is null then $23::timestamptz end,
      case when link_id is not null then carrier_id end, link_id, case when link_id is not null then 1 else 0 end,
      case when link_id is not null and segments = 1 then $24::uuid end
    from accepted
  ), intended as (
    insert into intents (node_id, account_id, message_id, segment, try, link_id, at)
    select $24, account_id, id, segment, 1, link_id, $23
    from accepted, generate_series(1, segments) as segment
    where link_id is not null and segments > 1
  ), queued as (
    insert into queue (lane_id, message_id, account_id, segments, expires_at)
    select l.id, m.id, m.account_id, m.segments, m.expires_at
    from accepted m
    join lanes l on l.account_id = m.account_id and l.type = m.type and l.run_id is null
    where m.link_id is null and m.send_at is null
  ), scheduled as (
    insert into delayed (account_id, message_id, lane_id, segments, due_at, expires_at)
    select m.account_id, m.id, l.id, m.segments, m.send_at, m.expires_at
    from accepted m
    join lanes l on l.account_id = m.account_id and l.type = m.type and l.run_id is null
    where m.send_at is not null
  )
  select j.n::int, j.refusal, f.is_new as "isNew", f.is_new and j.link_id is not null as "isLeased", j.known_id as "knownId",
    j.known_fingerprint as "knownFingerprint", j.campaign_id as "campaignId", j.contact_id as "contactId", j.sender, j.type,
    j.carrier_id as "carrierId", j.callback_url as "callbackUrl", j.expires_at as "expiresAt"
  from judged j
  cross join lateral (
    select j.refusal is null and (j.key is null or j.id in (select resource_id from keys)) as is_new
  ) f`,
)
