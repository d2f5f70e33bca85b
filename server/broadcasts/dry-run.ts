/** The dry run of a broadcast: renders and counts every contact's text without sending it. */
import { countSegments, findNonGsm7 } from '@heliogram/smpp'
import type { Db } from '../ground/db/db.ts'
import type { Acceptor } from '../accept/accept.ts'
import type { Draft, Planned } from '../message/draft.ts'
import { findOptOuts } from '../message/opted-out.ts'
import type { RouteRefusal } from '../message/routing.ts'
import type { Money } from '../ground/base/money.ts'
import type { Vault } from '../ground/sealing/vault.ts'
import { createDrafter, type Skip } from './draft.ts'
import type { MessageBody } from './broadcast.ts'
import { contactFields, sealedFields, type ContactFields } from './recipients.ts'

export interface DryRunOrder {
  accountId: string
  campaignId: string
  body: MessageBody
  audienceTags: string[] | null
  isTest: boolean
}

export interface SkippedContact {
  contactId: string
  phoneNumber: string
  reason: string
  detail: string
}

export interface DryRunCounts {
  recipients: number
  messages: number
  segments: number
  encodings: Record<Draft['encoding'], number>
  segmentsMax: number
  skipped: Record<string, number>
  /** One amount per currency, sorted by currency. */
  cost: Money[]
  /** What the messages in UCS-2 need beyond GSM-7. */
  ucs2Extra: { segments: number; cost: Money[]; characters: string[] }
  sample: string | null
}

// Limits are missing here, because a broadcast waits for them and skips no recipient.
const stops = {
  destination_not_allowed: 'The account does not allow this country.',
  duplicate_message: 'The same text was sent to this number a moment ago.',
} as const
type StopReason = keyof typeof stops

const refusals: Record<RouteRefusal | 'max_price_exceeded' | 'recipient_opted_out' | StopReason, string> = {
  ...stops,
  campaign_not_found: 'The account has no such campaign.',
  pool_not_found: 'The account has no such sender pool.',
  sender_not_found: 'The account has no such sender.',
  sender_not_allowed: 'None of the possible senders can be used for this number.',
  no_route_available: 'No carrier can send it.',
  premium_number_not_allowed: 'It is a premium number, which the account does not allow.',
  test_mode_unavailable: 'Test mode is turned off.',
  max_price_exceeded: 'It would cost more than max_price.',
  recipient_opted_out: 'The recipient has opted out.',
}

const isDraft = (one: Draft | Skip): one is Draft => !('reason' in one)

/** Why accept would refuse a message, with the precedence of its statement. */
function skipOf(plan: Planned | undefined, isOptedOut: boolean): Skip | null {
  const refusal = plan?.route.refusal ?? (plan?.isOver ? 'max_price_exceeded' : null)
  const stop = plan?.stop?.refusal
  const ofGuard = stop === 'destination_not_allowed' || stop === 'duplicate_message' ? stop : null
  const reason =
    isOptedOut && (refusal === null || refusal === 'no_route_available') ? 'recipient_opted_out' : (refusal ?? ofGuard)
  return reason && { reason, detail: refusals[reason] }
}

const charactersMax = 10

// Contacts per page; other work runs between two pages.
const pageMax = 2000

