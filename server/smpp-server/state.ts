/** What a message's status is to an SMPP client. */
import type { ReceiptState } from '@heliogram/smpp'
import type { Status } from '../message/message.ts'
import { clientErrs } from '../message/taxonomy.ts'

/** message_state of a status (SMPP 3.4 §5.2.28); what nobody knows is on its way, for a late receipt may still tell. */
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

/** The same in SQL for the statuses that end a message, of the messages under an alias; null for all others. */
export const finalStateOf = (m: string): string => `case ${m}.status
      when 'delivered' then 'delivered' when 'expired' then 'expired' when 'canceled' then 'deleted' when 'rejected' then 'rejected'
      when 'undelivered' then case ${m}.error_code when 'expired_at_carrier' then 'expired' else 'undeliverable' end
      when 'failed' then 'undeliverable' end`

/** `err` of what never became a message: its octets are not what is declared of them, … */
export const unreadableErr = '121'
/** … or its parts did not come, or those of two texts came under one reference. */
export const incompleteErr = '122'

/** In SQL, `err` of the receipt for a message that is over: the carrier's own number where it has one that fits, else that of our reason. */
export const errOf = (t: string): string => `case
      when ${t}.receipt_err ~ '^[0-9A-Za-z]{1,3}$' and (${t}.error_code is null or ${t}.receipt_err !~ '^0+$') then lpad(${t}.receipt_err, 3, '0')
      else coalesce(case ${t}.error_code
        ${Object.entries(clientErrs)
          .map(([code, err]) => `when '${code}' then '${err}'`)
          .join(' ')} end, '000') end`

/**
 * In SQL, whether registered_delivery asks for the receipt of a state (SMPP 3.4 §5.2.17, SMPP 5.0 §4.7.21): 1 any end, 2 failures, 3
 * deliveries. Intermediate notifications are not given.
 */
export const asksFor = (registered: string, state: string): string => `case ${registered} & 3
      when 1 then true when 2 then ${state} <> 'delivered' when 3 then ${state} = 'delivered' else false end`
