/** A message as Twilio's API shows it (https://www.twilio.com/docs/messaging/api/message-resource). */
import { isErased, type MessageRow } from '../message/message.ts'
import { renderPrices } from '../message/price.ts'
import { messageErrors } from '../message/taxonomy.ts'
import { showSid, twilioErrors, twilioNumber, twilioStatuses, twilioVersion } from '../post/twilio-words.ts'

export const messagesPath = (accountId: string): string =>
  `/${twilioVersion}/Accounts/${showSid('AC', accountId)}/Messages`

export function renderTwilioMessage(row: MessageRow): Record<string, unknown> {
  const sid = showSid('SM', row.id)
  const isInbound = row.direction === 'inbound'
  const theirNumber = isErased(row) ? null : row.theirNumber
  const [to, from] = isInbound ? [row.ourNumber, theirNumber] : [theirNumber, row.ourNumber]
  const { price } = renderPrices(row)
  const errorCode = row.errorCode && twilioErrors[row.errorCode]
  const path = `${messagesPath(row.accountId)}/${sid}`
  return {
    account_sid: showSid('AC', row.accountId),
    api_version: twilioVersion,
    body: row.body ?? '',
    date_created: twilioDate(row.createdAt),
    date_sent: twilioDate(isInbound ? row.createdAt : row.sentAt),
    date_updated: twilioDate(row.updatedAt),
    direction: isInbound ? 'inbound' : row.isConfirmation ? 'outbound-reply' : 'outbound-api',
    error_code: errorCode || null,
    error_message: errorCode && row.errorCode ? messageErrors[row.errorCode].title : null,
    from: twilioNumber(from),
    messaging_service_sid: null,
    num_media: '0',
    num_segments: String(row.segments),
    // Twilio shows prices as debits.
    price: price && `-${price.amount}`,
    price_unit: row.costCurrency ?? 'USD',
    sid,
    status: twilioStatuses[row.status],
    subresource_uris: { media: `${path}/Media.json` },
    tags: null,
    to: twilioNumber(to),
    uri: `${path}.json`,
  }
}

/** RFC 2822, with the zone as digits. */
export const twilioDate = (time: Date | null): string | null => time && time.toUTCString().replace('GMT', '+0000')
