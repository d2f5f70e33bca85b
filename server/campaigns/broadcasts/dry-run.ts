/** The dry run of a broadcast: every contact's text as it would be, counted and not sent. */
import type { Db } from '../../db/db.ts'
import type { Acceptor } from '../../messages/accept.ts'
import type { Draft } from '../../messages/accepted.ts'
import { findOptOuts } from '../../messages/opt-out.ts'
import type { Money } from '../../money.ts'
import type { Vault } from '../../secrets.ts'
import { createDrafter, type Skip } from './draft.ts'
import type { MessageBody } from './broadcast.ts'
import { contactFields, type ContactFields } from './recipients.ts'

/** What would be sent to whom. */
export interface DryRunOrder {
  accountId: string
  campaignId: string
  body: MessageBody
  audienceTags: string[] | null
}

/** A contact that would get nothing. */
export interface SkippedContact {
  contactId: string
  phoneNumber: string
  reason: string
  detail: string
}

/** The counts of a dry run. */
export interface DryRunCounts {
  recipients: number
  messages: number
  segments: number
  encodings: Record<Draft['encoding'], number>
  segmentsMax: number
  skipped: Record<string, number>
  /** An amount of each currency, in its order. */
  cost: Money[]
  sample: string | null
}

const tooDear: Skip = { reason: 'max_price_exceeded', detail: 'It would cost more than max_price.' }

// Contacts read at a time; the process does other things between two pages.
const pageMax = 2000

/** Goes through the audience; `onSkip` hears of everyone who would get nothing. Reads contacts by their primary key, page by page. */
export async function dryRun(
  { db, vault, acceptor }: { db: Db; vault: Vault; acceptor: Pick<Acceptor, 'plan'> },
  order: DryRunOrder,
  onSkip: (skip: SkippedContact) => void | Promise<void>,
): Promise<DryRunCounts> {
  const { accountId, campaignId, body, audienceTags } = order
  const drafter = createDrafter(body, campaignId, { accountId, isTest: false })
  const counts: DryRunCounts = {
    recipients: 0,
    messages: 0,
    segments: 0,
    encodings: { 'GSM-7': 0, 'UCS-2': 0 },
    segmentsMax: 0,
    skipped: {},
    cost: [],
    sample: null,
  }
  const costs = new Map<string, number>()
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
    const taken: { id: string; draft: Draft }[] = []
    const skip = async (id: string, phoneNumber: string, { reason, detail }: Skip): Promise<void> => {
      counts.skipped[reason] = (counts.skipped[reason] ?? 0) + 1
      await onSkip({ contactId: id, phoneNumber, reason, detail })
    }
    for (const { id, contact } of wanted) {
      counts.recipients++
      const draft = optedOut.has(contact.phone_number)
        ? { reason: 'recipient_opted_out', detail: 'The recipient has opted out.' }
        : drafter.draft(contact)
      if ('reason' in draft) await skip(id, contact.phone_number, draft)
      else taken.push({ id, draft })
    }
    const planned = await acceptor.plan(taken.map(({ draft }) => draft))
    for (const [i, { id, draft }] of taken.entries()) {
      const { estimate = null, isOver = false } = planned[i] ?? {}
      if (isOver) {
        await skip(id, draft.theirNumber, tooDear)
        continue
      }
      counts.messages++
      counts.segments += draft.segments
      counts.encodings[draft.encoding]++
      counts.segmentsMax = Math.max(counts.segmentsMax, draft.segments)
      counts.sample ??= draft.body
      if (estimate) costs.set(estimate.currency, (costs.get(estimate.currency) ?? 0) + estimate.amount)
    }
    after = page.at(-1)?.id ?? null
    if (page.length < pageMax) break
  }
  counts.cost = [...costs.keys()].sort().map((currency) => ({ amount: costs.get(currency) ?? 0, currency }))
  return counts
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
      select c.id, $3::text[] is null or c.tags && $3 as "isWanted", ${contactFields('c')} as contact
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
