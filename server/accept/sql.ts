/** The accept statement, reduced to what the drafts of a batch use. */
import { perDay, type DayStatement } from '../ground/db/partitions.ts'
import { rowParameters, type Picker, type RowParameters } from '../ground/db/rows.ts'
import { refusalsOfGuards } from '../message/draft.ts'
import { isPaced } from '../queue/claim-sql.ts'
import { countAccepted } from '../usage/delta-sql.ts'
import { askedFor } from '../message/validity.ts'

/** Columns of every statement; those of `own` differ by draft. */
const always = {
  own: { id: 'uuid', their_number: 'text', characters: 'int' },
  common: {
    account_id: 'uuid',
    sender: 'text',
    type: 'text',
    encoding: 'text',
    segments: 'int',
    country: 'text',
    is_test: 'boolean',
  },
} as const

/** Columns that few drafts have, by part of the statement. */
const parts = {
  texts: { own: { body: 'text' }, common: {} },
  sealedTexts: { own: { body_sealed: 'bytea' }, common: {} },
  /** Room reserved at a link of this process. */
  leases: { own: {}, common: { link_id: 'uuid', carrier_id: 'uuid' } },
  warnings: { own: {}, common: { warnings: 'jsonb' } },
  keys: { own: { key: 'text', fingerprint: 'bytea' }, common: { operation: 'text' } },
  campaigns: { own: {}, common: { campaign_id: 'uuid', campaign_key: 'text', broadcast_id: 'uuid' } },
  options: {
    own: {},
    common: { validity: 'int', callback_url: 'text', metadata: 'jsonb', tags: 'jsonb', on_unknown: 'text' },
  },
  routes: { own: {}, common: { route_id: 'uuid', chain: 'text' } },
  costs: { own: {}, common: { cost: 'numeric', cost_currency: 'text', cost_carrier_id: 'uuid' } },
  /** `opens_at`: the end of the quiet hours that hold the message; a default validity begins then. */
  times: { own: {}, common: { send_at: 'timestamptz', opens_at: 'timestamptz' } },
  refusals: { own: {}, common: { refusal: 'text' } },
  hashes: { own: { number_hmac: 'bytea' }, common: {} },
  /** Several accounts: account data is joined per draft instead of read once. */
  accounts: { own: {}, common: {} },
} as const
type Part = keyof typeof parts
export const partNames = Object.keys(parts) as Part[]

type ColumnsOf<P> = P extends { own: infer Own; common: infer Common } ? keyof Own | keyof Common : never
type DraftColumn = ColumnsOf<typeof always> | ColumnsOf<(typeof parts)[Part]>
export type DraftColumns<Row> = Readonly<Record<DraftColumn, Picker<Row>>>

interface Common {
  now: Date
  /** Null: this node leases nothing. */
  nodeId: string | null
  validityDefaultSeconds: number
}

// Every connection keeps each prepared. Few of some 4,000 shapes occur; after the first 32, the whole statement is used.
const shapesMax = 32
const shapes = new Map<number, Shape>()

interface Shape {
  used: ReadonlySet<Part>
  statement: (day: string) => DayStatement
  rows: RowParameters<DraftColumn>
}

export function acceptStatement<Row>(
  day: string,
  drafts: readonly Row[],
  picks: DraftColumns<Row>,
  { now, nodeId, validityDefaultSeconds }: Common,
): DayStatement & { values: unknown[] } {
  const { used, statement, rows } = shapeOf(drafts, picks)
  return {
    ...statement(day),
    values: [...rows.encode(drafts, picks), now, validityDefaultSeconds, ...(used.has('leases') ? [nodeId] : [])],
  }
}

function shapeOf<Row>(drafts: readonly Row[], picks: DraftColumns<Row>): Shape {
  const hasMany = (account: Picker<Row>): boolean =>
    drafts.some((draft, i) => drafts[0] !== undefined && account(draft, i) !== account(drafts[0], 0))
  const isUsed = (part: Part): boolean =>
    part === 'accounts'
      ? hasMany(picks.account_id)
      : columnsOf[part].some((column) => drafts.some((draft, i) => picks[column](draft, i) !== null))
  let mask = partNames.reduce((bits, part, i) => (isUsed(part) ? bits | (1 << i) : bits), 0)
  if (!shapes.has(mask) && shapes.size >= shapesMax) mask = 2 ** partNames.length - 1
  let shape = shapes.get(mask)
  if (!shape) {
    const used = new Set(partNames.filter((_, i) => mask & (1 << i)))
    const statement = perDay(`accept_${mask.toString(16)}`, (of) => acceptText(of, used))
    shapes.set(mask, (shape = { used, statement, rows: rowsOf(used) }))
  }
  return shape
}

