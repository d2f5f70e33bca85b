/** A message as it is being written, and as the API takes it. */
import type { Operations } from '@heliogram/sdk'
import { typeOf } from '../../../kit/message-types.ts'
import { momentOf } from '../../../kit/moments.ts'
import { cleanNumber, isWholeNumber } from '../../../kit/number.ts'
import { labelsOf, numberFrom, oneOf } from '../../../kit/typed.ts'

export type Body = Operations['sendMessage']['body']

/** What stands in the fields; empty: not said, so that the API's own defaults count. */
export interface Draft {
  to: string
  message: string
  /** Name of a template, instead of the text. */
  template: string
  variables: Record<string, string>
  language: string
  /** A number or name, or `pool:` and the id of a pool. */
  sender: string
  type: string
  campaign: string
  /** By the clock of this browser, as `2026-11-23T21:00`. */
  sendAt: string
  validity: string
  encoding: string
  isSmart: boolean
  isShortened: boolean
  maxSegments: string
  maxPrice: string
  currency: string
  onUnknown: string
  callbackUrl: string
  isForgotten: boolean
  tags: string
  metadata: string
}

export const emptyDraft: Draft = {
  to: '',
  message: '',
  template: '',
  variables: {},
  language: '',
  sender: '',
  type: '',
  campaign: '',
  sendAt: '',
  validity: '',
  encoding: '',
  isSmart: false,
  isShortened: false,
  maxSegments: '',
  maxPrice: '',
  currency: '',
  onUnknown: '',
  callbackUrl: '',
  isForgotten: false,
  tags: '',
  metadata: '',
}

/** Changes some of a draft. */
export type Change = (change: Partial<Draft>) => void

const encodings = ['auto', 'gsm7', 'ucs2'] as const
const unknowns = ['hold', 'resend'] as const

/** What is said in both a preview and a send. */
export function lookOf({ type, encoding, isSmart }: Draft) {
  return {
    type: typeOf(type),
    encoding: oneOf(encodings, encoding, undefined),
    ...(isSmart && { smart_encoding: true }),
  }
}

export function bodyOf(draft: Draft): Body {
  const pool = /^pool:(.+)$/.exec(draft.sender)?.[1]
  const tags = labelsOf(draft.tags)
  const metadata = draft.metadata.split('\n').filter((line) => line.trim() !== '')
  return {
    to: cleanNumber(draft.to),
    ...(draft.template === ''
      ? { message: draft.message }
      : {
          template: draft.template,
          variables: variablesOf(draft),
          ...(draft.language && { language: draft.language }),
        }),
    ...lookOf(draft),
    ...(draft.campaign && { campaign: draft.campaign }),
    ...(pool !== undefined ? { sender_pool: pool } : draft.sender && { from: draft.sender }),
    ...(draft.isShortened && { shorten_urls: true }),
    ...(draft.sendAt && { send_at: momentOf(draft.sendAt) }),
    ...(draft.validity && { validity_period: numberFrom(draft.validity) }),
    ...(draft.maxSegments && { max_segments: numberFrom(draft.maxSegments) }),
    ...(draft.maxPrice && { max_price: { amount: draft.maxPrice.trim(), currency: draft.currency.trim() } }),
    on_unknown: oneOf(unknowns, draft.onUnknown, undefined),
    ...(draft.callbackUrl && { callback_url: draft.callbackUrl.trim() }),
    ...(draft.isForgotten && { retain_content: false }),
    ...(tags.length > 0 && { tags }),
    ...(metadata.length > 0 && { metadata: Object.fromEntries(metadata.map(splitLine)) }),
  }
}

/** The values of the template that were filled in; an empty one counts as not given. */
export const variablesOf = ({ variables }: Draft): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== ''))

function splitLine(line: string): [string, string] {
  const [name = '', ...rest] = line.split('=')
  return [name.trim(), rest.join('=').trim()]
}

/** A recipient that is whole enough to ask for prices and opt-outs; what is half typed would be refused. */
export function recipientOf({ to }: Draft): string | undefined {
  return isWholeNumber(to) ? cleanNumber(to) : undefined
}
