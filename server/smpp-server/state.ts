import type { ReceiptState } from '@heliogram/smpp'
import type { Status } from '../message/message.ts'
import { clientErrs } from '../message/taxonomy.ts'

/** message_state of a status (SMPP 3.4 §5.2.28); unconfirmed is en route, because a late receipt may still come. */
export function stateOf(status: Status): ReceiptState {
  switch (status) {
    case 'scheduled':
      return 'scheduled'
    case 'queued':
    case 'sending':
    case 'sent':
    case 'unconfirmed':
      return 'enroute'
    case 'delivered':
      return 'delivered'
    case 'expired':
      return 'expired'
    case 'canceled':
      return 'deleted'
    case 'rejected':
      return 'rejected'
    case 'undelivered':
    case 'failed':
      return 'undeliverable'
    case 'received':
      return 'accepted'
    default:
      return status satisfies never
  }
}

/** The same in SQL for final statuses, of the messages under an alias; null for all others. */
export const finalStateOf = (m: string): string => `case ${m}.status
      when 'delivered' then 'delivered' when 'expired' then 'expired' when 'canceled' then 'deleted' when 'rejected' then 'rejected'
      when 'undelivered' then case ${m}.error_code when 'expired_at_carrier' then 'expired' else 'undeliverable' end
      when 'failed' then 'undeliverable' end`

/** `err` of submissions that never became a message: the octets do not match their declared encoding, … */
export const undecryptableErr = '121'
/** … or parts were missing, or two texts shared a reference. */
export const incompleteErr = '122'

/** SQL of a receipt's `err`: the carrier's own number if it fits, else that of our reason. */
export const errOf = (t: string): string => `case
      when ${t}.receipt_err ~ '^[0-9A-Za-z]{1,3}$' and (${t}.error_code is null or ${t}.receipt_err !~ '^0+$') then lpad(${t}.receipt_err, 3, '0')
      else coalesce(case ${t}.error_code
        ${Object.entries(clientErrs)
          .map(([code, err]) => `when '${code}' then '${err}'`)
          .join(' ')} end, '000') end`

/**
 * SQL: whether registered_delivery requests the receipt of a state (SMPP 3.4 §5.2.17, SMPP 5.0 §4.7.21): 1 any end, 2 failures, 3
 * deliveries. Intermediate notifications are not supported.
 */
export const asksFor = (registered: string, state: string): string => `case ${registered} & 3
      when 1 then true when 2 then ${state} <> 'delivered' when 3 then ${state} = 'delivered' else false end`