const columnsOf = Object.fromEntries(
  partNames.map((part) => [part, [...Object.keys(parts[part].own), ...Object.keys(parts[part].common)]]),
) as Record<Part, DraftColumn[]>

function rowsOf(used: ReadonlySet<Part>): RowParameters<DraftColumn> {
  const all = [always, ...[...used].map((part) => parts[part])]
  const own: Record<string, string> = Object.assign({}, ...all.map((part) => part.own))
  const common: Record<string, string> = Object.assign({}, ...all.map((part) => part.common))
  return rowParameters(own, common)
}

/**
 * Returns verdicts grouped by equal content, and never fails the batch for one row: campaigns, opt-outs and keys are joined instead of
 * left to constraints (one violation would undo all rows). Refusals of routing and guards come with the draft, because a known key takes
 * precedence, and an opt-out takes precedence over guards. It locks this node's row FOR SHARE, so that a fenced node leases nothing, and
 * no other existing row. Served by the primary keys of the joined tables.
 *
 * An opt-out whose number was forgotten is found by the number's keyed hash, which only drafts of accounts with such opt-outs have. If a
 * draft lacks it, every refusal is `undecided` and nothing is written (decision 0020).
 *
 * Parts that no draft uses are left out, from the columns of `unnest` (each is a function of its own to PostgreSQL) to the joins and
 * inserts: a statement for one row costs half of the whole one (decision 0012).
 */
export function acceptText(day: string, used: ReadonlySet<Part>): string {
  const cut = cutFor(used)
  const { when, list, select, account, node, at, callbackUrls } = cut
  return `
  with ${when(
    'leases',
    `me as materialized (
    select id from nodes where id = ${node}::uuid and fenced_at is null for share
  ), `,
  )}draft as materialized (
    ${select}
  ), ${when(
    'accounts',
    '',
    `account as materialized (
    select id, status, on_unknown from accounts where id = ${account}
  ), lane as materialized (
    select id, account_id, type, run_id from lanes where account_id = ${account} and run_id is null
  ), `,
  )}lacking as materialized (
    select d.account_id
    from (select distinct account_id from draft${when('hashes', ' where number_hmac is null')}) d
    where exists (select from opt_outs where account_id = d.account_id and number is null)
  ), judged as materialized (
    ${judgedText(cut)}
  ), ${when(
    'keys',
    `keys as (
    insert into idempotency_keys (account_id, operation, key, fingerprint, resource_id)
    select account_id, operation, key, fingerprint, id
    from judged
    where key is not null and refusal is null and known_fingerprint is null
    on conflict do nothing
    returning resource_id
  ), `,
  )}accepted as materialized (
    select * from judged j
    where j.refusal is null ${when('keys', 'and (j.key is null or j.id in (select resource_id from keys))')}
  ), stored as (
    ${storedText(cut, day)}
  ), ${countAccepted({ at, hasCampaigns: used.has('campaigns'), hasScheduled: used.has('times') })}, ${when(
    'leases',
    `intended as (
    insert into intents (node_id, account_id, message_id, segment, try, link_id, at)
    select ${node}::uuid, account_id, id, segment, 1, link_id, ${at}
    from accepted, generate_series(1, segments) as segment
    where link_id is not null and segments > 1
  ), `,
  )}${when(
    'times',
    `scheduled as (
    insert into delayed (account_id, message_id, lane_id, segments, due_at, expires_at, held_at${when('campaigns', ', campaign_id')})
    select m.account_id, m.id, l.id, m.segments, coalesce(m.send_at, least(m.held_until, m.expires_at)), m.expires_at,
      case when m.held_until is not null then ${at} end${when('campaigns', ', case when m.held_until is not null then m.campaign_id end')}
    from accepted m
    join ${when('accounts', 'lanes', 'lane')} l on l.account_id = m.account_id and l.type = m.type and l.run_id is null
    where m.send_at is not null or m.held_until is not null
  ), `,
  )}queued as (
    insert into queue (lane_id, message_id, account_id, segments, expires_at)
    select l.id, m.id, m.account_id, m.segments, m.expires_at
    from accepted m
    join ${when('accounts', 'lanes', 'lane')} l on l.account_id = m.account_id and l.type = m.type and l.run_id is null
    where true ${when('leases', 'and m.link_id is null')} ${when('times', 'and m.send_at is null and m.held_until is null')}
  )
  select case when count(*) < (select count(*) from draft) then array_agg(j.n::int) end as places, j.refusal,
    j.lacks_hash as "lacksHash", f.is_new as "isNew", j.type, j.expires_at as "expiresAt", j.on_unknown as "onUnknown"
    ${callbackUrls && ', j.callback_url as "callbackUrl"'}
    ${when('leases', ', f.is_new and j.link_id is not null as "isLeased"')}
    ${when('keys', ', j.known_id as "knownId", j.known_fingerprint as "knownFingerprint"')}
    ${when('campaigns', ', j.campaign_id as "campaignId", j.contact_id as "contactId", j.is_paused as "isPaused"')}
  from judged j
  cross join lateral (
    select j.refusal is null ${when('keys', 'and (j.key is null or j.id in (select resource_id from keys))')} as is_new
  ) f
  group by ${list(
    'j.refusal, j.lacks_hash, f.is_new, j.type, j.expires_at, j.on_unknown',
    callbackUrls && 'j.callback_url',
    when('leases', '"isLeased"'),
    when('keys', 'j.known_id, j.known_fingerprint'),
    when('campaigns', 'j.campaign_id, j.contact_id, j.is_paused'),
  )}`
}