/** `onSkip` gets every contact without a message. Reads contacts by their primary key, page by page. */
export async function dryRun(
  { db, vault, acceptor }: { db: Db; vault: Vault; acceptor: Pick<Acceptor, 'plan'> },
  order: DryRunOrder,
  onSkip: (skip: SkippedContact) => void | Promise<void>,
): Promise<DryRunCounts> {
  const { accountId, campaignId, body, audienceTags, isTest } = order
  const drafter = createDrafter(body, { campaignId, broadcastId: null }, { accountId, isTest })
  const counts: DryRunCounts = {
    recipients: 0,
    messages: 0,
    segments: 0,
    encodings: { 'GSM-7': 0, 'UCS-2': 0 },
    segmentsMax: 0,
    skipped: {},
    cost: [],
    ucs2Extra: { segments: 0, cost: [], characters: [] },
    sample: null,
  }
  const costs = new Map<string, number>()
  const extraCosts = new Map<string, number>()
  const characters = new Map<string, number>()
  for (let after: string | null = null; ;) {
    const page: { id: string; isWanted: boolean; contact: ContactFields }[] = await readPage(
      db,
      accountId,
      campaignId,
      audienceTags,
      after,
    )
    const wanted = page.filter(({ isWanted }) => isWanted)
    const optedOut = await findOptOuts(
      db,
      vault,
      accountId,
      wanted.map(({ contact }) => contact.phone_number),
    )
    const made = wanted.map(({ contact }) => drafter.draft(contact))
    const drafts = made.filter(isDraft)
    const planned = await acceptor.plan(drafts)
    const plans = new Map<Draft | Skip, Planned | undefined>(drafts.map((draft, i) => [draft, planned[i]]))
    for (const [i, { id, contact }] of wanted.entries()) {
      const one = made[i]
      if (!one) continue
      counts.recipients++
      const plan = plans.get(one)
      const outcome = isDraft(one) ? (skipOf(plan, optedOut.has(contact.phone_number)) ?? one) : one
      if (!isDraft(outcome)) {
        counts.skipped[outcome.reason] = (counts.skipped[outcome.reason] ?? 0) + 1
        await onSkip({ contactId: id, phoneNumber: contact.phone_number, ...outcome })
        continue
      }
      counts.messages++
      counts.segments += outcome.segments
      counts.encodings[outcome.encoding]++
      counts.segmentsMax = Math.max(counts.segmentsMax, outcome.segments)
      counts.sample ??= outcome.body
      const estimate = plan?.estimate
      if (estimate) add(costs, estimate.currency, estimate.amount)
      if (outcome.encoding === 'UCS-2') {
        const extra = extraSegments(outcome, characters)
        counts.ucs2Extra.segments += extra
        if (estimate) add(extraCosts, estimate.currency, (estimate.amount * extra) / outcome.segments)
      }
    }
    after = page.at(-1)?.id ?? null
    if (page.length < pageMax) break
  }
  counts.cost = moneyOf(costs)
  counts.ucs2Extra.cost = moneyOf(extraCosts)
  counts.ucs2Extra.characters = [...characters]
    .sort(([, a], [, b]) => b - a)
    .slice(0, charactersMax)
    .map(([character]) => character)
  return counts
}

const add = (sums: Map<string, number>, name: string, amount: number): void =>
  void sums.set(name, (sums.get(name) ?? 0) + amount)

const moneyOf = (sums: ReadonlyMap<string, number>): Money[] =>
  [...sums].map(([currency, amount]) => ({ amount, currency })).sort((a, b) => (a.currency < b.currency ? -1 : 1))

/** The segments that a text would not need if GSM-7 had its characters; counts the messages that have each of those. */
function extraSegments({ body, segments }: Draft, characters: Map<string, number>): number {
  const foreign = new Set(findNonGsm7(body, body.length).map(({ character }) => character))
  for (const character of foreign) add(characters, character, 1)
  const plain = Array.from(body, (character) => (foreign.has(character) ? '?' : character)).join('')
  return Math.max(0, segments - countSegments(plain).segments)
}

async function readPage(
  db: Db,
  accountId: string,
  campaignId: string,
  audienceTags: string[] | null,
  after: string | null,
): Promise<{ id: string; isWanted: boolean; contact: ContactFields }[]> {
  const { rows } = await db.query<{ id: string; isWanted: boolean; contact: ContactFields }>({
    name: 'read-audience',
    text: `
      select $3::text[] is null or c.tags && $3 as "isWanted", ${contactFields('c')} as contact, ${sealedFields('c')}
      from contacts c
      where c.account_id = $1
        and c.campaign_id = $2
        and ($4::uuid is null or c.id > $4)
      order by c.id
      limit ${pageMax}`,
    values: [accountId, campaignId, audienceTags, after],
  })
  return rows
}
