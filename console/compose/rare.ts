/** Rarely used options of messages and broadcasts: as form texts, and as the API takes them. */
import type { Operations } from '@heliogram/sdk'
import { labelsOf, numberFrom } from '../kit/typed.ts'
import { textsOf, type Pair } from './pairs.tsx'

type Message = Operations['sendMessage']['body']

/** Empty fields are omitted, so that the defaults of the campaign, the account or the API apply. */
export interface RareDraft {
  validity: string
  encoding: '' | 'gsm7' | 'ucs2'
  isSmart: boolean
  shortenUrls: '' | 'yes' | 'no'
  maxSegments: string
  maxPrice: string
  currency: string
  onUnknown: '' | 'hold' | 'resend'
  callbackUrl: string
  isForgotten: boolean
  tags: string
  metadata: Pair[]
}

export const nothingRare: RareDraft = {
  validity: '',
  encoding: '',
  isSmart: false,
  shortenUrls: '',
  maxSegments: '',
  maxPrice: '',
  currency: '',
  onUnknown: '',
  callbackUrl: '',
  isForgotten: false,
  tags: '',
  metadata: [],
}

/** Options that choose the alphabet; previews need them too. */
export const alphabetOf = ({ encoding, isSmart }: RareDraft): Pick<Message, 'encoding' | 'smart_encoding'> => ({
  ...(encoding && { encoding }),
  ...(isSmart && { smart_encoding: true }),
})

/** Omits empty fields. */
export function rareOf(draft: RareDraft) {
  const tags = labelsOf(draft.tags)
  const metadata = textsOf(draft.metadata)
  return {
    ...alphabetOf(draft),
    ...(draft.validity && { validity_period: numberFrom(draft.validity) }),
    ...(draft.shortenUrls && { shorten_urls: draft.shortenUrls === 'yes' }),
    ...(draft.onUnknown && { on_unknown: draft.onUnknown }),
    ...(draft.maxSegments && { max_segments: numberFrom(draft.maxSegments) }),
    ...(draft.maxPrice && {
      max_price: { amount: draft.maxPrice.trim(), currency: draft.currency.trim().toUpperCase() },
    }),
    ...(draft.isForgotten && { retain_content: false }),
    ...(draft.callbackUrl && { callback_url: draft.callbackUrl.trim() }),
    ...(tags.length > 0 && { tags }),
    ...(Object.keys(metadata).length > 0 && { metadata }),
  } satisfies Partial<Message>
}