/** Helpers that leave pieces out of the text, and fragments that several pieces share. */
function cutFor(used: ReadonlySet<Part>) {
  const { select, count, shared } = rowsOf(used)
  const [now, validity, node] = [1, 2, 3].map((n) => `$${count + n}`)
  const when = (part: Part, sql: string, otherwise = ''): string => (used.has(part) ? sql : otherwise)
  const list = (...items: string[]): string => items.filter((item) => item !== '').join(', ')
  const callbackUrls = list(when('options', 'd.callback_url'), when('campaigns', 'c.callback_url'))
  // Columns that pass through `judged` unchanged.
  const kept = partNames.filter((part) => used.has(part)).flatMap((part) => keptOf[part] ?? [])
  return {
    when,
    list,
    select,
    account: shared('account_id'),
    at: `${now}::timestamptz`,
    validity,
    node,
    callbackUrls,
    kept,
  }
}
type Cut = ReturnType<typeof cutFor>

function judgedText({ when, list, at, validity, callbackUrls, kept }: Cut): string {
  const validities = list(when('options', 'd.validity'), when('campaigns', 'c.validity_period'))
  const start = when(
    'times',
    `case when coalesce(${list(validities, 'null')}) is null then coalesce(d.opens_at, d.send_at, ${at}) else coalesce(d.send_at, ${at}) end`,
    at,
  )
  const mark = validities && ` + case when coalesce(${validities}) is null then interval '0' else ${askedFor} end`
  return `select d.n, d.account_id, d.id, d.their_number, d.country, d.encoding, d.characters, d.segments, d.is_test, d.sender,
      ${kept.map((column) => `d.${column}, `).join('')}
      ${when('keys', 'd.operation, d.key, d.fingerprint, k.resource_id as known_id, k.fingerprint as known_fingerprint,')}
      ${when('campaigns', "c.id as campaign_id, d.broadcast_id, ct.id as contact_id, c.status = 'paused' as is_paused,")}
      coalesce(${list('d.type', when('campaigns', 'c.type'), "'transactional'")}) as type,
      ${callbackUrls && `coalesce(${callbackUrls}) as callback_url,`}
      coalesce(${list(when('options', 'd.on_unknown'), when('campaigns', 'c.on_unknown'), 'a.on_unknown')}) as on_unknown,
      ${start} + make_interval(secs => coalesce(${list(validities, `${validity}::int`)}))${mark} as expires_at,
      ${when('times', 'case when d.send_at is null then d.opens_at end as held_until,')}
      ${when('leases', `case when ${list('me.id is not null')}${when('times', ' and d.send_at is null and d.opens_at is null')}${when('campaigns', ` and c.status is distinct from 'paused' and ${isPaced('c')} is not true`)} then d.link_id end as link_id,`)}
      d.account_id in (select account_id from lacking) as lacks_hash,
      case
        -- All of them: those of the batch that can be judged would be written before the others.
        when exists (select from lacking) then 'undecided'
        ${when('keys', 'when k.key is not null then null')}
        when a.status <> 'active' then 'account_suspended'
        ${when(
          'campaigns',
          `when (d.campaign_id is not null or d.campaign_key is not null) and c.id is null then 'campaign_not_found'
        when c.status in ('archived', 'canceled') then 'campaign_closed'`,
        )}
        ${when('refusals', `when d.refusal not in ('no_route_available', ${refusalsOfGuards.map((one) => `'${one}'`).join()}) then d.refusal`)}
        when o.number is not null${when('hashes', ' or forgotten.id is not null')} then 'recipient_opted_out'
        ${when('refusals', 'else d.refusal')}
      end as refusal
    from draft d
    join ${when('accounts', 'accounts', 'account')} a on a.id = d.account_id
    ${when('leases', 'left join me on true')}
    ${when(
      'keys',
      `left join idempotency_keys k
      on k.account_id = d.account_id
      and k.operation = d.operation
      and k.key = d.key`,
    )}
    ${when(
      'campaigns',
      `left join lateral (
      select id, status, type, callback_url, validity_period, on_unknown, pace from campaigns
      where account_id = d.account_id and id = d.campaign_id
      union all
      select id, status, type, callback_url, validity_period, on_unknown, pace from campaigns
      where account_id = d.account_id and key = d.campaign_key
      limit 1
    ) c on d.campaign_id is not null or d.campaign_key is not null
    left join contacts ct
      on ct.account_id = d.account_id
      and ct.campaign_id = c.id
      and ct.phone_number = d.their_number`,
    )}
    left join opt_outs o
      on o.account_id = d.account_id
      and o.number = d.their_number
    ${when(
      'hashes',
      `left join opt_outs forgotten
      on forgotten.account_id = d.account_id
      and forgotten.number_hmac = d.number_hmac
      and forgotten.number is null`,
    )}`
}

