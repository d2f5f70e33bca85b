/** From the body of an order to a broadcast, with all faults at once. */
import type { Needs } from '../events/events.ts'
import { nowMs } from '../ground/db/clock.ts'
import type { Queryable, Tx } from '../ground/db/db.ts'
import { ApiError, invalid, type FieldError } from '../ground/base/errors.ts'
import { newId, parseId, showId } from '../ground/base/ids.ts'
import { readSendAt } from '../accept/draft.ts'
import { readSender } from '../ground/numbers/sender.ts'
import { refuseShortening } from '../short-links/shorten.ts'
import { givenOf } from '../accept/read-send.ts'
import { findTemplates } from '../templates/store.ts'
import { Faults } from '../ground/http/faults.ts'
import { refuseClosed } from '../campaigns/campaign.ts'
import { hasPool, hasSender, lockCampaign, updateCampaign, type CampaignRow } from '../campaigns/store.ts'
import { checkText, eitherText, noTemplate, readCampaignText, textsOf, type TextAndValues } from '../campaigns/text.ts'
import { needsApproval } from './approval.ts'
import type { BroadcastInput, BroadcastRow, MessageBody } from './broadcast.ts'
import { insertBroadcast, listBroadcasts, setCampaignStatus, type NewBroadcast } from './store.ts'

export interface Order extends Pick<NewBroadcast, 'body' | 'audienceTags' | 'sendAt' | 'sendAtLocal'> {
  maxRate: number | null
}

/** If one of these was refused, no further fault of the text is reported. */
const textFields = ['message', 'template', 'variables'] as const satisfies (keyof BroadcastInput)[]

/** The campaign supplies a missing text. @throws ApiError `validation_failed` with every fault. */
export async function readOrder(
  db: Queryable,
  accountId: string,
  campaign: CampaignRow,
  given: BroadcastInput,
  context: Needs<'refuseUrl' | 'shortUrl'>,
  faults: Faults = new Faults([]),
  now: number = nowMs(),
): Promise<Order> {
  const input: BroadcastInput = faults.sound(given)
  const {
    audience,
    send_at,
    send_at_local,
    max_rate,
    dry_run: _dryRun,
    message: _text,
    template: _name,
    ...body
  } = input
  const isTextRefused = textFields.some((field) => !faults.isSound(`#/${field}`))
  const text = isTextRefused ? null : await readText(db, accountId, campaign, input, faults.found)
  await checkOrigin(db, accountId, input, faults.found)
  const sendAt = readSendAt(send_at, now, faults.found)
  if (send_at_local !== undefined) {
    const pointer = '#/send_at_local'
    if (send_at !== undefined) faults.add(pointer, 'invalid_value', 'cannot be combined with send_at')
    else if (!isDate(send_at_local))
      faults.add(pointer, 'invalid_format', 'is not a date and time, such as 2026-12-01T09:00')
    // The last time zone is 12 hours behind UTC: there, the time has not passed yet.
    else if (Date.parse(`${send_at_local}Z`) + 12 * 3_600_000 < now || Date.parse(`${send_at_local}Z`) > now + yearMs)
      faults.add(pointer, 'out_of_range', 'must be between now and 365 days ahead')
  }
  if (input.callback_url !== undefined) {
    const reason = context.refuseUrl(input.callback_url)
    if (reason) faults.add('#/callback_url', 'invalid_url', reason)
  }
  faults.found.push(...refuseShortening(input, context.shortUrl))
  const errors = faults.all
  if (errors.length > 0 || text === null) throw invalid(errors)
  return {
    body: { ...body, ...text, ...shorteningOf(input, campaign, context) } satisfies MessageBody,
    audienceTags: audience?.tags ?? null,
    sendAt,
    sendAtLocal: send_at_local ?? null,
    maxRate: max_rate ?? null,
  }
}

