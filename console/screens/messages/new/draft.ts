/** A message as it is being written, and as the API takes it. */
import type { Operations } from '@heliogram/sdk'
import { alphabetOf, nothingRare, rareOf, type RareDraft } from '../../../compose/rare.ts'
import { senderOf } from '../../../compose/sender.tsx'
import { typeOf } from '../../../kit/message-types.ts'
import { momentOf } from '../../../kit/moments.ts'
import { cleanNumber, isWholeNumber } from '../../../kit/number.ts'

export type Body = Operations['sendMessage']['body']

/** What stands in the fields; empty: not said, so that the API's own defaults count. */
export interface Draft extends RareDraft {
  to: string
  message: string
  /** Name of a template, instead of the text. */
  template: string
  variables: Record<string, string>
  language: string
  /** As its field has it. */
  sender: string
  type: string
  campaign: string
  /** By the clock of this browser, as `2026-11-23T21:00`. */
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

/** Changes some of a draft. */
export type Change = (change: Partial<Draft>) => void

/** What is said in both a preview and a send. */
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

/** The values of the template that were filled in; an empty one counts as not given. */
export const variablesOf = ({ variables }: Draft): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))

/** A recipient that is whole enough to ask for prices and opt-outs; what is half typed would be refused. */
export function recipientOf({ to }: Draft): string | undefined {
  return isWholeNumber(to) ? cleanNumber(to) : undefined
}