function storedText({ when, at, node, callbackUrls, kept }: Cut, day: string): string {
  return `insert into messages${day} (account_id, id, type, status, their_number, our_number, encoding, characters, segments, is_test, country,
      expires_at, created_at, updated_at, queued_at, on_unknown${callbackUrls && ', callback_url'}${kept.map((column) => `, ${column}`).join('')}
      ${when('leases', ', link_id, attempts, node_id')}${when('campaigns', ', campaign_id, broadcast_id, contact_id')}${when('times', ', hold_reason, hold_until')})
    select account_id, id, type,
      case ${when('leases', "when link_id is not null then 'sending'")} ${when('times', "when send_at is not null then 'scheduled'")} when true then 'queued' end,
      their_number, sender, encoding, characters, segments, is_test, country,
      expires_at, ${at}, ${at}, ${when('times', `case when send_at is null then ${at} end`, at)}, on_unknown${callbackUrls && ', callback_url'}
      ${kept.map((column) => `, ${storedAs[column] ?? column}`).join('')}
      ${when('leases', `, link_id, case when link_id is not null then 1 else 0 end, case when link_id is not null and segments = 1 then ${node}::uuid end`)}
      ${when('campaigns', ', campaign_id, broadcast_id, contact_id')}${when('times', ", case when held_until is not null then 'quiet_hours' end, held_until")}
    from accepted`
}

/** Columns that the message takes from the draft unchanged, or as `storedAs` says. */
const keptOf: Partial<Record<Part, string[]>> = {
  texts: ['body'],
  sealedTexts: ['body_sealed'],
  leases: ['carrier_id'],
  warnings: ['warnings'],
  options: ['metadata', 'tags'],
  routes: ['route_id', 'chain'],
  costs: ['cost', 'cost_currency', 'cost_carrier_id'],
  times: ['send_at'],
}
const storedAs: Readonly<Record<string, string>> = {
  carrier_id: 'case when link_id is not null then carrier_id end',
  tags: 'case when tags is not null then array(select jsonb_array_elements_text(tags)) end',
  chain: 'chain::uuid[]',
}
