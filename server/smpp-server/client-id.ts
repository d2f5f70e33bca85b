/**
 * Message ids as clients see them: the 26 characters of the API's id in capitals, and for one part of several `-` and its number. No
 * character of it differs between ASCII and GSM-7 (an underscore does), and none is an `s`, at which old parsers of receipts stop.
 */
import { parseId, showId } from '../ground/base/ids.ts'

/** The id of a message, or of one part of it. */
export function showClientId(uuid: string, part: number | null = null): string {
  const id = showId('msg', uuid).slice('msg_'.length).toUpperCase()
  return part === null ? id : `${id}-${part}`
}

/** The message behind a client's id, whichever part it names; null for what is none of ours. */
export function parseClientId(text: string): string | null {
  const [, id] = /^([0-9A-Z]{26})(?:-\d{1,3})?$/i.exec(text) ?? []
  return id === undefined ? null : parseId('msg', `msg_${id.toLowerCase()}`)
}
