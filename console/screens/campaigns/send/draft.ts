/** A broadcast as a form has it, all of it text, and as the API takes it. */
import type { Campaign, Operations } from '@heliogram/sdk'
import { momentOf } from '../../../kit/moments.ts'
import { labelsOf, numberFrom } from '../../../kit/typed.ts'
import { pairsOf, textsOf, type Pair } from '../pairs.tsx'

export type Order = Operations['sendCampaign']['body']

export interface SendDraft {
  textKind: 'campaign' | 'message' | 'template'
  message: string
  template: string
  variables: Pair[]
  /** Tags of contacts, a comma list; empty: all contacts. */
  audience: string
  sender: string
  type: '' | 'transactional' | 'marketing' | 'otp'
  when: 'now' | 'at' | 'local'
  /** As the browser's field has it: `2026-12-01T09:00`. */
  at: string
  maxRate: string
  validityPeriod: string
  encoding: '' | 'auto' | 'gsm7' | 'ucs2'
  smartEncoding: boolean
  shortenUrls: '' | 'yes' | 'no'
  onUnknown: '' | 'hold' | 'resend'
  maxSegments: string
  maxAmount: string
  maxCurrency: string
  isForgotten: boolean
  callbackUrl: string
  tags: string
  metadata: Pair[]
}

export const sendDraftOf = (campaign: Campaign): SendDraft => ({
  textKind: campaign.message || campaign.template ? 'campaign' : 'message',
  message: '',
  template: '',
  variables: pairsOf({}),
  audience: '',
  sender: '',
  type: '',
  when: 'now',
  at: '',
  maxRate: '',
  validityPeriod: '',
  encoding: '',
  smartEncoding: false,
  shortenUrls: '',
  onUnknown: '',
  maxSegments: '',
  maxAmount: '',
  maxCurrency: '',
  isForgotten: false,
  callbackUrl: '',
  tags: '',
  metadata: pairsOf({}),
})

/** Only what is said: the rest is as the campaign and the account have it. */
export function readOrder(draft: SendDraft): Order {
  const { textKind, sender, when, at, audience } = draft
  const tags = labelsOf(draft.tags)
  const variables = textsOf(draft.variables)
  const metadata = textsOf(draft.metadata)
  return {
    ...(textKind === 'message' && { message: draft.message }),
    ...(textKind === 'template' && { template: draft.template }),
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(labelsOf(audience).length > 0 && { audience: { tags: labelsOf(audience) } }),
    ...(sender.startsWith('from:') && { from: sender.slice(5) }),
    ...(sender.startsWith('pool:') && { sender_pool: sender.slice(5) }),
    ...(draft.type && { type: draft.type }),
    ...(when === 'at' && { send_at: momentOf(at) }),
    ...(when === 'local' && { send_at_local: at }),
    ...(draft.maxRate && { max_rate: numberFrom(draft.maxRate) }),
    ...(draft.validityPeriod && { validity_period: numberFrom(draft.validityPeriod) }),
    ...(draft.encoding && { encoding: draft.encoding }),
    ...(draft.smartEncoding && { smart_encoding: true }),
    ...(draft.shortenUrls && { shorten_urls: draft.shortenUrls === 'yes' }),
    ...(draft.onUnknown && { on_unknown: draft.onUnknown }),
    ...(draft.maxSegments && { max_segments: numberFrom(draft.maxSegments) }),
    ...(draft.maxAmount && { max_price: { amount: draft.maxAmount, currency: draft.maxCurrency.toUpperCase() } }),
    ...(draft.isForgotten && { retain_content: false }),
    ...(draft.callbackUrl && { callback_url: draft.callbackUrl.trim() }),
    ...(tags.length > 0 && { tags }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
}
