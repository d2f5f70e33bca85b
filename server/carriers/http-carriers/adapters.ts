/** The adapters, by the name that a carrier's settings give. */
import type { MessageErrorCode, Reason } from '../../messages/taxonomy.ts'
import type { AdapterName, HttpSettings } from '../settings.ts'
import { reasonOf, type Adapter, type CodeTable } from './adapter.ts'
import { generic } from './generic.ts'
import { infobip } from './infobip.ts'
import { plivo } from './plivo.ts'
import { sinch } from './sinch.ts'
import { telnyx } from './telnyx.ts'
import { twilio } from './twilio.ts'
import { vonage } from './vonage.ts'

/** Every adapter. Its settings are checked by its schema before it sees them. */
export const adapters: Readonly<Record<AdapterName, Adapter>> = {
  twilio,
  telnyx,
  vonage,
  plivo,
  sinch,
  infobip,
  generic,
} as Record<AdapterName, Adapter>

/** What the codes of a carrier with these settings mean. */
export function tableOf(settings: HttpSettings): CodeTable {
  const { table } = adapters[settings.adapter]
  return typeof table === 'function' ? table(settings) : table
}

/** What the error code of a receipt means to the carrier's adapter: the default below an operator's own table. */
export function reasonOfReceiptCode(settings: HttpSettings, state: string, err: string | null): Reason {
  const known = err === null ? null : reasonOf(tableOf(settings), err)
  const fallback: MessageErrorCode =
    state === 'expired' ? 'expired_at_carrier' : state === 'rejected' ? 'content_filtered' : 'carrier_unknown'
  return known ?? { code: fallback, handling: state === 'undeliverable' ? 'passing' : 'permanent' }
}
