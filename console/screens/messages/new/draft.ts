import type { Operations } from '@heliogram/sdk'
import { alphabetOf, nothingRare, rareOf, type RareDraft } from '../../../compose/rare.ts'
import { momentIn } from '../../../compose/schedule.ts'
import { senderOf } from '../../../compose/sender.tsx'
import { typeOf } from '../../../kit/message-types.ts'
import { cleanNumber, isWholeNumber } from '../../../kit/number.ts'

export type Body = Operations['sendMessage']['body']

/** Empty fields are omitted, so that the API's defaults apply. */
export interface Draft extends RareDraft {
  to: string
  message: string
  /** Name of a template, instead of a text. */
  template: string
  variables: Record<string, string>
  language: string
  sender: string
  type: string
  campaign: string
  /** On the clock of the zone, as `2026-11-23T21:00`. */
  sendAt: string
  zone: string
}

export const emptyDraft: Draft = {
  ...nothingRare,
  to: '',
  message: '',
  template: '',
  variables: {},
  language: '',
  sender: '',
  type: '',
  campaign: '',
  sendAt: '',
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
}

export type Change = (change: Partial<Draft>) => void

/** What decides how the message looks, and which sender and price it has. */
function lookOf(draft: Draft) {
  return {
    ...(draft.template === ''
      ? { message: draft.message }
      : {
          template: draft.template,
          variables: variablesOf(draft),
          ...(draft.language && { language: draft.language }),
        }),
    type: typeOf(draft.type),
    ...(draft.campaign && { campaign: draft.campaign }),
    ...senderOf(draft.sender),
  }
}

export function bodyOf(draft: Draft): Body {
  return {
    to: cleanNumber(draft.to),
    ...lookOf(draft),
    ...(draft.sendAt && { send_at: momentIn(draft.zone, draft.sendAt) }),
    ...rareOf(draft),
  }
}

export function previewOf(draft: Draft): Operations['previewMessage']['body'] {
  const to = recipientOf(draft)
  return {
    ...lookOf(draft),
    ...(to !== undefined && { to }),
    ...alphabetOf(draft),
    ...(draft.shortenUrls && { shorten_urls: draft.shortenUrls === 'yes' }),
  }
}

/** Empty values count as not given. */
const variablesOf = ({ variables }: Draft): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))

/** A recipient complete enough for prices and opt-outs; a partial one would be refused. */
function recipientOf({ to }: Draft): string | undefined {
  return isWholeNumber(to) ? cleanNumber(to) : undefined
}
