/** A contact as form texts, and in the API's form. */
import type { Contact, Operations } from '@heliogram/sdk'
import { localTime, momentOf } from '../../../kit/moments.ts'
import { labelsOf } from '../../../kit/typed.ts'
import { pairsOf, valuesOf, type Pair } from '../../../compose/pairs.tsx'

type Changes = Operations['updateContact']['body']
type Consent = NonNullable<NonNullable<Changes['consent']>>

export interface ContactDraft {
  phoneNumber: string
  firstName: string
  lastName: string
  externalId: string
  language: string
  country: string
  timezone: string
  tags: string
  attributes: Pair[]
  consent: '' | Consent['status']
  consentMethod: string
  consentSource: string
  consentText: string
  /** In the browser's time zone. */
  consentAt: string
}

export function contactDraftOf(contact?: Contact): ContactDraft {
  const consent = contact?.consent
  return {
    phoneNumber: contact ? `+${contact.phone_number}` : '',
    firstName: contact?.first_name ?? '',
    lastName: contact?.last_name ?? '',
    externalId: contact?.external_id ?? '',
    language: contact?.language ?? '',
    country: contact?.country ?? '',
    timezone: contact?.timezone ?? '',
    tags: contact?.tags.join(', ') ?? '',
    attributes: pairsOf(contact?.attributes ?? {}),
    consent: consent?.status ?? '',
    consentMethod: consent?.method ?? '',
    consentSource: consent?.source ?? '',
    consentText: consent?.text ?? '',
    consentAt: consent?.obtained_at ? localTime(new Date(consent.obtained_at)) : '',
  }
}

/** Null for empty fields. `before`: the contact, so that numbers keep their type and removed attributes become null. */
export function readContact(draft: ContactDraft, before?: Contact): Changes {
  return {
    phone_number: draft.phoneNumber.trim(),
    first_name: draft.firstName.trim() || null,
    last_name: draft.lastName.trim() || null,
    external_id: draft.externalId.trim() || null,
    language: draft.language.trim() || null,
    country: draft.country.trim().toUpperCase() || null,
    timezone: draft.timezone.trim() || null,
    tags: labelsOf(draft.tags),
    attributes: valuesOf(draft.attributes, before?.attributes),
    consent: readConsent(draft, before),
  }
}

/** The API merges attributes: null removes one. */
export function attributeChanges(
  before: Record<string, string | number | boolean>,
  after: Record<string, string | number | boolean | null>,
): Record<string, string | number | boolean | null> {
  const gone = Object.keys(before).filter((name) => !(name in after))
  const set = Object.entries(after).filter(([name, value]) => before[name] !== value)
  return { ...Object.fromEntries(gone.map((name) => [name, null])), ...Object.fromEntries(set) }
}

function readConsent(draft: ContactDraft, before?: Contact): Consent | null {
  if (draft.consent === '') return null
  const { ip } = before?.consent ?? {}
  return {
    status: draft.consent,
    ...(draft.consentMethod && { method: draft.consentMethod }),
    ...(draft.consentSource && { source: draft.consentSource }),
    ...(draft.consentText && { text: draft.consentText }),
    ...(draft.consentAt && { obtained_at: momentOf(draft.consentAt) }),
    ...(ip && { ip }),
  }
}
