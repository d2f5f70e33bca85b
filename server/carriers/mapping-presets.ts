/**
 * The `err` codes of receipts that some aggregators publish for SMPP, to start a carrier's table from. They contradict each other and
 * the network's own (1 is "unknown subscriber" here and "absent subscriber" there), so none of them is a default: the operator says who
 * the carrier is. Only codes whose meaning their source states; what it calls general or unknown is left to the defaults.
 */
import { handlingOf, type MessageErrorCode } from '../messages/taxonomy.ts'
import type { Mapping } from './mapping.ts'

interface Preset {
  /** Where the aggregator publishes them. */
  source: string
  /** Codes parted by blanks, by what they mean. */
  receipt: Partial<Record<MessageErrorCode, string>>
}

export const presets = {
  twilio: {
    source: 'https://www.twilio.com/docs/smpp/error-codes',
    receipt: {
      handset_unreachable: '1',
      handset_memory_full: '2',
      landline_or_unroutable: '4 7 10',
      unknown_subscriber: '5',
      recipient_blocked: '6 8 9',
      handset_busy: '11',
      carrier_congestion: '12',
    },
  },
  vonage: {
    source: 'https://api.support.vonage.com/hc/en-us/articles/204014733',
    receipt: {
      handset_unreachable: '2',
      unknown_subscriber: '3',
      recipient_blocked: '4 13 14',
      provider_error: '5 8',
      content_filtered: '6 10',
      handset_busy: '7',
      recipient_opted_out: '9',
      no_route_available: '11',
      invalid_destination: '12',
      spend_limit_reached: '15',
    },
  },
  infobip: {
    source: 'https://www.infobip.com/docs/developer-resources/api-fundamentals/error-code-reference',
    receipt: {
      unknown_subscriber: '1',
      landline_or_unroutable: '11 629',
      handset_unreachable: '6 27',
      handset_busy: '31',
      handset_memory_full: '256',
      recipient_blocked: '13 573',
      recipient_opted_out: '604',
      content_filtered: '603 607',
      carrier_congestion: '260',
      sender_not_registered: '488 572',
      invalid_sender: '368',
      invalid_destination: '351',
      fraud_suspected: '608',
      message_too_long: '355',
      expired_in_queue: '4101',
      provider_error: '500',
      provider_timeout: '502',
    },
  },
  sinch: {
    source: 'https://developers.sinch.com/docs/sms/smpp/error-codes, and 10dlc-errors there',
    receipt: {
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
    },
  },
  '8x8': {
    source: 'https://developer.8x8.com/connect/docs/delivery-receipts-error-codes',
    receipt: {
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
    },
  },
} as const satisfies Record<string, Preset>

export type PresetName = keyof typeof presets
export const presetNames = Object.keys(presets) as PresetName[]

/** The rows of a preset, with their source as note. */
export function rowsOfPreset(name: PresetName): Mapping[] {
  const { source, receipt }: Preset = presets[name]
  return Object.entries(receipt).flatMap(([word, codes]) => {
    const error = word as MessageErrorCode
    const handling = handlingOf(error)
    return codes.split(' ').map((code): Mapping => ({ kind: 'receipt', stat: '', code, error, handling, note: source }))
  })
}
