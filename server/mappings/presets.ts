/**
 * The `err` codes of receipts that some aggregators publish for SMPP, as a start for a carrier's table. They contradict each other and the network's
 * own (1 is "unknown subscriber" here and "absent subscriber" there), so none of them is a default: the operator selects one. If an aggregator's HTTP
 * API has the same numbers, the codes are in its adapter.
 */
import { handlingOf } from '../message/taxonomy.ts'
import { byCode, type Codes } from '../http-carriers/adapter.ts'
import { infobipReceipts } from '../http-carriers/infobip.ts'
import { vonageReceipts } from '../http-carriers/vonage.ts'
import type { Mapping } from './store.ts'

interface Preset {
  /** Where the aggregator publishes them. */
  source: string
  codes: Codes
}

const presets = {
  twilio: {
    source: 'https://www.twilio.com/docs/smpp/error-codes',
    codes: byCode({
      handset_unreachable: '1',
      handset_memory_full: '2',
      landline_or_unroutable: '4 7 10',
      unknown_subscriber: '5',
      recipient_blocked: '6 8 9',
      handset_busy: '11',
      carrier_congestion: '12',
    }),
  },
  // Shared with their HTTP API.
  vonage: vonageReceipts,
  // Shared with their HTTP API.
  infobip: infobipReceipts,
  sinch: {
    source: 'https://developers.sinch.com/docs/sms/smpp/error-codes, and 10dlc-errors there',
    codes: byCode({
      provider_error: '2 3 5 6 18',
      throttled: '4',
      invalid_destination: '9 10 12 300',
      recipient_blocked: '16',
      content_filtered: '15 62',
      sender_not_registered: '60',
      queue_full: '64',
      landline_or_unroutable: '21 152',
      handset_unreachable: '27 28',
      invalid_sender: '310',
    }),
  },
  '8x8': {
    source: 'https://developer.8x8.com/connect/docs/delivery-receipts-error-codes',
    codes: byCode({
      handset_unreachable: '1 46 47',
      content_filtered: '2 34 43',
      throttled: '11 50',
      recipient_blocked: '8 13 26 44',
      provider_error: '12 14 23 40 48 49 51',
      invalid_destination: '15',
      message_too_long: '17',
      invalid_sender: '19',
      handset_memory_full: '21',
      no_route_available: '33',
      carrier_congestion: '35',
      expired_at_carrier: '36',
      landline_or_unroutable: '37',
      spend_limit_reached: '42',
      handset_busy: '45',
    }),
  },
} as const satisfies Record<string, Preset>

export type PresetName = keyof typeof presets
export const presetNames = Object.keys(presets) as PresetName[]

/** The rows of a preset, with their source as note. */
export function rowsOfPreset(name: PresetName): Mapping[] {
  const { source, codes }: Preset = presets[name]
  return Object.entries(codes).map(([code, error]): Mapping => ({
    kind: 'receipt',
    stat: '',
    code,
    error,
    handling: handlingOf(error),
    note: source,
  }))
}
