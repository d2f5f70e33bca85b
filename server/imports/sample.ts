/** Rows of a dry run as they would be stored. */
import type { NewContact } from '../contacts/store.ts'

/** A row as it would be stored, without what it does not say. */
export function sampleOf(line: number, contact: NewContact): Record<string, unknown> {
  const { phoneNumber, firstName, lastName, externalId, language, country, timezone, attributes, tags, consent } =
    contact
  const fields = {
    line,
    phone_number: phoneNumber,
    first_name: firstName,
    last_name: lastName,
    external_id: externalId,
    language,
    country,
    timezone,
    attributes,
    tags,
    consent,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}
