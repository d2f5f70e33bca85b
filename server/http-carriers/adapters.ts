import type { AdapterName, HttpSettings } from '../links/carrier-settings.ts'
import type { Adapter, CodeTable } from './adapter.ts'
import { generic } from './generic.ts'
import { infobip } from './infobip.ts'
import { plivo } from './plivo.ts'
import { sinch } from './sinch.ts'
import { telnyx } from './telnyx.ts'
import { twilio } from './twilio.ts'
import { vonage } from './vonage.ts'

/** Schemas check the settings before an adapter sees them. */
export const adapters: Readonly<Record<AdapterName, Adapter>> = {
  twilio,
  telnyx,
  vonage,
  plivo,
  sinch,
  infobip,
  generic,
} as Record<AdapterName, Adapter>

/** The code table of a carrier with these settings. */
export function tableOf(settings: HttpSettings): CodeTable {
  const { table } = adapters[settings.adapter]
  return typeof table === 'function' ? table(settings) : table
}
