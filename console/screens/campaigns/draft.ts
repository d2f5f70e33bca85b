/** A campaign as form texts, and in the API's form. */
import type { Campaign, Operations } from '@heliogram/sdk'
import { senderOf, senderValue } from '../../compose/sender.tsx'
import { labelsOf, numberOrNone } from '../../kit/typed.ts'
import { pairsOf, textsOf, valuesOf, type Pair } from '../../compose/pairs.tsx'

type Changes = Operations['updateCampaign']['body']

export interface CampaignDraft {
  name: string
  key: string
  description: string
  type: '' | 'transactional' | 'marketing' | 'otp'
  /** The field's value; empty: the account's. */
  sender: string
  textKind: 'none' | 'message' | 'template'
  message: string
  template: string
  variables: Pair[]
  defaultCountry: string
  timezone: string
  validityPeriod: string
  pace: string
  onUnknown: '' | 'hold' | 'resend'
  shortenUrls: boolean
  callbackUrl: string
  quiet: 'account' | 'off' | 'own'
  quietStart: string
  quietEnd: string
  /** Other members of its quiet hours. */
  quietBesides: NonNullable<Campaign['quiet_hours']>
  tags: string
  metadata: Pair[]
}

export function draftOf(campaign?: Campaign): CampaignDraft {
  const quiet = campaign?.quiet_hours ?? null
  return {
    name: campaign?.name ?? '',
    key: campaign?.key ?? '',
    description: campaign?.description ?? '',
    type: campaign?.type ?? '',
    sender: senderValue(campaign?.from, campaign?.sender_pool),
    textKind: campaign?.template ? 'template' : campaign?.message ? 'message' : 'none',
    message: campaign?.message ?? '',
    template: campaign?.template ?? '',
    variables: pairsOf(campaign?.variables ?? {}),
    defaultCountry: campaign?.default_country ?? '',
    timezone: campaign?.timezone ?? '',
    validityPeriod: campaign?.validity_period?.toString() ?? '',
    pace: campaign?.pace?.toString() ?? '',
    onUnknown: campaign?.on_unknown ?? '',
    shortenUrls: campaign?.shorten_urls ?? false,
    callbackUrl: campaign?.callback_url ?? '',
    quiet: quiet === null ? 'account' : quiet.enabled === false ? 'off' : 'own',
    quietStart: quiet?.start ?? '',
    quietEnd: quiet?.end ?? '',
    quietBesides: quiet ?? {},
    tags: campaign?.tags.join(', ') ?? '',
    metadata: pairsOf(campaign?.metadata ?? {}),
  }
}

/** Null for empty fields. `before`: the API's variables, so that numbers keep their type. */
export function readDraft(draft: CampaignDraft, before: Campaign['variables'] = {}): Changes {
  const { textKind } = draft
  const { from, sender_pool: pool } = senderOf(draft.sender)
  return {
    name: draft.name,
    description: draft.description || null,
    type: draft.type || null,
    from: from ?? null,
    sender_pool: pool ?? null,
    message: textKind === 'message' ? draft.message : null,
    template: textKind === 'template' ? draft.template : null,
    variables: valuesOf(draft.variables, before),
    default_country: draft.defaultCountry.trim().toUpperCase() || null,
    timezone: draft.timezone.trim() || null,
    validity_period: numberOrNone(draft.validityPeriod),
    pace: numberOrNone(draft.pace),
    on_unknown: draft.onUnknown || null,
    shorten_urls: draft.shortenUrls,
    callback_url: draft.callbackUrl.trim() || null,
    quiet_hours: readQuiet(draft),
    tags: labelsOf(draft.tags),
    metadata: textsOf(draft.metadata),
  }
}

function readQuiet({ quiet, quietStart, quietEnd, quietBesides }: CampaignDraft): Changes['quiet_hours'] {
  if (quiet === 'account') return null
  const { start: _start, end: _end, ...besides } = quietBesides
  if (quiet === 'off') return { ...besides, enabled: false }
  return { ...besides, enabled: true, ...(quietStart && { start: quietStart }), ...(quietEnd && { end: quietEnd }) }
}

/** Omits null. */
export function given<T extends object>(all: T): { [Name in keyof T]?: Exclude<T[Name], null> } {
  return pick(all, (_, value) => value !== null) as { [Name in keyof T]?: Exclude<T[Name], null> }
}

/** The members of `after` that differ from `before`. */
export const changesOf = <T extends object>(before: T, after: T): Partial<T> => {
  const was = new Map(Object.entries(before))
  return pick(after, (name, value) => JSON.stringify(was.get(name)) !== JSON.stringify(value))
}

const pick = <T extends object>(all: T, isWanted: (name: string, value: unknown) => boolean): Partial<T> =>
  Object.fromEntries(Object.entries(all).filter(([name, value]) => isWanted(name, value))) as Partial<T>
