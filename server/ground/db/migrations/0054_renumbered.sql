-- Numbers of countries that renumbered, in the form that readers give now (ground/numbers/renumbered.ts): a STOP, a contact or a message that
-- was stored in the old form was another person's for every comparison. Rows of one phone in both forms become one. Opt-outs without a number
-- (forgotten) and consents are hashes, which nobody can change: those are looked for under both forms.
do $$
declare
  changes constant text := $values$ (values
    ('^521([2-9]\d{9})$', '52\1'),
    ('^54((?:11|2\d|3\d)\d{8})$', '549\1'),
    ('^55([1-9][1-9])([689]\d{7}|7[1-6]\d{6})$', '55\19\2'),
    ('^8412([068]\d{7})$', '847\1'),
    ('^84121(\d{7})$', '8479\1'),
    ('^84122(\d{7})$', '8477\1'),
    ('^8412([345]\d{7})$', '848\1'),
    ('^84127(\d{7})$', '8481\1'),
    ('^84129(\d{7})$', '8482\1'),
    ('^8416([2-9]\d{7})$', '843\1'),
    ('^8418([68]\d{7})$', '845\1'),
    ('^84199(\d{7})$', '8459\1'),
    ('^225([04-9][0-3]\d{6})$', '22501\1'),
    ('^225([04-9][4-6]\d{6})$', '22505\1'),
    ('^225([04-9][7-9]\d{6})$', '22507\1'),
    ('^225(2\d8\d{5})$', '22521\1'),
    ('^225([23]\d0\d{5})$', '22525\1'),
    ('^225(2\d[1-79]\d{5}|3\d[1-9]\d{5})$', '22527\1'),
    ('^229(\d{8})$', '22901\1'),
    ('^230([79]\d{6})$', '2305\1'),
    ('^237([79]\d{7})$', '2376\1'),
    ('^237((?:22|33)\d{6})$', '2372\1'),
    ('^241([256]\d{6})$', '2416\1'),
    ('^241([47]\d{6})$', '2417\1'),
    ('^593([89]\d{7})$', '5939\1')
  ) as f (old, current) $values$;
  -- Nearly all numbers are told apart by their first digits, before any other pattern is tried.
  is_old constant text := $where$ ~ '^(?:521|54[123]|55[1-9]|841|225|229|230[79]|237|241|593[89])' $where$;
  place record;
begin
  execute format($q$
    delete from opt_outs t using %s
    where t.number %s and t.number ~ f.old
      and exists (
        select from opt_outs o
        where o.account_id = t.account_id and o.number = regexp_replace(t.number, f.old, f.current)
      )$q$, changes, is_old);
  execute format($q$
    delete from sender_affinity t using %s
    where t.their_number %s and t.their_number ~ f.old
      and exists (
        select from sender_affinity o
        where o.account_id = t.account_id and o.pool_id = t.pool_id
          and o.their_number = regexp_replace(t.their_number, f.old, f.current)
      )$q$, changes, is_old);
  execute format($q$
    with gone as (
      delete from contacts t using %s
      where t.phone_number %s and t.phone_number ~ f.old
        and exists (
          select from contacts o
          where o.account_id = t.account_id and o.campaign_id = t.campaign_id
            and o.phone_number = regexp_replace(t.phone_number, f.old, f.current)
        )
      returning t.account_id, t.campaign_id
    )
    update campaigns c
    set contacts_count = c.contacts_count - g.count
    from (select account_id, campaign_id, count(*)::int as count from gone group by 1, 2) g
    where c.account_id = g.account_id and c.id = g.campaign_id$q$, changes, is_old);
  for place in
    select *
    from (values
      ('opt_outs', 'number'),
      ('opt_out_suspicions', 'number'),
      ('sender_affinity', 'their_number'),
      ('contacts', 'phone_number'),
      ('messages', 'their_number')
    ) as p (name, field)
  loop
    execute format($q$
      update %1$I t
      set %2$I = regexp_replace(t.%2$I, f.old, f.current)
      from %3$s
      where t.%2$I %4$s and t.%2$I ~ f.old$q$, place.name, place.field, changes, is_old);
  end loop;
  execute format($q$
    update erasures t
    set number = regexp_replace(t.number, f.old, f.current)
    from %s
    where t.number %s and t.number ~ f.old
      and not exists (
        select from erasures o
        where o.account_id = t.account_id and o.number = regexp_replace(t.number, f.old, f.current)
      )$q$, changes, is_old);
  -- The id of a conversation is a hash of its numbers (message/conversation-id.ts).
  execute format($q$
    with moved as (
      delete from conversations t using %s
      where t.their_number %s and t.their_number ~ f.old
      returning t.*, regexp_replace(t.their_number, f.old, f.current) as current
    ), hashed as (
      select *, encode(sha256(convert_to(account_id || ' ' || our_number || ' ' || current, 'UTF8')), 'hex') as x from moved
    )
    insert into conversations as c
      (account_id, id, our_number, their_number, campaign_id, contact_id, unread, assignee, closed_at, closed_by, last_reply_id, created_at)
    select account_id,
      (substr(x, 1, 8) || '-' || substr(x, 9, 4) || '-8' || substr(x, 14, 3) || '-8' || substr(x, 18, 3) || '-' || substr(x, 21, 12))::uuid,
      our_number, current, campaign_id, contact_id, unread, assignee, closed_at, closed_by, last_reply_id, created_at
    from hashed
    on conflict (account_id, id) do update
    set unread = c.unread + excluded.unread,
      last_reply_id = greatest(c.last_reply_id, excluded.last_reply_id),
      assignee = coalesce(c.assignee, excluded.assignee),
      created_at = least(c.created_at, excluded.created_at)$q$, changes, is_old);
end $$;
