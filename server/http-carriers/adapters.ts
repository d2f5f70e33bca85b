/** The adapters, by the name that a carrier's settings give. */
import type { AdapterName, HttpSettings } from '../links/settings.ts'
import type { Adapter, CodeTable } from './adapter.ts'
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
