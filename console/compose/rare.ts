/** What is seldom said of a message, or of all messages of a broadcast: as a form has it, all of it text, and as the API takes it. */
import type { Operations } from '@heliogram/sdk'
import { labelsOf, numberFrom } from '../kit/typed.ts'
import { textsOf, type Pair } from './pairs.tsx'

type Message = Operations['sendMessage']['body']

/** Empty: not said, so that what stands above it counts: the campaign, the account, the API's own defaults. */
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

/** What decides in which alphabet a text goes; previews ask for it too. */
export const alphabetOf = ({ encoding, isSmart }: RareDraft): Pick<Message, 'encoding' | 'smart_encoding'> => ({
  ...(encoding && { encoding }),
  ...(isSmart && { smart_encoding: true }),
})

/** Only what is said. */
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
