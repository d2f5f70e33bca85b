import { perDay } from '../db/partitions.ts'
import { refusalsOfGuards } from './accepted.ts'
import { talliedAccepted } from './tallies/delta-sql.ts'

/**
 * The accept statement. It answers per row and never fails the batch for one of them: campaigns, opt-outs and keys are joined, not left
 * to constraints (one violation would undo all rows); what routing and guards refused comes with the draft, because a key that was used
 * before goes first, and of guards an opt-out too. It takes FOR SHARE on this node's row, so that a fenced node leases nothing, and locks no other row that exists. Served by the
 * primary keys of what it joins.
 *
 * An opt-out whose number was forgotten is found by the number's keyed hash, which only drafts of accounts with such opt-outs have. Where one
 * lacks it, every refusal is `undecided` and nothing is written (decision 0020).
 *
 * $1–$26 are columns of the drafts, $27 the time, $28 this node (or null), $29 the default validity in seconds, $30 the keyed hashes, $31 on_unknown, $32 when the
 * quiet hours end in which it would be sent (or null): a validity that nobody asked for begins then, $33 the countries of the recipients,
 * $34–$36 what they are estimated to cost, in which currency and at which carrier, $37 the texts that are sealed.
 */
export const acceptStatement = perDay(
  'accept',
  (day) => `
  with me as materialized (
    select id from nodes where id = $28::uuid and fenced_at is null for share
  ), draft as materialized (
    select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::int[],
      $10::uuid[], $11::text[], $12::timestamptz[], $13::int[], $14::text[], $15::jsonb[], $16::jsonb[], $17::jsonb[],
      $18::boolean[], $19::text[], $20::text[], $21::bytea[], $22::uuid[], $23::uuid[], $24::uuid[], $25::text[], $26::text[], $30::bytea[], $31::text[], $32::timestamptz[], $33::text[],
      $34::numeric[], $35::text[], $36::uuid[], $37::bytea[])
    with ordinality as d (account_id, id, their_number, sender, body, type, encoding, characters, segments,
      campaign_id, campaign_key, send_at, validity, callback_url, metadata, tags, warnings,
      is_test, operation, key, fingerprint, link_id, carrier_id, route_id, chain, refusal, number_hmac, on_unknown, opens_at, country,
      cost, cost_currency, cost_carrier_id, body_sealed, n)
  ), lacking as materialized (
    select d.account_id
    from (select distinct account_id from draft where number_hmac is null) d
    where exists (select from opt_outs where account_id = d.account_id and number is null)
  ), judged as materialized (
    select
      d.n, d.account_id, d.id, d.their_number, d.country, d.body, d.body_sealed, d.encoding, d.characters, d.segments, d.send_at,
      d.metadata, d.tags, d.warnings, d.is_test, d.operation, d.key, d.fingerprint, d.sender, d.carrier_id, d.route_id, d.chain,
      d.cost, d.cost_currency, d.cost_carrier_id,
      coalesce(d.type, c.type, 'transactional') as type,
      c.id as campaign_id,
      ct.id as contact_id,
      coalesce(d.callback_url, c.callback_url) as callback_url,
      coalesce(d.on_unknown, c.on_unknown, a.on_unknown) as on_unknown,
      case when d.validity is null and c.validity_period is null then coalesce(d.opens_at, d.send_at, $27::timestamptz)
        else coalesce(d.send_at, $27::timestamptz) end + make_interval(secs => coalesce(d.validity, c.validity_period, $29)) as expires_at,
      case when d.send_at is null then d.opens_at end as held_until,
      case when d.send_at is null and d.opens_at is null and me.id is not null and c.status is distinct from 'paused' then d.link_id end as link_id,
      k.resource_id as known_id,
      k.fingerprint as known_fingerprint,
      d.account_id in (select account_id from lacking) as lacks_hash,
      case
        -- All of them: those of the batch that can be judged would be written before the others.
        when exists (select from lacking) then 'undecided'
        when k.key is not null then null
        when a.status <> 'active' then 'account_suspended'
        when (d.campaign_id is not null or d.campaign_key is not null) and c.id is null then 'campaign_not_found'
        when c.status in ('archived', 'canceled') then 'campaign_closed'
        when d.refusal not in ('no_route_available', ${refusalsOfGuards.map((one) => `'${one}'`).join()}) then d.refusal
        when o.number is not null or forgotten.id is not null then 'recipient_opted_out'
        else d.refusal
      end as refusal
    from draft d
    join accounts a on a.id = d.account_id
    left join me on true
    left join idempotency_keys k
      on k.account_id = d.account_id
      and k.operation = d.operation
      and k.key = d.key
    left join lateral (
      select id, status, type, callback_url, validity_period, on_unknown from campaigns
      where account_id = d.account_id and id = d.campaign_id
      union all
      select id, status, type, callback_url, validity_period, on_unknown from campaigns
      where account_id = d.account_id and key = d.campaign_key
      limit 1
    ) c on d.campaign_id is not null or d.campaign_key is not null
    left join contacts ct
      on ct.account_id = d.account_id
      and ct.campaign_id = c.id
      and ct.phone_number = d.their_number
    left join opt_outs o
      on o.account_id = d.account_id
      and o.number = d.their_number
    left join opt_outs forgotten
      on forgotten.account_id = d.account_id
      and forgotten.number_hmac = d.number_hmac
      and forgotten.number is null
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
    insert into messages${day} (account_id, id, type, status, their_number, our_number, body, body_sealed, encoding, characters, segments,
      campaign_id, contact_id, callback_url, metadata, tags, warnings, is_test, send_at, expires_at,
      created_at, updated_at, queued_at, carrier_id, route_id, chain, link_id, attempts, node_id, on_unknown,
      hold_reason, hold_until, country, cost, cost_currency, cost_carrier_id)
    select account_id, id, type,
      case when link_id is not null then 'sending' when send_at is not null then 'scheduled' else 'queued' end,
      their_number, sender, body, body_sealed, encoding, characters, segments, campaign_id, contact_id, callback_url, metadata,
      case when tags is not null then array(select jsonb_array_elements_text(tags)) end, warnings, is_test, send_at, expires_at,
      $27, $27, case when send_at is null then $27::timestamptz end,
      case when link_id is not null then carrier_id end, route_id, chain::uuid[], link_id, case when link_id is not null then 1 else 0 end,
      case when link_id is not null and segments = 1 then $28::uuid end, on_unknown,
      case when held_until is not null then 'quiet_hours' end, held_until, country, cost, cost_currency, cost_carrier_id
    from accepted
  ), ${talliedAccepted('$27')}, intended as (
    insert into intents (node_id, account_id, message_id, segment, try, link_id, at)
    select $28, account_id, id, segment, 1, link_id, $27
    from accepted, generate_series(1, segments) as segment
    where link_id is not null and segments > 1
  ), queued as (
    insert into queue (lane_id, message_id, account_id, segments, expires_at)
    select l.id, m.id, m.account_id, m.segments, m.expires_at
    from accepted m
    join lanes l on l.account_id = m.account_id and l.type = m.type and l.run_id is null
    where m.link_id is null and m.send_at is null and m.held_until is null
  ), scheduled as (
    insert into delayed (account_id, message_id, lane_id, segments, due_at, expires_at, held_at)
    select m.account_id, m.id, l.id, m.segments, coalesce(m.send_at, least(m.held_until, m.expires_at)), m.expires_at,
      case when m.held_until is not null then $27::timestamptz end
    from accepted m
    join lanes l on l.account_id = m.account_id and l.type = m.type and l.run_id is null
    where m.send_at is not null or m.held_until is not null
  )
  select j.n::int, j.refusal, j.lacks_hash as "lacksHash", f.is_new as "isNew", f.is_new and j.link_id is not null as "isLeased", j.known_id as "knownId",
    j.known_fingerprint as "knownFingerprint", j.campaign_id as "campaignId", j.contact_id as "contactId", j.type,
    j.callback_url as "callbackUrl", j.expires_at as "expiresAt", j.on_unknown as "onUnknown"
  from judged j
  cross join lateral (
    select j.refusal is null and (j.key is null or j.id in (select resource_id from keys)) as is_new
  ) f`,
)
