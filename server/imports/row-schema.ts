/** The schema of a row, passed to the import's thread: loading TypeBox there would take half of the thread's memory. */
import { Contact, ContactInput } from '../contacts/contact.ts'

export interface RowSchema {
  /** The schema of `POST /v1/campaigns/{campaign}/contacts`, so that a row is valid exactly if the request would be. */
  input: { properties: Record<string, object> }
  /** Members of a contact in responses, which a row of JSON may also have. */
  shown: string[]
}

export const rowSchema: RowSchema = { input: ContactInput, shown: Object.keys(Contact.properties) }
