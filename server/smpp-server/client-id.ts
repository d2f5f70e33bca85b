/**
 * Message ids in SMPP: the 26 characters of the API's id in capitals, and for a part `-` and its number. All characters are the same in
 * ASCII and GSM-7 (an underscore is not), and none is an `s`, at which old receipt parsers stop.
 */
import { parseId, showId } from '../ground/base/ids.ts'

export function showClientId(uuid: string, part: number | null = null): string {
  const id = showId('msg', uuid).slice('msg_'.length).toUpperCase()
  return part === null ? id : `${id}-${part}`
}

/** The message of a client's id, or of one of its parts; null for an unknown format. */
export function parseClientId(text: string): string | null {
  const [, id] = /^([0-9A-Z]{26})(?:-\d{1,3})?$/i.exec(text) ?? []
  return id === undefined ? null : parseId('msg', `msg_${id.toLowerCase()}`)
}
