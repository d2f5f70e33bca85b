import { columns, fieldsOf } from '../ground/db/array.ts'
import type { Db, Queryable, Tx } from '../ground/db/db.ts'
import { parseId } from '../ground/base/ids.ts'
import { isStorable } from '../ground/http/body.ts'
import { storeTexts, type Texts } from '../ground/sealing/texts.ts'
import type { Draft, Verdict, ShortLink } from '../message/draft.ts'
import { newCode } from './shorten.ts'

interface Accepted {
  id: string
  draft: Draft
}

/**
 * Writes the links of drafts that this transaction accepted, by their verdicts. A taken code is drawn again and replaced in the draft and
 * the message: its length and alphabet are the same, so nothing else changes.
 */
export async function storeShortLinks(
  tx: Db | Tx,
  drafts: readonly Accepted[],
  verdicts: readonly (Verdict | undefined)[],
  texts?: Texts,
): Promise<void> {
  let missing = drafts.flatMap((message, i) => {
    const { isNew = false, campaignId = null } = verdicts[i] ?? {}
    if (!isNew) return []
    return (message.draft.shortLinks ?? []).map((link, position) => ({
      message,
      link,
      position,
      campaignId,
    }))
  })
  while (missing.length > 0) {
    const { rows } = await tx.query<{ messageId: string; position: number }>({
      name: 'store-short-links',
      text: `
        insert into short_links (code, account_id, message_id, position, campaign_id, broadcast_id, url)
        select code, account_id, message_id, position, campaign_id, broadcast_id, url
        from unnest($1::text[], $2::uuid[], $3::uuid[], $4::int[], $5::uuid[], $6::uuid[], $7::text[])
          as l (code, account_id, message_id, position, campaign_id, broadcast_id, url)
        on conflict (code) do nothing
        returning message_id as "messageId", position`,
      values: columns([
        missing.map(({ link }) => link.code),
        missing.map(({ message }) => message.draft.accountId),
        missing.map(({ message }) => message.id),
        ...fieldsOf(missing, 'position', 'campaignId'),
        missing.map(({ message }) => message.draft.broadcastId),
        missing.map(({ link }) => link.url),
      ]),
    })
    if (rows.length === missing.length) return
    const stored = new Set(rows.map(({ messageId, position }) => `${messageId} ${position}`))
    missing = missing.filter(({ message, position }) => !stored.has(`${message.id} ${position}`))
    for (const { message, link } of missing) await recode(tx, message, link, texts)
  }
}

/** The message is not visible yet. By primary key. */
async function recode(tx: Db | Tx, { id, draft }: Accepted, link: ShortLink, texts?: Texts): Promise<void> {
  const taken = link.code
  link.code = newCode()
  draft.body = draft.body.replaceAll(`/${taken}`, `/${link.code}`)
  const { accountId } = draft
  const [stored] = await storeTexts(texts, [{ accountId, id, text: draft.body }])
  await tx.query(`update messages set body = $3, body_sealed = $4 where account_id = $1 and id = $2`, [
    accountId,
    id,
    stored?.body,
    stored?.sealed,
  ])
}

/** Addresses by code, without unknown codes. By primary key. */
export async function findAddresses(db: Db, codes: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await db.query<ShortLink>({
    name: 'find-short-links',
    text: `
      select code, url
      from short_links
      where code = any ($1::text[])`,
    values: [codes],
  })
  return new Map(rows.map(({ code, url }) => [code, url]))
}

export interface Clicks {
  code: string
  people: number
  bots: number
}

export interface FirstClick extends ShortLink {
  accountId: string
  messageId: string
  clickedAt: Date
}

/** Adds clicks to their links and campaigns; returns first clicks. Locks links in the order of their codes, then campaigns; by unique keys. */
export async function countClicks(tx: Tx, clicks: readonly Clicks[]): Promise<FirstClick[]> {
  const { rows } = await tx.query<FirstClick>({
    name: 'count-clicks',
    text: `
      with locked as materialized (
        select s.code, s.first_clicked_at, c.people, c.bots
        from unnest($1::text[], $2::int[], $3::int[]) as c (code, people, bots)
        join short_links s on s.code = c.code
        order by s.code
        for update of s
      ), counted as (
        update short_links s
        set clicks = s.clicks + l.people,
          bot_clicks = s.bot_clicks + l.bots,
          first_clicked_at = coalesce(l.first_clicked_at, case when l.people > 0 then now() end),
          last_clicked_at = case when l.people > 0 then now() else s.last_clicked_at end
        from locked l
        where s.code = l.code
        returning s.code, s.url, s.account_id, s.message_id, s.campaign_id, s.broadcast_id, l.people, l.first_clicked_at is null and l.people > 0 as is_first
      ), added as (
        insert into campaign_clicks as t (account_id, campaign_id, broadcast_id, clicks)
        select account_id, campaign_id, broadcast_id, sum(people)
        from counted
        where campaign_id is not null and people > 0
        group by account_id, campaign_id, broadcast_id
        order by account_id, campaign_id, broadcast_id
        on conflict (account_id, campaign_id, broadcast_id) do update set clicks = t.clicks + excluded.clicks
      )
      select code, url, account_id as "accountId", message_id as "messageId", now() as "clickedAt"
      from counted
      where is_first`,
    values: columns(fieldsOf(clicks, 'code', 'people', 'bots')),
  })
  return rows
}

export interface ShortLinkRow extends ShortLink {
  clicks: number
  botClicks: number
  firstClickedAt: Date | null
  lastClickedAt: Date | null
}

/** The links of a message, in the order of its text; by short_links_message. */
export async function listShortLinks(db: Db, accountId: string, messageId: string): Promise<ShortLinkRow[]> {
  const { rows } = await db.query<ShortLinkRow>(
    `select code, url, clicks, bot_clicks as "botClicks", first_clicked_at as "firstClickedAt", last_clicked_at as "lastClickedAt"
     from short_links
     where account_id = $1
       and message_id = $2
     order by position`,
    [accountId, messageId],
  )
  return rows
}

/**
 * The campaigns, by id or key, that shorten by default. Looks only at bodies that leave it to their campaign; bodies may have any shape. By
 * the primary key of campaigns, and its unique key.
 */
export async function findShortening(
  db: Queryable,
  accountId: string,
  bodies: readonly object[],
): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const body of bodies)
    if ('campaign' in body && isStorable(body.campaign) && !('shorten_urls' in body)) names.add(body.campaign)
  if (names.size === 0) return names
  const wanted = [...names].map((name) => ({ name, id: parseId('cmp', name) }))
  const { rows } = await db.query<{ name: string }>({
    name: 'find-shortening',
    text: `
      select w.name
      from unnest($2::text[], $3::uuid[]) as w (name, id)
      join campaigns c on c.account_id = $1 and c.id = w.id
      where c.shorten_urls
      union all
      select w.name
      from unnest($2::text[], $3::uuid[]) as w (name, id)
      join campaigns c on c.account_id = $1 and c.key = w.name
      where w.id is null and c.shorten_urls`,
    values: [accountId, ...fieldsOf(wanted, 'name', 'id')],
  })
  return new Set(rows.map(({ name }) => name))
}