/** Stored with the order, so that every process uses the same address. */
function shorteningOf(
  { shorten_urls: isAsked }: BroadcastInput,
  campaign: CampaignRow,
  { shortUrl = null }: Needs<'refuseUrl' | 'shortUrl'>,
): Pick<MessageBody, 'shorten_urls' | 'short_url'> {
  return shortUrl !== null && (isAsked ?? campaign.shortensUrls) ? { shorten_urls: true, short_url: shortUrl } : {}
}

/** The text of the order, its template or its campaign, with values that override those of contacts. */
async function readText(
  db: Queryable,
  accountId: string,
  campaign: CampaignRow,
  { message, template: name, variables = {} }: BroadcastInput,
  faults: FieldError[],
): Promise<TextAndValues> {
  if (message !== undefined && name !== undefined) faults.push(eitherText)
  const [template] = name === undefined ? [] : await findTemplates(db, accountId, [name])
  if (name !== undefined && !template) faults.push(noTemplate)
  const own = message === undefined && name === undefined ? await readCampaignText(db, accountId, campaign) : null
  if (message === undefined && name === undefined && !own)
    faults.push({
      pointer: '#/message',
      code: 'required',
      detail: 'is required, unless template is set or the campaign has a text',
    })
  const { body, language, languages } = own?.texts ?? template ?? textsOf(message ?? '')
  const texts = { body, language, languages }
  checkText(texts, variables, faults)
  return { texts, variables: { ...own?.variables, ...givenOf(variables) } }
}

/** Adds faults of the order's sender or pool. Locks the pool, so that it is not deleted before the broadcast exists. */
async function checkOrigin(
  db: Queryable,
  accountId: string,
  { from, sender_pool: pool }: BroadcastInput,
  faults: FieldError[],
): Promise<void> {
  const sender = from === undefined ? null : readSender(from)
  if (sender instanceof Object) faults.push(sender)
  else if (sender !== null && !(await hasSender(db, accountId, sender)))
    faults.push({ pointer: '#/from', code: 'sender_not_found', detail: 'must be a sender of this account' })
  if (pool === undefined) return
  const pointer = '#/sender_pool'
  const poolId = parseId('pol', pool)
  if (from !== undefined) faults.push({ pointer, code: 'invalid_value', detail: 'cannot be combined with from' })
  else if (poolId === null || !(await hasPool(db, accountId, poolId)))
    faults.push({ pointer, code: 'pool_not_found', detail: 'is not a sender pool of this account' })
}

const yearMs = 365 * 86_400_000

/** Whether a time without a zone exists in the calendar: 2026-02-30 does not. */
function isDate(text: string): boolean {
  const time = Date.parse(`${text}Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** Locks the campaign last, as every step does. @throws ApiError `campaign_busy` while one is unfinished; `campaign_closed` if closed meanwhile. */
export async function orderBroadcast(
  tx: Tx,
  accountId: string,
  campaign: CampaignRow,
  order: Order,
  by: { isTest: boolean; orderedBy: string },
): Promise<BroadcastRow> {
  const { maxRate, body, ...rest } = order
  const row = await insertBroadcast(tx, accountId, {
    ...rest,
    id: newId(),
    campaignId: campaign.id,
    // Without a type it is marketing, which may wait for everything else.
    body: { ...body, type: body.type ?? campaign.type ?? 'marketing' },
    ...by,
    needsApproval: !by.isTest && (await needsApproval(tx, accountId, campaign.id, rest.audienceTags)),
    timezone: campaign.timezone ?? '',
  })
  if (!row) {
    // Only one is unfinished at a time: the newest.
    const [busy] = await listBroadcasts(tx, accountId, { campaignId: campaign.id }, 1, null)
    const id = busy ? showId('brc', busy.id) : null
    throw new ApiError('campaign_busy', {
      detail: `The broadcast ${id ?? ''} of the campaign is not completed; withdraw it while it has no message, or wait.`,
      members: { existing_id: id },
    })
  }
  refuseClosed((await lockCampaign(tx, accountId, campaign.id)) ?? campaign)
  if (maxRate !== null) await updateCampaign(tx, accountId, campaign, { pace: maxRate / 60 })
  await setCampaignStatus(tx, accountId, campaign.id, row.status)
  return row
}
