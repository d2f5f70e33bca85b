/** A broadcast as form texts, and in the API's form. */
import type { Campaign, Operations } from '@heliogram/sdk'
import { pairsOf, textsOf, type Pair } from '../../../compose/pairs.tsx'
import { nothingRare, rareOf, type RareDraft } from '../../../compose/rare.ts'
import { senderOf } from '../../../compose/sender.tsx'
import { momentOf } from '../../../kit/moments.ts'
import { labelsOf, numberFrom } from '../../../kit/typed.ts'

export type Order = Operations['sendCampaign']['body']

export interface SendDraft extends RareDraft {
  textKind: 'campaign' | 'message' | 'template'
  message: string
  template: string
  variables: Pair[]
  /** Tags separated by commas; empty: all contacts. */
  audience: string
  sender: string
  type: '' | 'transactional' | 'marketing' | 'otp'
  when: 'now' | 'at' | 'local'
  at: string
  maxRate: string
}

export const sendDraftOf = (campaign: Campaign): SendDraft => ({
  ...nothingRare,
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
})

/** Omits empty fields: the campaign and the account have defaults. */
export function readOrder(draft: SendDraft): Order {
  const { textKind, sender, when, at, audience } = draft
  const variables = textsOf(draft.variables)
  return {
    ...(textKind === 'message' && { message: draft.message }),
    ...(textKind === 'template' && { template: draft.template }),
    ...(Object.keys(variables).length > 0 && { variables }),
    ...(labelsOf(audience).length > 0 && { audience: { tags: labelsOf(audience) } }),
    ...senderOf(sender),
    ...(draft.type && { type: draft.type }),
    ...(when === 'at' && { send_at: momentOf(at) }),
    ...(when === 'local' && { send_at_local: at }),
    ...(draft.maxRate && { max_rate: numberFrom(draft.maxRate) }),
    ...rareOf(draft),
  }
}

/** Broadcasts are marketing if nothing says otherwise. */
export const typeOfBroadcast = ({ type }: Campaign, draft: SendDraft) => draft.type || type || ('marketing' as const)
