/** From the body of a send to a draft: every check that needs no database, with all faults at once. */
import { nowMs } from '../ground/db/clock.ts'
import { parseId } from '../ground/base/ids.ts'
import { readAmount } from '../ground/base/money.ts'
import type { FieldError } from '../ground/base/errors.ts'
import type { Draft, StoredText } from '../message/draft.ts'
import type { Warning } from '../message/message.ts'
import { readNumber } from '../ground/numbers/number.ts'
import { countryOfSender, readSender } from '../ground/numbers/sender.ts'
import { sendAtMaxDays, type SendBody } from '../message/send-schema.ts'
import { readShortLinks, type Shortening } from '../short-links/shorten.ts'
import { readText, type Text } from './text.ts'

export interface DraftContext extends Shortening {
  accountId: string
  isTest: boolean
  defaultCountry: string | null
  senderCountry?: string | null | undefined
  /** Returns why an address may not be called, or null. */
  refuseUrl: (url: string) => string | null
}

// A clock that runs slightly ahead must not turn "now" into an error.
const pastSecondsMax = 60

/** Expects a body that matches its schema. The caller adds `idempotency`. */
export function readDraft(body: SendBody, context: DraftContext, now: number = nowMs()): Draft | FieldError[] {
  const faults: FieldError[] = []
  const to = readNumber(body.to, context.defaultCountry ?? countryOfSender(body.from) ?? context.senderCountry)
  if (!('number' in to)) faults.push({ pointer: '#/to', ...to })
  const sender = body.from === undefined ? null : readSender(body.from)
  if (sender instanceof Object) faults.push(sender)
  const poolId = readPool(body, faults)
  const { text: message, links } = readShortLinks(body, context, faults)
  const text = readText({ ...body, message }, faults)
  const sendAt = readSendAt(body.send_at, now, faults)
  if (body.callback_url !== undefined) {
    const reason = context.refuseUrl(body.callback_url)
    if (reason) faults.push({ pointer: '#/callback_url', code: 'invalid_url', detail: reason })
  }
  if (faults.length > 0 || !('number' in to) || sender instanceof Object || !text) return faults
  const { written } = text
  const campaignId = body.campaign === undefined ? null : parseId('cmp', body.campaign)
  return {
    accountId: context.accountId,
    theirNumber: to.number,
    sender,
    poolId,
    ...storedText(text, to.warnings),
    type: body.type ?? null,
    campaignId,
    campaignKey: campaignId === null ? (body.campaign ?? null) : null,
    broadcastId: null,
    sendAt,
    validitySeconds: body.validity_period ?? null,
    onUnknown: body.on_unknown ?? null,
    callbackUrl: body.callback_url ?? null,
    metadata: body.metadata ?? null,
    tags: body.tags ?? null,
    isTest: context.isTest,
    idempotency: null,
    ...(body.max_price && {
      maxPrice: { amount: readAmount(body.max_price.amount), currency: body.max_price.currency },
    }),
    ...(written && { written: storedText(written, to.warnings) }),
    ...(links.length > 0 && { shortLinks: links }),
    ...(body.retain_content === false && { isDiscarded: true }),
  }
}

function storedText({ body, encoding, characters, segments, warnings }: Text, more: readonly Warning[]): StoredText {
  const all = [...more, ...warnings]
  return { body, encoding, characters, segments, warnings: all.length > 0 ? all : null }
}

function readPool({ from, sender_pool }: SendBody, faults: FieldError[]): string | null {
  if (sender_pool === undefined) return null
  const pointer = '#/sender_pool'
  const poolId = parseId('pol', sender_pool)
  if (from !== undefined) faults.push({ pointer, code: 'invalid_value', detail: 'cannot be combined with from' })
  else if (poolId === null)
    faults.push({ pointer, code: 'pool_not_found', detail: 'is not a sender pool of this account' })
  return poolId
}

/** Null means now. */
export function readSendAt(text: string | undefined, now: number, faults: FieldError[]): Date | null {
  if (text === undefined) return null
  const at = new Date(text).getTime()
  if (at > now - pastSecondsMax * 1000 && at <= now) return null
  if (at > now && at < now + sendAtMaxDays * 86_400_000) return new Date(at)
  faults.push({
    pointer: '#/send_at',
    code: 'out_of_range',
    detail: `must be between now and ${sendAtMaxDays} days ahead`,
  })
  return null
}

export const plainDraft = {
  sender: null,
  poolId: null,
  campaignId: null,
  campaignKey: null,
  broadcastId: null,
  sendAt: null,
  validitySeconds: null,
  onUnknown: null,
  callbackUrl: null,
  metadata: null,
  tags: null,
  warnings: null,
  idempotency: null,
} satisfies Partial<Draft>
