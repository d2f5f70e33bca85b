/** From a recipient to a draft: renders the text with the contact's fields and checks it like any send. */
import type { Draft } from '../message/draft.ts'
import { readDraft, type DraftContext } from '../accept/draft.ts'
import { countryOf } from '../ground/numbers/number.ts'
import { compileVariants } from '../templates/resource.ts'
import { givenOf } from '../accept/read-send.ts'
import type { MessageBody } from './broadcast.ts'
import type { ContactFields } from './recipients.ts'

/** Why a recipient gets no message: a code, and a detail for people. */
export interface Skip {
  reason: string
  detail: string
}

export interface Drafter {
  draft(contact: ContactFields): Draft | Skip
}

/** @throws Error for a text that does not compile, because the order checked it. */
export function createDrafter(
  body: MessageBody,
  whose: Pick<Draft, 'campaignId' | 'broadcastId'>,
  context: Pick<DraftContext, 'accountId' | 'isTest'>,
): Drafter {
  const { short_url: shortUrl = null, texts, variables = {}, ...send } = body
  const variants = compileVariants(texts)
  const given = givenOf(variables)
  // As the contact shows it; looked up only if a text uses it.
  const hasCountry = variants.variables.has('country')
  // The order checked the callback address, and every call checks it again.
  const checks: DraftContext = { ...context, defaultCountry: null, refuseUrl: () => null, shortUrl }
  return {
    draft: (contact) => {
      const { attributes, is_sealed: isUndecryptable, ...fields } = contact
      if (isUndecryptable) return { reason: 'fields_unavailable', detail: 'The contact cannot be decrypted.' }
      if (hasCountry) fields.country ??= countryOf(fields.phone_number)
      const { template } = variants.pick(contact.language)
      const rendered = template.render({ ...attributes, ...fields, ...given })
      if ('missing' in rendered) return { reason: 'missing_variable', detail: tellMissing(rendered) }
      const length = Array.from(rendered.text).length
      if (length === 0 || length > textMax)
        return { reason: length === 0 ? 'too_short' : 'too_long', detail: `The text has ${length} characters.` }
      const draft = readDraft({ ...send, to: `+${contact.phone_number}`, message: rendered.text }, checks)
      if (!Array.isArray(draft)) return { ...draft, ...whose }
      const [fault] = draft
      return { reason: fault?.code ?? 'invalid_value', detail: fault?.detail ?? '' }
    },
  }
}

function tellMissing({ missing, noDates }: { missing: string[]; noDates: string[] }): string {
  const absent = missing.filter((name) => !noDates.includes(name))
  return [
    ...(absent.length > 0 ? [`The contact has no ${absent.join(', ')}.`] : []),
    ...noDates.map((name) => `Its ${name} is not a date.`),
  ].join(' ')
}

// Code points, as of a single send.
const textMax = 1600
