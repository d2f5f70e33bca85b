/** Reads of an explanation besides the message: all by a key, and of one account. */
import type { Db } from '../ground/db/db.ts'
import type { MessageRow } from '../message/message.ts'
import { findPlace, type Place } from '../queue/place.ts'
import { plainTry, type SubmissionRow } from '../message/store.ts'

export interface ExplainedTry extends SubmissionRow {
  linkId: string
  carrierId: string | null
  carrierName: string | null
}

interface NamedCarrier {
  id: string
  name: string
}

export interface ExplainFacts {
  /** `position` null: deleted since. */
  route: { id: string | null; position: number | null; name: string | null }
  carrier: NamedCarrier | null
  /** Carriers that it may still go to. */
  chain: NamedCarrier[]
  sender: { id: string | null; isDefault: boolean; isCampaigns: boolean; isOfPool: boolean }
  /** Its place in line; null: none. */
  place: Place | null
  /** When a delayed message is due. */
  dueAt: Date | null
  /** When it is resent unless its outcome is known by then. */
  resendAt: Date | null
  /** The requesters of resends. */
  resends: { at: string; kind: 'key' | 'token'; id: string; requestId: string }[]
}

/** Reads the facts about a message: its place in line from the message, the rest by primary keys. */
export async function readExplainFacts(db: Db, row: MessageRow): Promise<ExplainFacts> {
  const place = row.status === 'queued' ? await findPlace(db, row) : null
  const { rows } = await db.query<Omit<ExplainFacts, 'place'>>(
    `select
       json_build_object('id', m.route_id, 'position', r.position, 'name', r.name) as route,
       case when c.id is not null then json_build_object('id', c.id, 'name', c.name) end as carrier,
       coalesce((
         select json_agg(json_build_object('id', k.id, 'name', k.name) order by n)
         from unnest(m.chain) with ordinality as u (id, n)
         join carriers k on k.id = u.id), '[]') as chain,
       json_build_object('id', s.id, 'isDefault', coalesce(s.is_default, false),
         'isCampaigns', coalesce(p.sender = m.our_number, false),
         'isOfPool', exists (
           select 1
           from sender_pool_members x
           where x.account_id = m.account_id and x.pool_id = p.pool_id and x.sender_id = s.id)) as sender,
       d.due_at as "dueAt",
       (select max(t.resend_at) from nameless_tries t where t.account_id = m.account_id and t.message_id = m.id) as "resendAt",
       coalesce((
         select json_agg(json_build_object('at', x.at, 'kind', x.actor_kind, 'id', x.actor_id, 'requestId', x.request_id) order by x.tries)
         from resends x
         where x.account_id = m.account_id and x.message_id = m.id), '[]') as resends
     from messages m
     left join routes r on r.id = m.route_id
     left join carriers c on c.id = m.carrier_id
     left join campaigns p on p.account_id = m.account_id and p.id = m.campaign_id
     left join lateral (
       select id, is_default from senders where account_id = m.account_id and number = m.our_number limit 1
     ) s on true
     left join delayed d on d.account_id = m.account_id and d.message_id = m.id
     where m.account_id = $1
       and m.id = $2`,
    [row.accountId, row.id],
  )
  const facts = rows[0]
  if (!facts) throw new Error('the message is gone')
  return { ...facts, place }
}

/** The tries of a message in order, with their carriers. By primary key prefix. */
export async function listExplainedTries(db: Db, accountId: string, messageId: string): Promise<ExplainedTry[]> {
  const { rows } = await db.query<ExplainedTry>(
    `select s.segment, s.try, s.state, s.carrier_message_id as "carrierMessageId", s.command_status as "commandStatus",
       s.intent_at as "intentAt", s.answered_at as "answeredAt", s.receipt_state as "receiptState",
       s.receipt_stat as "receiptStat", s.receipt_at as "receiptAt", s.is_adopted as "isAdopted", s.is_repeated as "isRepeated",
       s.link_id as "linkId", c.id as "carrierId", c.name as "carrierName"
     from (
       select segment, try, state, carrier_message_id, command_status, intent_at, answered_at, receipt_state, receipt_stat, receipt_at,
         link_id, is_adopted, is_repeated
       from submissions
       where account_id = $1 and message_id = $2
       union all
       ${plainTry}
     ) s
     left join links l on l.id = s.link_id
     left join carriers c on c.id = l.carrier_id
     order by s.try, s.segment`,
    [accountId, messageId],
  )
  return rows
}
