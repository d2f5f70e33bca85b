/** From the body of an order to a broadcast: everything that is wrong with it at once. */
import type { Queryable, Tx } from '../../db/db.ts'
import { ApiError, invalid, type FieldError } from '../../errors.ts'
import { newId, parseId, showId } from '../../ids.ts'
import { readSendAt, readSender } from '../../messages/draft.ts'
import { refuseShortening } from '../../messages/short-links/shorten.ts'
import { compileTemplate } from '../../messages/template.ts'
import { compileVariants, escapePointer, type TemplateTexts } from '../../messages/template-resource.ts'
import { hasPool, hasSender, setPace, type CampaignRow } from '../store.ts'
import { needsApproval } from './approval.ts'
import type { BroadcastInput, BroadcastRow, MessageBody } from './broadcast.ts'
import { insertBroadcast, setCampaignStatus, type NewBroadcast } from './store.ts'

/** What an order needs to know besides its body. */
export interface OrderContext {
  isTest: boolean
  /** Why a callback address may not be called, or null. */
  refuseUrl: (url: string) => string | null
  /** Address of short links; none: they are off. */
  shortUrl?: string | null
}

/** An order that nothing is wrong with as far as the database is not asked. */
export interface Order extends Pick<NewBroadcast, 'body' | 'audienceTags' | 'sendAt' | 'sendAtLocal'> {
  maxRate: number | null
  shortUrl: string | null
}

/** Reads an order. @throws ApiError `validation_failed` with every wrong field. */
export function readOrder(
  input: BroadcastInput,
  template: TemplateTexts | null,
  context: OrderContext,
  now: number = Date.now(),
): Order {
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
  const faults: FieldError[] = []
  const texts = readTexts(input, template, faults)
  const sender = input.from === undefined ? null : readSender(input.from)
  if (sender instanceof Object) faults.push(sender)
  if (input.from !== undefined && input.sender_pool !== undefined)
    faults.push({ pointer: '#/sender_pool', code: 'invalid_value', detail: 'does not go with from: use one' })
  const sendAt = readSendAt(send_at, now, faults)
  if (send_at_local !== undefined) {
    const pointer = '#/send_at_local'
    if (send_at !== undefined)
      faults.push({ pointer, code: 'invalid_value', detail: 'does not go with send_at: use one' })
    else if (!isDate(send_at_local))
      faults.push({ pointer, code: 'invalid_format', detail: 'is not a date and time, such as 2026-12-01T09:00' })
    // The last clock of the earth is 12 hours behind UTC: for somebody it has not passed.
    else if (Date.parse(`${send_at_local}Z`) + 12 * 3_600_000 < now || Date.parse(`${send_at_local}Z`) > now + yearMs)
      faults.push({ pointer, code: 'out_of_range', detail: 'must be between now and 365 days ahead' })
  }
  if (input.callback_url !== undefined) {
    const reason = context.refuseUrl(input.callback_url)
    if (reason) faults.push({ pointer: '#/callback_url', code: 'invalid_url', detail: reason })
  }
  faults.push(...refuseShortening(input, context.shortUrl))
  if (faults.length > 0) throw invalid(faults)
  return {
    // A broadcast without a type is marketing: it may wait for anything else.
    body: { ...body, texts } satisfies MessageBody,
    audienceTags: audience?.tags ?? null,
    sendAt,
    sendAtLocal: send_at_local ?? null,
    maxRate: max_rate ?? null,
    shortUrl: context.shortUrl ?? null,
  }
}

/** The body of an order with the address of its short links, where it or its campaign has some: the same whichever process makes the messages. */
export function shortenBody({ body, shortUrl }: Pick<Order, 'body' | 'shortUrl'>, campaign: CampaignRow): MessageBody {
  const isWanted = shortUrl !== null && (body.shorten_urls ?? campaign.shortensUrls)
  return isWanted ? { ...body, shorten_urls: true, short_url: shortUrl } : body
}

/** The text of an order, or of the template that it names. */
function readTexts(input: BroadcastInput, template: TemplateTexts | null, faults: FieldError[]): TemplateTexts {
  const { message, variables = {} } = input
  if (message !== undefined && input.template !== undefined)
    faults.push({ pointer: '#/template', code: 'invalid_value', detail: 'does not go with message: use one' })
  if (input.template !== undefined && !template)
    faults.push({ pointer: '#/template', code: 'template_not_found', detail: 'is not a template of this account' })
  const texts = template ?? { body: message ?? '', language: 'en', languages: {} }
  const compiled = compileTemplate(texts.body, texts.language)
  if (Array.isArray(compiled))
    for (const { position, detail } of compiled)
      faults.push({ pointer: '#/message', code: 'invalid_template', detail: `at position ${position} ${detail}` })
  else {
    const known = compileVariants(texts).variables
    for (const name of Object.keys(variables))
      if (!known.has(name))
        faults.push({
          pointer: `#/variables/${escapePointer(name)}`,
          code: 'unknown_field',
          detail: 'is not a field of the text',
        })
  }
  return texts
}

const yearMs = 365 * 86_400_000

/** Whether a time without a zone exists in the calendar: 2026-02-30 does not. */
function isDate(text: string): boolean {
  const time = Date.parse(`${text}Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** @throws ApiError `validation_failed` where what a broadcast goes out from is not the account's. */
export async function requireOwnSender(
  db: Queryable,
  accountId: string,
  { from, sender_pool: pool }: MessageBody,
): Promise<void> {
  if (from !== undefined && !(await hasSender(db, accountId, from.replace(/^\+(?=\d)/, ''))))
    throw invalid([{ pointer: '#/from', code: 'sender_not_found', detail: 'must be a sender of this account' }])
  const poolId = pool === undefined ? null : parseId('pol', pool)
  if (pool !== undefined && !(poolId && (await hasPool(db, accountId, poolId))))
    throw invalid([
      { pointer: '#/sender_pool', code: 'pool_not_found', detail: 'is not a sender pool of this account' },
    ])
}

/**
 * Orders a broadcast of a campaign; returns its row.
 * @throws ApiError `campaign_busy` while it has one that is not over, `validation_failed` for a sender or pool that is not the account's.
 */
export async function orderBroadcast(
  tx: Tx,
  accountId: string,
  campaign: CampaignRow,
  order: Order,
  by: { isTest: boolean; orderedBy: string },
): Promise<BroadcastRow> {
  const { maxRate, shortUrl: _shortUrl, ...rest } = order
  const body = shortenBody(order, campaign)
  await requireOwnSender(tx, accountId, body)
  const row = await insertBroadcast(tx, accountId, {
    ...rest,
    id: newId(),
    campaignId: campaign.id,
    body: { ...body, type: body.type ?? campaign.type ?? 'marketing' },
    ...by,
    needsApproval: !by.isTest && (await needsApproval(tx, accountId, campaign.id, rest.audienceTags)),
    timezone: campaign.timezone ?? 'UTC',
  })
  if (!row)
    throw new ApiError('campaign_busy', {
      detail: `The campaign ${showId('cmp', campaign.id)} has a broadcast that is not over; cancel it, or wait.`,
    })
  if (maxRate !== null) await setPace(tx, accountId, campaign.id, maxRate / 60)
  await setCampaignStatus(tx, accountId, campaign.id, row.status)
  return row
}
