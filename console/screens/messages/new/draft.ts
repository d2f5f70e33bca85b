import type { Operations } from '@heliogram/sdk'
import { alphabetOf, nothingRare, rareOf, type RareDraft } from '../../../compose/rare.ts'
import { senderOf } from '../../../compose/sender.tsx'
import { typeOf } from '../../../kit/message-types.ts'
import { momentOf } from '../../../kit/moments.ts'
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
  /** In the browser's time zone, as `2026-11-23T21:00`. */
  sendAt: string
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
}

export type Change = (change: Partial<Draft>) => void

/** Common to preview and send. */
export const lookOf = (draft: Draft) => ({ type: typeOf(draft.type), ...alphabetOf(draft) })

export function bodyOf(draft: Draft): Body {
  return {
    to: cleanNumber(draft.to),
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
    ...(draft.sendAt && { send_at: momentOf(draft.sendAt) }),
    ...rareOf(draft),
  }
}

/** Empty values count as not given. */
export const variablesOf = ({ variables }: Draft): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))

/** A recipient complete enough for prices and opt-outs; a partial one would be refused. */
export function recipientOf({ to }: Draft): string | undefined {
  return isWholeNumber(to) ? cleanNumber(to) : undefined
}
