/** What a row is checked by. The thread of an import is given it: to load what schemas are made with would take half of its memory. */
import { Contact, ContactInput } from '../contacts/contact.ts'

/** Plain JSON, so that it can be sent to a thread. */
export interface RowSchema {
  /** The very schema of `POST /v1/campaigns/{campaign}/contacts`, so that a row is right exactly when the request would be. */
  input: { properties: Record<string, object> }
  /** The members of a contact in answers, which a row of JSON may have, too. */
  shown: string[]
}

export const rowSchema: RowSchema = { input: ContactInput, shown: Object.keys(Contact.properties) }
